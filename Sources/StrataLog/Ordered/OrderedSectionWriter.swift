/// Writes blocks and collects the directory.
final class OrderedSectionWriter {
    static let directoryMagic: UInt32 = 0x5844_494F
    static let directoryVersion: UInt16 = 1
    static let inexactFlag: UInt16 = 1
    /// Blocks are not copied where that would leave a shorter one before them.
    private static let shortBlockMinimum = 64

    private let writer: SectionWriter
    private let start: Int64
    private let definition: OrderedIndexDefinition
    private let isInexact: Bool
    private let digest: UInt64
    private var directory = DirectoryBytes()
    private var blockCount: UInt32 = 0
    private var pending = OrderedBlockEncoder()
    private var lastKey: [UInt8] = []

    init(_ sink: any CheckpointSink, _ definition: OrderedIndexDefinition, isInexact: Bool) {
        writer = SectionWriter(sink)
        start = writer.position
        self.definition = definition
        self.isInexact = isInexact
        digest = definition.digest
    }

    func append(contentsOf merge: consuming OrderedMerge) throws(StoreError) {
        var merge = merge
        while let (entry, net) = try merge.next() {
            if net <= 0 { continue }
            pending.append(entry)
            if pending.isFull { try close() }
        }
    }

    /// Copies a block as it is; false when that would leave a very short block before it.
    func copy(_ index: Int, of list: OrderedList) throws(StoreError) -> Bool {
        if !pending.isEmpty {
            guard pending.count >= Self.shortBlockMinimum else { return false }
            try close()
        }
        // A migration has given the index another definition, which the checksums cover.
        guard list.directory?.digest == digest else { return false }
        guard let entry = list.directory?.entries[index] else { return false }
        let bytes = try list.readBytes(index)
        try add(bytes, count: entry.count, first: list.firstKey(index), checksum: entry.checksum)
        // Only that of the last block is asked for.
        if index + 1 == list.blockCount { lastKey = list.directory?.lastKey ?? [] }
        return true
    }

    private func close() throws(StoreError) {
        if pending.isEmpty { return }
        pending.finish()
        let checksum = pending.bytes.withUnsafeBytes { bytes in
            pending.first.withUnsafeBytes { OrderedBlockCoding.checksum(bytes, digest: digest, first: $0) }
        }
        try add(pending.bytes, count: UInt16(pending.count), first: pending.first, checksum: checksum)
        lastKey = pending.last
        pending.removeAll()
    }

    private func add(_ bytes: [UInt8], count: UInt16, first: [UInt8], checksum: UInt32) throws(StoreError) {
        try bytes.withBytes { bytes throws(StoreError) in try writer.write(bytes) }
        directory.append(UInt32(bytes.count))
        directory.append(count)
        directory.append(checksum)
        directory.append(UInt32(first.count))
        directory.bytes += first
        blockCount += 1
    }

    func finish() throws(StoreError) -> CheckpointSection {
        try close()
        let encoded = definition.encoded()
        var head = DirectoryBytes()
        head.append(Self.directoryMagic)
        head.append(Self.directoryVersion)
        head.append(isInexact ? Self.inexactFlag : 0)
        head.append(UInt32(encoded.count))
        head.append(blockCount)
        head.append(start)
        head.bytes += encoded
        head.bytes += directory.bytes
        head.append(UInt32(lastKey.count))
        head.bytes += lastKey
        return try writer.finish(directory: head)
    }
}
