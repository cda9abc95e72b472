/// What happened to an object in a transaction. Raw values are part of the file format.
public enum ChangeKind: UInt8, Sendable {
    /// It is new.
    case insert = 0
    /// It was there before, with another row.
    case update = 1
    /// It is gone.
    case delete = 2
}

/// The body of a transaction record: who, which pieces follow, and the change table that is the persistent history.
///
/// | what | encoding |
/// |---|---|
/// | author, context name | counted strings (length all ones: none) |
/// | blocks | count, then 4 bytes each: role in the two high bits (0 inserted rows, 1 updated rows, 2 tombstones), length / 64 below |
/// | large values | count, then 4 bytes each: stored length / 64 |
/// | relationship changes of updates and deletes | count of lists, then for each: postings number (2 bytes), count, three integer columns: removal (0 or 1), target, referrer |
/// | change groups | count, then for each ``ChangeRecord`` its fields in order |
///
/// Relationships of inserted rows are not repeated here: they are read from the blocks.
struct TransactionBody {
    enum BlockRole: UInt32 {
        case inserted = 0
        case updated = 1
        case tombstone = 2
    }

    struct Piece: Hashable {
        var role: BlockRole
        var byteCount: Int

        /// What a word of the table says of a piece's length.
        static func byteCount(_ word: UInt32) -> Int { Int(word & 0x3FFF_FFFF) * Location.alignmentBytes }
    }

    struct PostingChanges {
        let postingsID: UInt16
        private let removals: IntegerList
        private let targets: IntegerList
        private let referrers: IntegerList

        var count: Int { removals.count }

        init(postingsID: UInt16, changes: [PostingChange]) {
            self.postingsID = postingsID
            removals = IntegerList(changes.map { $0.isRemoval ? 1 : 0 })
            targets = IntegerList(changes.map { $0.target.rawValue })
            referrers = IntegerList(changes.map { $0.referrer.rawValue })
        }

        init(from reader: inout ByteReader, room: inout Int) throws(MalformedBytes) {
            postingsID = try reader.read(UInt16.self)
            let count = try TransactionBody.readPostingCount(&reader, &room)
            removals = try IntegerColumn.read(count: count, from: &reader)
            targets = try IntegerColumn.read(count: count, from: &reader)
            referrers = try IntegerColumn.read(count: count, from: &reader)
        }

        /// - Complexity: O(n): as long as the record claims.
        func changes() -> [PostingChange] {
            var changes: [PostingChange] = []
            changes.reserveCapacity(count)
            for index in 0..<count {
                changes.append(
                    PostingChange(
                        target: ObjectRef(rawValue: targets[index]), referrer: ObjectRef(rawValue: referrers[index]),
                        isRemoval: removals[index] != 0))
            }
            return changes
        }
    }

    /// Changes of one kind to objects of one entity, with the same changed slots.
    struct ChangeRecord {
        var entity: UInt16
        var kind: ChangeKind
        var changed: SlotSet
        var keys: IntegerList
        /// For updates and deletes, parallel to `keys`: the sequence number of the row that was replaced.
        var replacedSequences: IntegerList
        /// For deletes: which of the record's blocks hold the preserved values, rows parallel to `keys`.
        var tombstoneBlocks: [Int]
    }

    /// Longer groups are split.
    static let groupMaximumCount = 1 << 20
    /// A transaction has at most so many changes of objects, and as many of relationships: constant columns take no
    /// bytes, so that the body's length bounds nothing.
    static let maximumCount = 1 << 23

    var author: String?
    var contextName: String?
    var blocks: [Piece] = []
    var largeValueByteCounts: [Int] = []
    var postings: [PostingChanges] = []
    var changes: [ChangeRecord] = []

    func encoded() -> [UInt8] {
        var writer = TransactionBodyWriter(author: author, contextName: contextName)
        writer.append(blocks: blocks)
        writer.append(largeValueByteCounts: largeValueByteCounts)
        writer.beginPostings()
        for list in postings { writer.append(list.changes(), postingsID: list.postingsID) }
        writer.beginChanges()
        for change in changes {
            writer.append(
                change.kind, entity: change.entity, keys: change.keys, replacedSequences: change.replacedSequences,
                changed: change.changed, tombstoneBlocks: change.tombstoneBlocks)
        }
        return writer.bytes
    }

    init() {}

    init(_ bytes: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        author = try reader.readString()
        contextName = try reader.readString()
        for _ in 0..<(try reader.readCount(minimumByteCount: 4)) {
            let word = try reader.read(UInt32.self)
            guard let role = BlockRole(rawValue: word >> 30) else { throw reader.malformed("block role") }
            blocks.append(Piece(role: role, byteCount: Piece.byteCount(word)))
        }
        for _ in 0..<(try reader.readCount(minimumByteCount: 4)) {
            largeValueByteCounts.append(Int(try reader.read(UInt32.self)) * Location.alignmentBytes)
        }
        var room = Self.maximumCount
        for _ in 0..<(try reader.readCount(minimumByteCount: 6)) {
            postings.append(try PostingChanges(from: &reader, room: &room))
        }
        var bounds = ChangeBounds(
            insertedBlockCount: blocks.count { $0.role == .inserted },
            updatedBlockCount: blocks.count { $0.role == .updated })
        for _ in 0..<(try reader.readCount(minimumByteCount: 7)) {
            changes.append(try Self.readChange(&reader, blockCount: blocks.count, &bounds))
        }
    }

    /// Passes over a list of relationship changes.
    static func skipPostings(_ reader: inout ByteReader, _ room: inout Int) throws(MalformedBytes) {
        _ = try reader.read(UInt16.self)
        let count = try readPostingCount(&reader, &room)
        for _ in 0..<3 { try IntegerColumn.skip(count: count, in: &reader) }
    }

    /// Reads one group of changes.
    ///
    /// - Parameters:
    ///   - blockCount: how many blocks the record has.
    ///   - bounds: how many changes more the transaction may have.
    static func readChange(
        _ reader: inout ByteReader, blockCount: Int, _ bounds: inout ChangeBounds
    ) throws(MalformedBytes) -> ChangeRecord {
        let entity = try reader.read(UInt16.self)
        guard let kind = ChangeKind(rawValue: try reader.read()) else { throw reader.malformed("change kind") }
        let count = try readGroupCount(&reader)
        guard bounds.take(count, kind) else {
            throw reader.malformed("\(count) \(kind)s in one group, for which the record has no room")
        }
        let keys = try readKeys(count, &reader)
        guard !keys.isRepetition else {
            throw reader.malformed("object \(keys[0]) is named \(count) times in one group")
        }
        var change = ChangeRecord(
            entity: entity, kind: kind, changed: SlotSet(), keys: keys, replacedSequences: [], tombstoneBlocks: [])
        if kind != .insert {
            change.replacedSequences = try IntegerColumn.read(count: count, from: &reader)
            guard change.replacedSequences.bounds?.lowerBound != 0 else { throw reader.malformed("replaced sequence") }
        }
        if kind == .update {
            let slotCount = try reader.read(UInt16.self)
            guard slotCount <= Schema.maximumSlots else { throw reader.malformed("slot count \(slotCount)") }
            for _ in 0..<slotCount {
                let slot = Int(try reader.read(UInt16.self))
                guard slot < Schema.maximumSlots else { throw reader.malformed("slot \(slot)") }
                change.changed.insert(slot)
            }
        }
        if kind == .delete {
            for _ in 0..<(try reader.readCount(minimumByteCount: 4)) {
                let block = Int(try reader.read(UInt32.self))
                guard block < blockCount else { throw reader.malformed("tombstone block \(block)") }
                change.tombstoneBlocks.append(block)
            }
            let preserved = change.tombstoneBlocks.count * BlockFormat.rowsMaximum
            guard preserved == 0 || count <= preserved else {
                throw reader.malformed("\(count) deletions, whose blocks have preserved values of \(preserved) at most")
            }
        }
        return change
    }

    /// - Parameter room: how many relationship changes more the transaction may have.
    private static func readPostingCount(
        _ reader: inout ByteReader, _ room: inout Int
    ) throws(MalformedBytes) -> Int {
        let count = try readGroupCount(&reader)
        guard count <= room else {
            throw reader.malformed("\(count) references in one group, where there is room for \(room)")
        }
        room -= count
        return count
    }

    private static func readGroupCount(_ reader: inout ByteReader) throws(MalformedBytes) -> Int {
        let count = Int(try reader.read(UInt32.self))
        guard count <= groupMaximumCount else { throw reader.malformed("\(count) changes in one group") }
        return count
    }

    /// Reads primary keys.
    static func readKeys(_ count: Int, _ reader: inout ByteReader) throws(MalformedBytes) -> IntegerList {
        let keys = try IntegerColumn.read(count: count, from: &reader)
        if let bounds = keys.bounds {
            guard bounds.lowerBound > 0, bounds.upperBound <= ObjectRef.maximumKey else {
                throw reader.malformed("primary key out of range")
            }
        }
        return keys
    }
}
