internal import CStrataSupport
internal import Synchronization

/// Where a row lies, and its block.
package struct BlockPlace {
    package var location = Location.absent
    /// With a reference, which goes to whoever takes it; nil as long as the block has not been found.
    package var block: Unmanaged<Block>?

    package init() {}
}

extension Snapshot {
    /// As ``locate(_:)`` for several objects, which wait for memory together. A row whose place cannot be read counts
    /// as absent.
    package func locate(_ refs: UnsafeBufferPointer<ObjectRef>, into places: UnsafeMutablePointer<BlockPlace>) {
        // The indexes live as long as the snapshot: no reference to them is counted.
        defer { withExtendedLifetime(self) {} }
        var entity: UInt16?
        var index: Unmanaged<ObjectIndex>?
        func find(_ ref: ObjectRef) {
            if ref.entity == entity { return }
            entity = ref.entity
            index = layout.position(ofEntity: ref.entity).map { .passUnretained(indexes[$0]) }
        }
        for number in refs.indices {
            find(refs[number])
            index?._withUnsafeGuaranteedRef { $0.tree.prefetch(refs[number].key) }
        }
        for number in refs.indices {
            find(refs[number])
            let location = index?._withUnsafeGuaranteedRef { try? $0.tree.location(of: refs[number].key, $0.pages) }
            places[number].location = location ?? .absent
        }
    }
}

extension BlockCache {
    /// A block that is looked for.
    private struct Wanted {
        var place: Int
        var key: UInt64
        var hash: UInt64
    }

    /// Finds the blocks of places as far as they are here: of places of one block that follow each other, the first gets
    /// it. The look-ups wait for memory together, and take each part's lock three times at most.
    package func find(_ places: UnsafeMutablePointer<BlockPlace>, _ count: Int) {
        withUnsafeTemporaryAllocation(of: Wanted.self, capacity: count * 2) { memory in
            guard let gathered = memory.baseAddress else { return }
            let sorted = gathered + count
            var total = 0
            var previous = Location.absent
            var ends = SIMD8<Int>()
            for index in 0..<count {
                let block = places[index].location.block
                if block.isAbsent || block == previous { continue }
                previous = block
                let hash = CacheTable.hash(block.rawValue)
                (gathered + total).initialize(to: Wanted(place: index, key: block.rawValue, hash: hash))
                total += 1
                ends[shardNumber(hash)] += 1
            }
            // By their parts of the cache, of which there are eight at most.
            var starts = SIMD8<Int>()
            for shard in 1..<8 { starts[shard] = starts[shard - 1] + ends[shard - 1] }
            ends = starts
            for index in 0..<total {
                let shard = shardNumber(gathered[index].hash)
                (sorted + ends[shard]).initialize(to: gathered[index])
                ends[shard] += 1
            }
            for step in 0..<3 {
                for shard in 0..<8 where ends[shard] > starts[shard] {
                    look(for: sorted, starts[shard]..<ends[shard], shard, step, places)
                }
            }
        }
    }

    /// Asks the processor for the entries of the table (step 0), for the blocks (1), or takes references to them (2).
    private func look(
        for wanted: UnsafeMutablePointer<Wanted>, _ range: Range<Int>, _ shard: Int, _ step: Int,
        _ places: UnsafeMutablePointer<BlockPlace>
    ) {
        withShard(shard) { queues in
            for index in range {
                let one = wanted[index]
                switch step {
                case 0: queues.prefetch(hash: one.hash)
                case 1:
                    guard let address = queues.address(one.key, hash: one.hash) else { continue }
                    strata_prefetch(address)
                    strata_prefetch(address + 64)
                default: places[one.place].block = queues.reference(one.key, hash: one.hash)?.retain()
                }
            }
        }
    }
}
