/// Blocks of few rows that were written lately and not merged into fuller ones yet, by entity.
///
/// Only places are kept, 8 bytes a block; whether rows in them are still live is looked up when they are merged.
struct FreshRows {
    /// A block of that many rows is read about as fast, row by row, as a full one.
    private static let smallRowCount = 64
    private static let smallByteCount = 16 << 10
    /// Of longer rows only a few fill a block: merging them would save little.
    private static let rowMaximumByteCount = 2 << 10
    /// Where nobody merges them, more of an entity are not remembered.
    private static let blockMaximumCount = 1 << 16
    /// So many are merged at once: they are in memory together, 16 MiB at most.
    private static let takenMaximumCount = 1 << 10

    /// How many blocks an entity has to have before they are merged.
    let dueCount: Int
    /// So many of them stay for the next time: rows that were written just now are those that are most likely to be
    /// written again.
    private var newestCount: Int { dueCount / 4 }
    /// In the order in which they were written.
    private var blocks: [UInt16: [Location]] = [:]
    private var due: Set<UInt16> = []

    init(dueCount: Int) {
        self.dueCount = max(4, dueCount)
    }

    /// Whether an entity's blocks are worth merging.
    var isDue: Bool { !due.isEmpty }

    /// Of so many blocks with live rows fewer are left alone: their rows are written again all the time.
    var worthwhileCount: Int { dueCount / 2 }

    /// Whether reading the rows of such a block takes much longer than reading them from a full one.
    static func isSmall(rowCount: Int, byteCount: Int) -> Bool {
        rowCount < smallRowCount && byteCount <= smallByteCount
            && byteCount - BlockFormat.headerBytes <= rowCount * rowMaximumByteCount
    }

    mutating func add(_ block: Location, of entity: UInt16) {
        func append(to blocks: inout [Location]) -> Int {
            blocks.append(block)
            return blocks.count
        }
        let count = append(to: &blocks[entity, default: []])
        if count >= dueCount { due.insert(entity) }
        if count >= Self.blockMaximumCount { blocks[entity]?.removeFirst(count / 2) }
    }

    /// Takes the blocks of an entity that is due out of the list, oldest first, and leaves the newest.
    mutating func takeDue() -> (entity: UInt16, blocks: [Location])? {
        guard let entity = due.min() else { return nil }
        return (entity, take(of: entity, butNewest: newestCount))
    }

    /// Takes the blocks of an entity, whether it is due or not.
    mutating func takeAny() -> (entity: UInt16, blocks: [Location])? {
        guard let entity = blocks.keys.min() else { return nil }
        return (entity, take(of: entity, butNewest: 0))
    }

    private mutating func take(of entity: UInt16, butNewest newest: Int) -> [Location] {
        let known = blocks[entity, default: []]
        let count = max(0, min(known.count - newest, Self.takenMaximumCount))
        let rest = Array(known.dropFirst(count))
        blocks[entity] = rest.isEmpty ? nil : rest
        if rest.count < dueCount { due.remove(entity) }
        return Array(known.prefix(count))
    }

    /// Adds blocks that are older than all that are known: they were left alone, or are not full yet.
    mutating func putBack(_ older: [Location], of entity: UInt16) {
        guard !older.isEmpty else { return }
        blocks[entity] = older + blocks[entity, default: []]
    }

    /// Adds blocks that the log had when it was looked through, up to its end then.
    mutating func add(_ found: [Location], of entity: UInt16, upTo end: LogPosition) {
        blocks[entity] = found + blocks[entity, default: []].filter { LogPosition($0) >= end }
        if blocks[entity, default: []].count >= dueCount { due.insert(entity) }
    }
}
