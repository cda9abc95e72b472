import StrataLog
import StrataSupport
import Synchronization

/// The plans of the requests that the contexts of a coordinator made lately, and the ways through an index that they
/// took. Thread-safe; looking something up takes no lock.
final class PlanCache: Sendable {
    private let plans = ReadMostlyCache<PlanKey, PreparedFetch>()
    private let pages = ReadMostlyCache<PageKey, IndexedPage>()
    /// Requests with constants in their keys may come once, and would drive others out.
    private let repetition = RepetitionFilter()

    /// The plan of a request, made if it is not there.
    ///
    /// - Throws: as ``PreparedFetch``.
    func plan<Result>(of request: NSFetchRequest<Result>, in context: NSManagedObjectContext) throws -> FetchPlan {
        let isBounded =
            request.stored.predicate?.hasBounds == true || request.stored.havingPredicate?.hasBounds == true
        let shape = RequestShape(request)
        if let shape, let prepared = known(shape.key) {
            return FetchPlan(prepared, shape.parameters, isReused: true, isBounded: isBounded)
        }
        // Without parameters the key above has all constants already.
        let literalShape = shape.map(\.parameters.isEmpty) == true ? nil : RequestShape(request, isLiteral: true)
        if let literalShape, let prepared = known(literalShape.key) {
            return FetchPlan(prepared, isReused: true, isBounded: isBounded)
        }
        let prepared = try PreparedFetch(
            request.settings, resultClass: Result.self, in: context, parameters: shape?.parameters)
        // The fetches of extremes have the constants that they were made with.
        if let shape, prepared.isShareable, shape.parameters.isEmpty || prepared.extremes.isEmpty {
            if !prepared.needsObjects, !shape.hasLiterals || repetition.isRepeated(shape.key.hashValue) {
                plans.add(prepared, for: shape.key)
            }
            return FetchPlan(prepared, shape.parameters, isBounded: isBounded)
        }
        if let literalShape, prepared.snapshots == nil, !prepared.needsObjects,
            repetition.isRepeated(literalShape.key.hashValue)
        {
            let literal = try PreparedFetch(request.settings, resultClass: Result.self, in: context, parameters: [])
            if literal.isShareable { plans.add(literal, for: literalShape.key) }
            return FetchPlan(literal, isBounded: isBounded)
        }
        let parameters = prepared.isShareable ? shape?.parameters ?? [] : []
        return FetchPlan(prepared, parameters, isBounded: isBounded)
    }

    private func known(_ key: PlanKey) -> PreparedFetch? {
        plans[key].flatMap { $0.isOutdated.load(ordering: .relaxed) ? nil : $0 }
    }

    /// The way through an index that a plan took the last time with the same constants.
    func page(of plan: FetchPlan) -> IndexedPage? {
        guard plan.isReused, plan.prepared.hasPages.load(ordering: .relaxed), let key = PageKey(plan) else {
            return nil
        }
        return pages[key]
    }

    /// An index was chosen for a plan. The way is remembered if it alone answers the request and the request comes
    /// again.
    func record(_ choice: IndexChoice, for plan: FetchPlan, in snapshot: Snapshot) {
        guard plan.isReused, let key = PageKey(plan), plan.prepared.repetition.isRepeated(key.hashValue),
            let page = IndexedPage(choice, in: snapshot)
        else { return }
        pages.add(page, for: key)
        plan.prepared.hasPages.store(true, ordering: .relaxed)
    }
}

extension NSManagedObjectContext {
    /// The plan of a request.
    ///
    /// - Throws: as ``PreparedFetch``.
    final func plan<T>(of request: NSFetchRequest<T>) throws -> FetchPlan {
        request.isExecuted(with: modelShapes)
        guard let coordinator else {
            throw FetchProblem.error("The context has no persistent store coordinator.")
        }
        return try coordinator.plans.plan(of: request, in: self)
    }
}
