/// A figure that Strata promises, as a ratio inside one run or as a limit.
struct Target: Sendable {
    enum Bound: Sendable {
        case atLeast(Double)
        case atMost(Double)
    }

    var group: Group
    var text: String
    var bound: Bound
    var unit: String
    var value: @Sendable (Results) -> Double?

    func isMet(_ value: Double) -> Bool {
        switch bound {
        case .atLeast(let limit): value >= limit
        case .atMost(let limit): value <= limit
        }
    }

    var limitText: String {
        switch bound {
        case .atLeast(let limit): "at least \(limit.short)\(unit)"
        case .atMost(let limit): "at most \(limit.short)\(unit)"
        }
    }
}

extension Results {
    /// Ours over the best of the others, for rates.
    func ratio(
        _ group: Group, _ metric: String, _ ours: ContestantName, over others: [ContestantName],
        of otherMetric: String? = nil
    ) -> Double? {
        let rates = others.compactMap { value(group, $0, otherMetric ?? metric) }
        guard let our = value(group, ours, metric), let best = rates.max(), best > 0 else { return nil }
        return our / best
    }

    /// How many times quicker we are than the best of the others, for times.
    func speedup(
        _ group: Group, _ metric: String, _ ours: ContestantName, over others: [ContestantName],
        of otherMetric: String? = nil
    ) -> Double? {
        let times = others.compactMap { value(group, $0, otherMetric ?? metric) }
        guard let our = value(group, ours, metric), let best = times.min(), our > 0 else { return nil }
        return best / our
    }
}
