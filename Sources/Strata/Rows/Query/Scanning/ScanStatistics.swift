/// What a search of the stores had to do.
struct ScanStatistics: Sendable {
    /// Blocks that hold rows of the entity, each counted once a row group.
    var blocks = 0
    /// Of these, those that zone maps ruled out.
    var prunedBlocks = 0
    /// Of these, those that were in memory already.
    var cachedBlocks = 0
    /// Rows that the compiled program was asked about.
    var rowsTested = 0
    /// Rows that the interpreter was asked about.
    var rowsInterpreted = 0
    /// Rows that satisfied the predicate.
    var rowsMatched = 0

    mutating func add(_ other: ScanStatistics) {
        blocks += other.blocks
        prunedBlocks += other.prunedBlocks
        cachedBlocks += other.cachedBlocks
        rowsTested += other.rowsTested
        rowsInterpreted += other.rowsInterpreted
        rowsMatched += other.rowsMatched
    }
}
