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

    /// Whether blocks differ in what they have: one that knows its bounds has at most half the spread of all, or one
    /// has nothing but nulls. Otherwise asking each block takes longer than it spares.
    static func tellApart(_ zones: [ColumnZone?]) -> Bool {
        var (least, greatest, narrowest) = (Double.infinity, -Double.infinity, Double.infinity)
        for zone in zones {
            guard let zone else { continue }
            if zone.nullCount == zone.rowCount { return true }
            guard let (low, high) = zone.range?.bounds else { continue }
            (least, greatest) = (min(least, low), max(greatest, high))
            narrowest = min(narrowest, high - low)
        }
        return narrowest <= (greatest - least) / 2
    }
}

extension ZoneRange {
    fileprivate var bounds: (Double, Double) {
        switch self {
        case .integers(let least, let greatest): (Double(least), Double(greatest))
        case .reals(let least, let greatest): (least, greatest)
        }
    }
}
