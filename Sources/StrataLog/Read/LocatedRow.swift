internal import StrataRuntime

/// Where a row lies, and its block.
package struct LocatedRow {
    package var location = Location.absent
    /// With a reference, which goes to whoever takes it; nil as long as the block has not been found.
    package var block: Unmanaged<Block>?

    package init() {}
}

extension Snapshot {
    /// As ``locate(_:)`` for several objects, which wait for memory together. A row whose place cannot be read counts
    /// as absent.
    package func locate(_ refs: UnsafeBufferPointer<ObjectRef>, into rows: UnsafeMutablePointer<LocatedRow>) {
        // The indexes live as long as the snapshot: no reference to them is counted.
        defer { withExtendedLifetime(self) {} }
        var entity: UInt16?
        var index: Unmanaged<ObjectIndex>?
        func find(_ ref: ObjectRef) {
            if ref.entity == entity { return }
            entity = ref.entity
            index = layout.position(ofEntity: ref.entity).map { .passUnretained(indexes[$0]) }
        }
        var last: UInt64 = 0
        for number in refs.indices {
            // Eight locations are one line of the processor's caches.
            let line = refs[number].rawValue &>> 3
            if line == last { continue }
            last = line
            find(refs[number])
            index?.withBorrowed { $0.tree.prefetch(refs[number].key) }
        }
        for number in refs.indices {
            find(refs[number])
            let location = index?.withBorrowed { try? $0.tree.location(of: refs[number].key, $0.pages) }
            rows[number].location = location ?? .absent
        }
    }
}
