import StrataIO

/// The plans of the plain requests that the contexts of a coordinator made lately: checking a predicate and choosing an
/// index takes longer than reading a page of an index. Thread-safe.
final class PlanCache: Sendable {
    /// With more plans than this all are forgotten.
    private static let countMaximum = 256

    private let plans = AdaptiveMutex<[RequestKey: KeptPlan]>([:])

    subscript(_ key: RequestKey) -> KeptPlan? {
        plans.withLock { $0[key] }
    }

    func add(_ plan: KeptPlan, _ key: RequestKey) {
        // They are freed when nobody waits any more.
        var forgotten: [RequestKey: KeptPlan] = [:]
        plans.withLock { plans in
            if plans.count >= Self.countMaximum { swap(&plans, &forgotten) }
            plans[key] = plan
        }
    }
}
