import Foundation

extension PreparedFetch {
    /// As ``init(_:resultClass:_:parameters:snapshots:fold:)``, for a request that a context makes.
    convenience init(
        _ settings: FetchSettings, resultClass: Any.Type, in context: NSManagedObjectContext,
        parameters: [PlanParameter]? = nil, snapshots: RequestSnapshots? = nil
    ) throws {
        guard let shapes = context.modelShapes else {
            throw FetchProblem.error("The context has no persistent store coordinator.")
        }
        try self.init(settings, resultClass: resultClass, shapes, parameters: parameters, snapshots: snapshots) {
            settings, shape in
            let aggregates = ColumnAggregates(settings, shape, in: context)
            var folding = ConstantFolding(aggregates.value(of:))
            // Requests in the predicate are made here; one that fails must not be one that finds nothing.
            let work = EvaluationWork()
            let folded = try context.throwingReadFailures {
                work.run { settings.predicate.map { folding.apply(to: $0.canonical) } }
            }
            try work.check(nil)
            return FoldedPredicate(folded, folding, aggregates.snapshots)
        }
    }
}

extension FetchPlan {
    /// The stores that the request names.
    var namedStores: [NSPersistentStore]? { stores?.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
}
