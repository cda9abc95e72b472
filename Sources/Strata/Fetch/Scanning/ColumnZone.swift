import StrataLog

/// What a block's zone map knows of a column.
struct ColumnZone: Sendable {
    /// Nil where there is none.
    let range: ZoneRange?
    let nullCount: Int?
    let rowCount: Int

    init(_ block: Block, _ slot: Int) {
        range = block.zone(slot)
        nullCount = block.nullCount(slot)
        rowCount = block.rowCount
    }
}
