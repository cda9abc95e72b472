/// What the objects of one entity, without its subentities, take in the log.
///
/// Blocks of which only some rows are live count by the share that is: their bytes are estimates then.
package struct EntityStatistics: Sendable {
    /// What the objects have in one slot.
    package struct Slot: Sendable {
        /// Objects that have a value.
        package var valueCount = 0
        /// Bytes of the values by themselves.
        package var byteCount = 0
        /// Bytes that they take in the log, encoded and compressed.
        package var storedByteCount = 0
        /// Of the values, those that are stored outside of their objects' blocks.
        package var largeValueCount = 0
    }

    /// The number of the entity in the store's schema.
    package let entity: UInt16
    /// Live rows.
    package internal(set) var rowCount = 0
    /// Blocks that have at least one of them.
    package internal(set) var blockCount = 0
    /// Of all slots, with keys, headers and padding of the blocks, and with large values.
    package internal(set) var storedByteCount = 0
    /// By slot.
    package internal(set) var slots: [Slot]
}

extension LogStore {
    /// What the objects of each entity take in the log, in the order of the schema.
    ///
    /// - Parameter progress: told how many blocks were read, and how many there are.
    /// - Throws: `.io` or `.corruption` when a block cannot be read.
    /// - Complexity: reads each block with live rows once, and those with large values twice. Memory is that of the
    ///   blocks' addresses.
    package func entityStatistics(
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(StoreError) -> [EntityStatistics] {
        let snapshot = snapshot
        defer { withExtendedLifetime(snapshot) {} }
        let schema = schema
        var survey = EntitySurvey(schema)
        var liveRows: [UInt16: [Location: Int]] = [:]
        for root in Set(schema.entities.map(\.rootID)) {
            var counts: [Location: Int] = [:]
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                counts[run.location.block, default: 0] += run.count
                return true
            }
            liveRows[root] = counts
        }
        let total = liveRows.values.reduce(0) { $0 + $1.count }
        var done = 0
        for (root, counts) in liveRows {
            var blocksWithLargeValues: Set<Location> = []
            // In the order of the disk.
            for (location, live) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                progress(done, total)
                done += 1
                let block = try source.load(location)
                try survey.add(block, liveRows: live)
                if block.hasExternals { blocksWithLargeValues.insert(location) }
            }
            if blocksWithLargeValues.isEmpty { continue }
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                if blocksWithLargeValues.contains(run.location.block) {
                    try survey.addLargeValues(try source.block(at: run.location), run)
                }
                return true
            }
        }
        progress(total, total)
        return survey.result
    }
}

/// Adds up what blocks hold.
private struct EntitySurvey {
    /// Estimates, not rounded yet.
    private struct Sums {
        var values = 0.0
        var bytes = 0.0
        var storedBytes = 0.0
        var largeValues = 0
    }

    private struct EntitySums {
        var rows = 0
        var blocks = 0
        var storedBytes = 0.0
        var slots: [Sums]
    }

    private let entities: [EntityLayout]
    private var sums: [UInt16: EntitySums]

    init(_ schema: Schema) {
        entities = schema.entities
        sums = Dictionary(
            entities.map { ($0.id, EntitySums(slots: Array(repeating: Sums(), count: $0.slots.count))) }
        ) { first, _ in first }
    }

    mutating func add(_ block: Block, liveRows: Int) throws(StoreError) {
        guard var sum = sums[block.entity], block.rowCount > 0 else { return }
        let share = Double(liveRows) / Double(block.rowCount)
        sum.rows += liveRows
        sum.blocks += 1
        sum.storedBytes += Double(block.header.byteCount) * share
        for slot in sum.slots.indices {
            let stored = block.plan.map { slot < $0.sources.count ? $0.sources[slot] : -1 } ?? slot
            guard stored >= 0, stored < block.header.slotCount else { continue }
            let chunk = try block.chunkByteCounts(stored, shownAs: slot)
            sum.slots[slot].values += Double(chunk.valueCount) * share
            sum.slots[slot].bytes += Double(chunk.byteCount) * share
            sum.slots[slot].storedBytes += Double(chunk.storedByteCount) * share
        }
        sums[block.entity] = sum
    }

    /// Adds the large values of a run's rows; their references in the block have been added with the block.
    mutating func addLargeValues(_ block: Block, _ run: RowRun) throws(StoreError) {
        guard let slots = entities.first(where: { $0.id == block.entity })?.slots else { return }
        let first = run.location.row
        for slot in 0..<min(slots.count, block.slotCount) where slots[slot].kind.fixedWidth == 0 {
            let column = try block.column(slot)
            guard column.externals != nil else { continue }
            for row in first..<min(first + run.count, block.rowCount) {
                guard !column.isNull(row), column.isExternal(row) else { continue }
                let value = column.external(row)
                sums[block.entity]?.slots[slot].largeValues += 1
                sums[block.entity]?.slots[slot].bytes += Double(value.byteCount) - Double(ExternalValue.encodedBytes)
                sums[block.entity]?.slots[slot].storedBytes += Double(value.storedByteCount)
                sums[block.entity]?.storedBytes += Double(value.storedByteCount)
            }
        }
    }

    var result: [EntityStatistics] {
        entities.compactMap { entity in
            sums[entity.id].map { sum in
                EntityStatistics(
                    entity: entity.id, rowCount: sum.rows, blockCount: sum.blocks,
                    storedByteCount: Int(sum.storedBytes.rounded()),
                    slots: sum.slots.map {
                        EntityStatistics.Slot(
                            valueCount: Int($0.values.rounded()), byteCount: max(0, Int($0.bytes.rounded())),
                            storedByteCount: Int($0.storedBytes.rounded()), largeValueCount: $0.largeValues)
                    })
            }
        }
    }
}

extension Block {
    /// What a stored slot's chunk holds: values, their bytes by themselves, and the bytes that they take.
    ///
    /// - Parameter slot: the slot that the rows are shown with, whose values a block without descriptors is asked for.
    fileprivate func chunkByteCounts(
        _ stored: Int, shownAs slot: Int
    ) throws(StoreError) -> (valueCount: Int, byteCount: Int, storedByteCount: Int) {
        let width = storedLayout.slots[stored].kind.fixedWidth
        guard header.flags.contains(.plain) else {
            guard let descriptor = storedDescriptor(stored) else {
                throw damaged("column descriptor of an unknown form")
            }
            let count = descriptor.flags.contains(.allNull) ? 0 : max(0, rowCount - descriptor.nullCount)
            return (count, width > 0 ? count * width : descriptor.rawLength, descriptor.storedLength)
        }
        let column = try column(slot)
        var (count, byteCount) = (0, 0)
        for row in 0..<rowCount where !column.isNull(row) {
            count += 1
            byteCount += width > 0 ? width : column.bytes(row).count
        }
        let bitmap = header.flags.contains(.nulls) ? BlockFormat.plainBitmapBytes(rowCount) : 0
        return (count, byteCount, bitmap + (width > 0 ? rowCount * width : rowCount * 4 + byteCount))
    }
}
