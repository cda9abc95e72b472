import Foundation
import StrataSupport

/// Searches the stores on another thread and hands the results over on the context's queue.
final class BackgroundFetch: @unchecked Sendable {
    // Unchecked: constant; the plan holds no objects and is used by one thread at a time, and the context is only used
    // on its queue.
    private let plan: FetchPlan
    private let context: NSManagedObjectContext
    private let progress: Progress
    private let control: RequestControl
    private let executor: FetchExecutor
    private let stores: [SeenStore]
    private let observation: FetchObservation?
    /// What belongs to the asking task, for whoever hears of the fetch.
    private let scope: EventListener.Scope?

    /// To be called on the context's queue.
    ///
    /// - Parameter request: a copy that nobody changes.
    init<T>(
        _ plan: FetchPlan, _ request: NSFetchRequest<T>, _ context: NSManagedObjectContext, _ progress: Progress,
        _ control: RequestControl
    ) throws {
        try context.refuseLate()
        observation = EventHub.wants(.fetch) ? FetchObservation(context, request) : nil
        observation?.plan = plan
        scope = EventHub.wants(.taskLocals) ? EventHub.capture() : nil
        self.plan = plan
        self.context = context
        self.progress = progress
        self.control = control
        executor = FetchExecutor(
            context, plan, turn: ScanTurn(control, context.scanGate(for: plan)), report: observation?.report)
        stores = try executor.stores()
    }

    /// - Parameter completion: called once, on the context's queue.
    func start(_ completion: @escaping (Result<FetchResults, any Error>) -> Void) {
        // Closing waits for it, and for what the program makes of the results, but not for the main queue.
        let writing = context.queueType == .mainQueueConcurrencyType ? nil : context.coordinator?.writing
        writing?.enter()
        let completion = UncheckedBox { (results: Result<FetchResults, any Error>) in
            completion(results)
            writing?.leave()
        }
        if executor.needsQueue {
            finish {
                try self.search()
            } completion: {
                completion.value($0)
            }
            return
        }
        ContextPool.shared.async {
            let found = UncheckedBox(Result { try self.search() })
            self.finish {
                try found.value.get()
            } completion: {
                completion.value($0)
            }
        }
    }

    private func search() throws -> FetchExecutor.StoredMatches {
        // How many changes will lie over the matches is not known yet, so all are found.
        try executor.working { try executor.search(stores, maximum: Int.max) }
    }

    private func finish(
        _ found: @escaping () throws -> FetchExecutor.StoredMatches,
        completion: @escaping (Result<FetchResults, any Error>) -> Void
    ) {
        context.perform {
            let outcome = Result {
                try self.control.check()
                return try self.context.throwingReadFailures {
                    let found = try found()
                    try self.control.check()
                    if self.plan.includesPendingChanges { self.context.processChangesBeforeReading() }
                    return try self.context.undisturbed {
                        try self.executor.working { try self.executor.results(of: found) }
                    }
                }
            }
            if case .success(let results) = outcome {
                if self.progress.totalUnitCount < 0 { self.progress.totalUnitCount = Int64(max(1, results.count)) }
                self.progress.completedUnitCount = self.progress.totalUnitCount
            }
            if let observation = self.observation {
                let tell = { observation.end(outcome) }
                if let scope = self.scope { scope(tell) } else { tell() }
            }
            completion(outcome)
        }
    }
}

extension FetchObservation {
    fileprivate func end(_ outcome: Result<FetchResults, any Error>) {
        switch outcome {
        case .success(.counts(let counts)): end(counts.first?.intValue ?? 0, nil)
        case .success(let results): end(results.count, nil, showing: FetchOutcome(results.any))
        case .failure(let error): end(0, error)
        }
    }
}

extension FetchResults {
    fileprivate var count: Int {
        switch self {
        case .objects(let objects): objects.count
        case .objectIDs(let ids): ids.count
        case .dictionaries(let dictionaries): dictionaries.count
        case .counts(let counts): counts.count
        }
    }
}
