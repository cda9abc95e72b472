/// What the history tells of a transaction record's body. The tables of pieces and of relationship changes are passed
/// over, so that a transaction of one change takes no memory but for its change.
struct HistoryBody {
    private(set) var author: String?
    private(set) var contextName: String?
    /// The change groups, as yet without tombstones.
    private(set) var groups: [ChangeGroup] = []
    /// The places of ``groups`` that have tombstones, and where the blocks that hold them begin, counted from the first
    /// block's start.
    private(set) var tombstones: [(group: Int, blockOffsets: [Int])] = []

    /// - Throws: where the bytes contradict themselves.
    init(_ bytes: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        author = try reader.readString()
        contextName = try reader.readString()
        let blockCount = try reader.readCount(minimumByteCount: 4)
        let blocks = try reader.read(count: 4 * blockCount)
        _ = try reader.read(count: 4 * (try reader.readCount(minimumByteCount: 4)))
        var room = TransactionBody.maximumCount
        for _ in 0..<(try reader.readCount(minimumByteCount: 6)) {
            try TransactionBody.skipPostings(&reader, &room)
        }
        var bounds = Self.bounds(blocks)
        let count = try reader.readCount(minimumByteCount: 7)
        groups.reserveCapacity(count)
        var offsets: [Int] = []
        for index in 0..<count {
            let change = try TransactionBody.readChange(&reader, blockCount: blockCount, &bounds)
            groups.append(ChangeGroup(change, tombstones: []))
            if !change.tombstoneBlocks.isEmpty {
                if offsets.isEmpty { offsets = Self.offsets(blocks) }
                tombstones.append((index, change.tombstoneBlocks.map { offsets[$0] }))
            }
        }
    }

    /// What the table of pieces gives room for.
    private static func bounds(_ table: UnsafeRawBufferPointer) -> ChangeBounds {
        var counts = (inserted: 0, updated: 0)
        for position in stride(from: 0, to: table.count, by: 4) {
            let word = UInt32(littleEndian: table.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            switch TransactionBody.BlockRole(rawValue: word >> 30) {
            case .inserted: counts.inserted += 1
            case .updated: counts.updated += 1
            case .tombstone, nil: break
            }
        }
        return ChangeBounds(insertedBlockCount: counts.inserted, updatedBlockCount: counts.updated)
    }

    /// Where each block begins: behind those before it.
    private static func offsets(_ table: UnsafeRawBufferPointer) -> [Int] {
        var offset = 0
        return stride(from: 0, to: table.count, by: 4).map { position in
            defer {
                let word = UInt32(littleEndian: table.loadUnaligned(fromByteOffset: position, as: UInt32.self))
                offset += TransactionBody.Piece.byteCount(word)
            }
            return offset
        }
    }

    /// Gives a group the blocks that hold its preserved values.
    mutating func setTombstones(_ blocks: [Block], ofGroup index: Int) {
        groups[index].tombstones = blocks
    }
}
