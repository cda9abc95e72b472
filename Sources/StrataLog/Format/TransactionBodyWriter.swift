/// Writes the body of a transaction record from what there is of it, part by part; see ``TransactionBody``.
///
/// All parts have to be written, in the order of the functions here.
struct TransactionBodyWriter {
    private var writer: ByteWriter
    /// Where the number of the lists or groups that are being written is kept, and what it is so far.
    private var countPosition = 0
    private var count: UInt32 = 0

    var bytes: [UInt8] { writer.bytes }

    init(author: String?, contextName: String?) {
        writer = ByteWriter(reservingCapacity: 256)
        writer.append(string: author)
        writer.append(string: contextName)
    }

    mutating func append(blocks: some Collection<TransactionBody.Piece>) {
        writer.append(UInt32(blocks.count))
        for block in blocks {
            writer.append(block.role.rawValue << 30 | UInt32(block.byteCount / Location.alignmentBytes))
        }
    }

    mutating func append(largeValueByteCounts: some Collection<Int>) {
        writer.append(UInt32(largeValueByteCounts.count))
        for byteCount in largeValueByteCounts {
            writer.append(UInt32(byteCount / Location.alignmentBytes))
        }
    }

    mutating func beginPostings() { beginCount() }

    /// - Precondition: there are at most ``TransactionBody/groupMaximumCount`` changes.
    mutating func append(_ changes: some Collection<PostingChange>, postingsID: UInt16) {
        raiseCount()
        writer.append(postingsID)
        writer.append(UInt32(changes.count))
        // As lists: what is worked out for each value anew, twice, takes longer.
        IntegerColumn.append(changes.map { $0.isRemoval ? 1 : 0 }, to: &writer)
        IntegerColumn.append(changes.map { $0.target.rawValue }, to: &writer)
        IntegerColumn.append(changes.map { $0.referrer.rawValue }, to: &writer)
    }

    mutating func beginChanges() { beginCount() }

    /// Adds a group of changes; see ``TransactionBody/ChangeRecord``.
    ///
    /// - Precondition: there are at most ``TransactionBody/groupMaximumCount`` keys.
    mutating func append(
        _ kind: ChangeKind, entity: UInt16, keys: some Collection<UInt64>, replacedSequences: some Collection<UInt64>,
        changed: SlotSet = SlotSet(), tombstoneBlocks: [Int] = []
    ) {
        raiseCount()
        Self.append(
            kind, entity: entity, keys: keys, replacedSequences: replacedSequences, changed: changed,
            tombstoneBlocks: tombstoneBlocks, to: &writer)
    }

    static func append(_ change: TransactionBody.ChangeRecord, to writer: inout ByteWriter) {
        append(
            change.kind, entity: change.entity, keys: change.keys, replacedSequences: change.replacedSequences,
            changed: change.changed, tombstoneBlocks: change.tombstoneBlocks, to: &writer)
    }

    private static func append(
        _ kind: ChangeKind, entity: UInt16, keys: some Collection<UInt64>, replacedSequences: some Collection<UInt64>,
        changed: SlotSet, tombstoneBlocks: [Int], to writer: inout ByteWriter
    ) {
        writer.append(entity)
        writer.append(kind.rawValue)
        writer.append(UInt32(keys.count))
        IntegerColumn.append(keys, to: &writer)
        if kind != .insert {
            IntegerColumn.append(replacedSequences, to: &writer)
        }
        if kind == .update {
            writer.append(UInt16(changed.count))
            changed.forEach { writer.append(UInt16($0)) }
        }
        if kind == .delete {
            writer.append(UInt32(tombstoneBlocks.count))
            for block in tombstoneBlocks { writer.append(UInt32(block)) }
        }
    }

    private mutating func beginCount() {
        countPosition = writer.count
        count = 0
        writer.append(count)
    }

    private mutating func raiseCount() {
        count += 1
        writer.store(count, at: countPosition)
    }
}
