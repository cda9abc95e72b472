/// What one or several neighbouring transactions added to and removed from an ordered index.
struct OrderedRun: Sendable {
    let list: OrderedList
    /// The number of the newest transaction in it.
    let generation: UInt64
}

/// Runs are of tiers: each tier's are four times as large as those of the one below. Four neighbours of one tier are
/// merged, so that there are logarithmically many and each entry is moved once for a tier.
extension OrderedRun: SortedRun {
    private static let fanout = 4
    /// Smaller runs are of the lowest tier: copying them costs less than searching one run more.
    private static let smallRunCount = 64

    var count: Int { list.entryCount }

    private var tier: Int {
        let ratio = count / Self.smallRunCount
        return ratio == 0 ? 0 : (Int.bitWidth - ratio.leadingZeroBitCount + 1) / 2
    }

    static func dueCount(_ runs: ArraySlice<OrderedRun>) -> Int {
        guard let tier = runs.last?.tier else { return 0 }
        let count = runs.reversed().prefix { $0.tier <= tier }.count
        return count < fanout ? 0 : count
    }

    static func merged(_ runs: ArraySlice<OrderedRun>) throws(StoreError) -> OrderedRun {
        guard let newest = runs.last else { preconditionFailure("nothing to merge") }
        return OrderedRun(list: try OrderedMerge.merged(runs.map(\.list)), generation: newest.generation)
    }
}
