import StrataLog
import StrataSupport
import Synchronization

/// The plans of the requests that the contexts of a coordinator made lately, and the ways through an index that they
/// took. Thread-safe; looking something up takes no lock.
final class PlanCache: Sendable {
    private let plans = ReadMostlyCache<PlanKey, PreparedFetch>()
    private let pages = ReadMostlyCache<PageKey, IndexedPage>()

    /// The plan of a request, made if it is not there or the request is not plain.
    ///
    /// - Throws: as ``PreparedFetch``.
    func plan<Result>(of request: NSFetchRequest<Result>, in context: NSManagedObjectContext) throws -> FetchPlan {
        let isBounded =
            request.stored.predicate?.hasBounds == true || request.stored.havingPredicate?.hasBounds == true
        guard let shape = RequestShape(request) else {
            return FetchPlan(
                try PreparedFetch(request.settings, resultClass: Result.self, in: context), isBounded: isBounded)
        }
        let key = shape.key
        if let prepared = plans[key], !prepared.isOutdated.load(ordering: .relaxed) {
            return FetchPlan(prepared, shape.parameters, isReused: true, isBounded: isBounded)
        }
        let prepared = try PreparedFetch(
            request.settings, resultClass: Result.self, in: context, parameters: shape.parameters)
        guard prepared.isShareable, !prepared.needsObjects else {
            return FetchPlan(prepared, isBounded: isBounded)
        }
        plans.add(prepared, for: key)
        return FetchPlan(prepared, shape.parameters, isBounded: isBounded)
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
