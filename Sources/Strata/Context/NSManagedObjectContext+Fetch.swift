import Foundation
import StrataSupport

extension NSManagedObjectContext {
    /// The objects that a request describes.
    ///
    /// Runs on the newest state of the stores, with the context's unsaved changes laid over it.
    ///
    /// ```swift
    /// let request = NSFetchRequest<Book>(entityName: "Book")
    /// request.predicate = NSPredicate(format: "pages > %d AND author.name == %@", 300, "Le Guin")
    /// let books = try context.fetch(request)
    /// ```
    ///
    /// - Throws: `CocoaError` 134070 for a request that makes no sense (an unknown entity or key, options that exclude
    ///   each other, a negative limit, a malformed pattern, a constant of the wrong type), where Core Data raises an
    ///   exception; the store's error when it cannot be read; `CancellationError` when the task that waits for it has
    ///   been cancelled, 134090 when its ``NSPersistentStoreRequest/timeLimit`` is up.
    /// - Complexity: O(n) in the objects of the entity, unless the predicate names objects or the target of a to-one
    ///   relationship that has an inverse; O(m log m) in the matches with sort descriptors.
    ///
    /// A subclass that overrides the form without a type is asked in its words.
    public final func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
        try fetched(request)
    }

    /// As `fetch(_:)`, for callers that do not know that the results can be fetched.
    final func fetched<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        if isSubclassed, request.entityName != nil,
            let results = try fetch(NSFetchRequest<any NSFetchRequestResult>(converting: request)) as? [T]
        {
            return results
        }
        checkQueue("fetch(_:)")
        return try routedResults(of: request)
    }

    /// The results by way of the coordinator's `execute(_:with:)`, if that may be overridden.
    final func routedResults<T>(of request: NSFetchRequest<T>) throws -> [T] {
        guard let coordinator = overridableCoordinator else { return try results(of: request) }
        return try FetchResults.typed(try coordinator.execute(request, with: self) as? [Any] ?? [])
    }

    /// The coordinator of a context without parent, if it is of a subclass: that may override `execute(_:with:)`.
    final var overridableCoordinator: NSPersistentStoreCoordinator? {
        guard link == nil, let coordinator, type(of: coordinator) != NSPersistentStoreCoordinator.self else {
            return nil
        }
        return coordinator
    }

    /// How many objects a request describes; its limit and offset count.
    ///
    /// - Throws: as `fetch(_:)`.
    /// - Complexity: O(1) without predicate; otherwise as for fetching.
    public final func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
        if isSubclassed, request.entityName != nil {
            return try count(for: NSFetchRequest<any NSFetchRequestResult>(converting: request))
        }
        return try routedCount(of: request)
    }

    /// Whether the methods of the context may be overridden.
    private final var isSubclassed: Bool { type(of: self) != NSManagedObjectContext.self }

    /// The count by way of the coordinator's `execute(_:with:)`, if that may be overridden: it is asked for a number.
    final func routedCount<T>(of request: NSFetchRequest<T>) throws -> Int {
        checkQueue("count(for:)")
        guard let coordinator = overridableCoordinator else { return try count(of: request) }
        let counting = NSFetchRequest<any NSFetchRequestResult>(converting: request)
        counting.resultType.formIntersection(.dictionaryResultType)
        counting.resultType.insert(.countResultType)
        let results = try coordinator.execute(counting, with: self)
        guard let count = (results as? [Any])?.first as? Int else {
            throw FetchProblem.error("The coordinator's execute(_:with:) gives \(type(of: results)) for a count.")
        }
        return count
    }

    private final func count<T>(of request: NSFetchRequest<T>) throws -> Int {
        guard EventHub.wants(.fetch) else { return try count(of: request, nil) }
        let observation = FetchObservation(self, request, isCount: true)
        return try observation.run {
            try count(of: request, observation)
        } count: {
            $0
        } outcome: { _ in
            .none
        }
    }

    private final func count<T>(of request: NSFetchRequest<T>, _ observation: FetchObservation?) throws -> Int {
        try limited(request.timeLimit) { control in
            if let custom = CustomFetch(self, request) {
                processChangesBeforeReading()
                let work = EvaluationWork(control, isBounded: request.stored.predicate?.hasBounds == true)
                let count = try undisturbed { try work.run { try throwingReadFailures { try custom.count() } } }
                try work.check(control)
                try control?.check()
                return count
            }
            let plan = try plan(of: request)
            observation?.plan = plan
            if plan.includesPendingChanges { processChangesBeforeReading() }
            return try undisturbed {
                try FetchExecutor(self, plan, turn: turn(control, plan), report: observation?.report).count()
            }
        }
    }

    /// Executes a request by way of the coordinator's `execute(_:with:)`, if that may be overridden. Fetches see to
    /// that themselves.
    final func routedResult(of request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        guard !(request is any ContextExecutable), let coordinator = overridableCoordinator else {
            return try executeRequest(request)
        }
        let result = try coordinator.execute(request, with: self)
        guard let result = result as? NSPersistentStoreResult else {
            throw FetchProblem.error("The coordinator's execute(_:with:) gives \(type(of: result)) for a request.")
        }
        return result
    }

    /// Executes a request: a fetch, at once or asynchronous, a batch insert, update or delete, or one of persistent
    /// history.
    ///
    /// - Throws: `CocoaError` 134091 for requests that are not supported, the store's error when it cannot be read.
    final func executeRequest(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if let request = request as? any ContextExecutable { return try request.execute(in: self) }
        let limit = RequestControl.shortest(request.timeLimit, (request as? any DescribedRequest)?.descriptionTimeLimit)
        let result = try limited(limit) { control -> NSPersistentStoreResult? in
            if let result = try executeInCustomStore(request) { return result }
            return try executeInStores(request, control)
        }
        if let result { return result }
        throw DescribedError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [NSLocalizedDescriptionKey: "Requests of class \(type(of: request)) cannot be executed."])
    }

    final func results<T>(of request: NSFetchRequest<T>) throws -> [T] {
        guard EventHub.wants(.fetch) else { return try results(of: request, nil) }
        let observation = FetchObservation(self, request)
        return try observation.run {
            try results(of: request, observation)
        } count: {
            $0.count
        } outcome: {
            FetchOutcome($0)
        }
    }

    private final func results<T>(of request: NSFetchRequest<T>, _ observation: FetchObservation?) throws -> [T] {
        try limited(request.timeLimit) { control in
            if let custom = CustomFetch(self, request) {
                processChangesBeforeReading()
                let work = EvaluationWork(control, isBounded: request.stored.predicate?.hasBounds == true)
                let results = try undisturbed { try work.run { try throwingReadFailures { try custom.results() } } }
                try work.check(control)
                try control?.check()
                if let objects = results as? [NSManagedObject] { holdUntilTheEventEnds(objects) }
                return try FetchResults.typed(results)
            }
            let plan = try plan(of: request)
            observation?.plan = plan
            // Whoever hears of the changes may make others, pin the context or remove a store.
            if plan.includesPendingChanges { processChangesBeforeReading() }
            let results = try undisturbed {
                try shortResults(plan, control, observation?.report)
                    ?? FetchExecutor(self, plan, turn: turn(control, plan), report: observation?.report).results()
            }
            if case .objects(let objects) = results { holdUntilTheEventEnds(objects) }
            return try results.typed(plan)
        }
    }

    /// The results by a way that looks at few rows; nil where there is none.
    private final func shortResults(
        _ plan: FetchPlan, _ control: RequestControl?, _ report: ScanReport?
    ) throws -> FetchResults? {
        guard let control else { return try directResults(plan, nil, report) ?? indexedResults(plan, nil, report) }
        // A test of one row may take long all the same.
        let work = EvaluationWork(control)
        let found = try work.run {
            try directResults(plan, control, report) ?? indexedResults(plan, control, report)
        }
        try work.check(control)
        return found
    }

    /// Keeps results registered, held by the program or not, until the block given to `perform` or `performAndWait`
    /// ends; on the main queue, until its current turn ends.
    final func holdUntilTheEventEnds(_ objects: [NSManagedObject]) {
        if !ContextQueue.isInside(self) {
            // Outside of a block only the main queue has an end to wait for.
            guard queueType == .mainQueueConcurrencyType else { return }
            if heldResults.isEmpty { queue.async { [weak self] in self?.heldResults.release() } }
        }
        heldResults.hold(objects)
    }
}

extension NSManagedObjectContext: FetchExpressionContext {
    package final func fetchExpressionValue(_ request: Any, countOnly: Bool) -> Any? {
        do {
            guard let request = request as? any AnyFetchRequest else {
                throw FetchProblem.error("FETCH needs a fetch request, not \(type(of: request)).")
            }
            let plan = try request.plan(in: self)
            let executor = FetchExecutor(self, plan, turn: turn(ContextQueue.currentControl, plan))
            // In the middle of a predicate.
            return try undisturbed { () -> Any in
                if countOnly { return try executor.count() }
                return try executor.results().any
            }
        } catch {
            // Predicates cannot throw; the request that the predicate is of does, which may be another context's.
            recordReadFailure(error)
            if let asking = ContextQueue.currentContext, asking !== self { asking.recordReadFailure(error) }
            return nil
        }
    }
}
