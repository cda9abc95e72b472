import StrataLog

/// What a compiled program is asked about: the rows of a block, or of a row group whose columns lie in column chunks.
package enum ScanPart {
    case block(Block)
    case rowGroup(ScannedColumns)
    /// Columns that were computed of another part's rows, in the place of slots.
    case computed([ComputedColumn])

    package var rowCount: Int {
        switch self {
        case .block(let block): block.rowCount
        case .rowGroup(let columns): columns.rowGroup.rowCount
        case .computed(let columns): columns.first?.view.rowCount ?? 0
        }
    }

    /// The values of a slot; of column chunks only of those that the scan has asked for.
    package func column(_ slot: Int) throws(StoreError) -> ColumnView {
        switch self {
        case .block(let block): try block.column(slot)
        case .rowGroup(let columns): columns.column(slot).view
        case .computed(let columns): columns[slot].view
        }
    }

    /// Whether all text of a slot is known to be ASCII.
    package func isKnownASCII(_ slot: Int) -> Bool {
        switch self {
        case .block: false
        case .rowGroup(let columns): columns.column(slot).isASCII
        case .computed(let columns): columns[slot].chunk?.isASCII ?? false
        }
    }

    package func key(_ row: Int) -> UInt64 {
        switch self {
        case .block(let block): block.key(row)
        case .rowGroup(let columns): columns.rowGroup.key(row)
        case .computed: preconditionFailure("computed columns have no keys")
        }
    }

    /// What zone maps say about all rows of a block; column chunks are asked before
    /// (``ScannedColumns/prune(_:_:of:)``).
    func verdict(_ test: ColumnPredicate) -> ColumnPredicate.Verdict {
        switch self {
        case .block(let block): test.hasZones ? test.verdict(ColumnZone(block, test.slot)) : .some
        case .rowGroup, .computed: .some
        }
    }
}
