import StrataLog

/// Reads the rows that one part of a batch request works on.
///
/// Of many, which come in the order of their keys, blocks that are not cached are read in passing: they take no room in
/// the cache, and the memory of one is that of the next.
struct BatchReader {
    /// Fewer rows are read through the cache.
    private static let passingMinimumCount = 4_096
    /// Rows that follow each other lie in few blocks, but updated ones lie in others than their neighbours.
    private static let blocksMaximum = 64

    let snapshot: Snapshot
    private var rows: RowReader
    private let passing: PassingBlocks?
    private var known: [UInt64: Block] = [:]
    private var last: Block?

    init(_ handle: StoreHandle, _ snapshot: Snapshot, _ refs: ArraySlice<ObjectRef>) {
        self.snapshot = snapshot
        rows = RowReader(snapshot)
        let passes =
            refs.count >= Self.passingMinimumCount && zip(refs, refs.dropFirst()).allSatisfy { $0.key < $1.key }
        passing = passes ? handle.log.passingBlocks() : nil
    }

    /// The object's row, or nil when there is no such object.
    mutating func row(_ ref: ObjectRef) throws(StoreError) -> Row? {
        guard let passing else { return try rows.row(ref) }
        let location = try snapshot.locate(ref)
        if location.isAbsent { return nil }
        let block = try block(at: location, passing)
        guard location.row < block.rowCount, block.key(location.row) == ref.key else {
            throw StoreError(
                .corruption, "the row of object \(ref.key) is another one's", segment: location.segment,
                offset: location.byteOffset)
        }
        return Row(block: block, index: location.row)
    }

    private mutating func block(at location: Location, _ passing: PassingBlocks) throws(StoreError) -> Block {
        let location = location.block
        if let last, last.location == location { return last }
        if let block = known[location.rawValue] {
            last = block
            return block
        }
        var wasCached = false
        let block = try passing.block(at: location, wasCached: &wasCached)
        if known.count >= Self.blocksMaximum { known.removeAll(keepingCapacity: true) }
        known[location.rawValue] = block
        last = block
        return block
    }
}
