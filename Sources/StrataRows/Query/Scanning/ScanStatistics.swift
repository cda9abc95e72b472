/// What a search of the stores had to do.
package struct ScanStatistics: Sendable {
    /// Blocks that hold rows of the entity, each counted once a row group.
    package var blocks = 0
    /// Of these, those that zone maps ruled out.
    var prunedBlocks = 0
    /// Of these, those that were in memory already.
    var cachedBlocks = 0
    /// Rows that the compiled program was asked about.
    package var rowsTested = 0
    /// Rows that the interpreter was asked about.
    package var rowsInterpreted = 0
    /// Rows that satisfied the predicate.
    package var rowsMatched = 0

    package init() {}

    package mutating func add(_ other: ScanStatistics) {
        blocks += other.blocks
        prunedBlocks += other.prunedBlocks
        cachedBlocks += other.cachedBlocks
        rowsTested += other.rowsTested
        rowsInterpreted += other.rowsInterpreted
        rowsMatched += other.rowsMatched
    }
}
