import StrataLog

/// Brings the rows of the next objects of a batch into the processor's caches, step by step, while the objects before
/// them are read.
struct RowPipeline {
    // How many objects before its own fault fires a row's steps are taken: far enough apart that what one step asked
    // for has come when the next one follows it.
    private static let viewsAhead = 8
    private static let valuesAhead = 5
    private static let bytesAhead = 2

    /// The first objects whose steps have not been taken.
    private var views = 0
    private var values = 0
    private var bytes = 0

    /// The object at `index` is about to be read.
    ///
    /// - Parameters:
    ///   - limit: the first object whose row is not known.
    ///   - slots: the slots that are going to be read.
    ///   - row: where an object's row lies, nil for one that has none.
    @inline(__always)
    mutating func advance(
        to index: Int, limit: Int, _ slots: UInt64, _ row: (Int) -> (block: Unmanaged<Block>, row: Int)?
    ) {
        if slots == 0 { return }
        // Objects may be read in another order than that of the batch.
        if views > index + Self.viewsAhead + 1 { (views, values, bytes) = (0, 0, 0) }
        views = max(views, index + 1)
        values = max(values, index + 1)
        bytes = max(bytes, index + 1)
        let viewsEnd = min(limit, index + Self.viewsAhead + 1)
        while views < viewsEnd {
            if let (block, _) = row(views) { block._withUnsafeGuaranteedRef { $0.prefetchViews(slots) } }
            views += 1
        }
        let valuesEnd = min(views, index + Self.valuesAhead + 1)
        while values < valuesEnd {
            if let (block, row) = row(values) { block._withUnsafeGuaranteedRef { $0.prefetchValues(row, slots) } }
            values += 1
        }
        let bytesEnd = min(values, index + Self.bytesAhead + 1)
        while bytes < bytesEnd {
            if let (block, row) = row(bytes) { block._withUnsafeGuaranteedRef { $0.prefetchBytes(row, slots) } }
            bytes += 1
        }
    }
}
