import StrataLog
import StrataRuntime

/// Brings the rows of the next objects of a batch into the processor's caches, some at a time: each step of the way to
/// their values is taken for all of them before the next step follows, so that they wait for memory together.
struct RowPipeline {
    /// How many rows are asked for together.
    private static let count = 24
    /// With fewer rows than this left, the next are asked for.
    private static let lead = 2

    /// The first object whose row has not been asked for.
    private var end = 0
    /// Whether the objects are read in another order than that of the batch.
    private var isUnordered = false

    /// The object at `index` is about to be read. Returns which rows have been asked for now.
    ///
    /// - Parameters:
    ///   - limit: the first object whose row is not known.
    ///   - first: the first object whose row is known, of a batch that is read in whatever order: if it is not its own,
    ///     all rows are asked for in turn, each once. Nil if what is read in another order is no batch.
    ///   - slots: the slots that are going to be read.
    ///   - row: where an object's row lies, nil for one that has none.
    @inline(__always) @discardableResult
    mutating func advance(
        to index: Int, limit: Int, from first: Int? = nil, _ slots: UInt64,
        _ row: (Int) -> (block: Unmanaged<Block>, row: Int)?
    ) -> Range<Int> {
        if slots == 0 { return 0..<0 }
        var start = max(end, index)
        if isUnordered {
            start = end
        } else if end > index + Self.lead {
            if end <= index + Self.lead + Self.count { return 0..<0 }
            isUnordered = first != nil
            start = first ?? index
        }
        let limit = min(limit, start + Self.count)
        if start >= limit { return 0..<0 }
        end = limit
        for number in start..<limit {
            if let (block, _) = row(number) { block.withBorrowed { $0.prefetchViews(slots) } }
        }
        for number in start..<limit {
            if let (block, row) = row(number) { block.withBorrowed { $0.prefetchValues(row, slots) } }
        }
        for number in start..<limit {
            if let (block, row) = row(number) { block.withBorrowed { $0.prefetchBytes(row, slots) } }
        }
        return start..<limit
    }
}
