/// What one or several neighbouring transactions added to and removed from an index.
struct OrderedRun: Sendable {
    let list: OrderedList
    /// The number of the newest transaction in it.
    let generation: UInt64
}

/// The runs of an index, oldest first.
///
/// Runs are of tiers: each tier's are four times as large as those of the one below. Four neighbours of one tier are
/// merged, so that there are logarithmically many and each entry is moved once for a tier.
struct OrderedRuns: Sendable {
    private static let fanout = 4
    /// Smaller runs are of the lowest tier: copying them costs less than searching one run more.
    private static let smallRunCount = 64

    private(set) var list: [OrderedRun] = []

    private static func tier(_ run: OrderedRun) -> Int {
        let ratio = run.list.entryCount / smallRunCount
        return ratio == 0 ? 0 : (Int.bitWidth - ratio.leadingZeroBitCount + 1) / 2
    }

    /// - Parameter border: runs up to this generation are not merged with later ones.
    mutating func append(_ run: OrderedRun, border: UInt64) throws(StoreError) {
        if !run.list.isEmpty { list.append(run) }
        while let last = list.last {
            let tier = Self.tier(last)
            let isOld = last.generation <= border
            var start = list.count
            while start > 0, Self.tier(list[start - 1]) <= tier, (list[start - 1].generation <= border) == isOld {
                start -= 1
            }
            guard list.count - start >= Self.fanout else { return }
            let merged = OrderedRun(
                list: try OrderedMerge.merged(list[start...].map(\.list)), generation: last.generation)
            list.removeSubrange(start...)
            if merged.list.isEmpty { return }
            list.append(merged)
        }
    }

    func after(_ generation: UInt64) -> OrderedRuns {
        var result = OrderedRuns()
        result.list = list.filter { $0.generation > generation }
        return result
    }
}
