public import Foundation
import StrataSupport

/// Called when an asynchronous fetch has ended, on the context's queue.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
    (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch that runs in the background: the stores are searched on another thread, and the results made on the
/// context's queue.
///
/// Hand it to ``NSManagedObjectContext/execute(_:)``. The context can be used meanwhile; changes made until the search
/// has ended show in the results.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, @unchecked Sendable {
    // Unchecked: the request belongs to the context's queue, the search works with a plan of its own.
    private let storedRequest: NSFetchRequest<ResultType>
    fileprivate let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    private var estimate = 0

    /// Creates the request.
    ///
    /// - Parameters:
    ///   - fetchRequest: what is fetched.
    ///   - completionBlock: called on the context's queue when the fetch has ended, also when it failed or was
    ///     cancelled, with `CocoaError` 3072 (`NSUserCancelledError`) as its error then.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        storedRequest = fetchRequest
        completion = completionBlock
        super.init()
        affectedStores = fetchRequest.affectedStores
    }

    /// What is fetched.
    open var fetchRequest: NSFetchRequest<ResultType> { storedRequest }

    /// What is called when the fetch has ended, for results of any type.
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? {
        guard let completion else { return nil }
        return { result in
            let typed = NSAsynchronousFetchResult(self, result.managedObjectContext, progress: result.progress)
            if let error = result.operationError {
                typed.finish(.failure(error))
            } else {
                typed.finish(.success((result.finalResult ?? []).compactMap { $0 as? ResultType }))
            }
            completion(typed)
        }
    }

    /// How many results are expected; the total of the progress. 0, the default, makes the progress indeterminate.
    open var estimatedResultCount: Int {
        get { estimate }
        set { estimate = max(0, newValue) }
    }

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        guard let request = storedRequest.copy() as? NSFetchRequest<ResultType> else {
            programmerError(
                "\(type(of: storedRequest))", "copy(with:) gives another class than NSFetchRequest<\(ResultType.self)>",
                "Return a request of the same class from copy(with:)")
        }
        let copy = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: completion)
        copy.estimatedResultCount = estimatedResultCount
        copy.timeLimit = timeLimit
        return copy
    }
}

extension NSAsynchronousFetchRequest: ContextExecutable {
    /// Starts the fetch and returns at once.
    ///
    /// - Throws: for a request that makes no sense; what goes wrong later is the result's error.
    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard let request = storedRequest.copy() as? NSFetchRequest<ResultType> else {
            programmerError(
                "\(type(of: storedRequest))", "copy(with:) gives another class than NSFetchRequest<\(ResultType.self)>",
                "Return a request of the same class from copy(with:)")
        }
        request.affectedStores = affectedStores
        let plan = try context.plan(of: request)
        let progress = Progress(parent: Progress.current(), userInfo: nil)
        progress.totalUnitCount = estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1
        progress.isCancellable = true
        let result = NSAsynchronousFetchResult(self, context, progress: progress)
        // The task that starts the fetch does not wait for it: it may end, or be cancelled, before.
        let limit = RequestControl.shortest(timeLimit, request.timeLimit)
        let control = RequestControl(timeLimit: limit, progress: progress)
        try BackgroundFetch(plan, request, context, progress, control).start { outcome in
            result.finish(Result { try outcome.get().typed(plan) })
            self.completion?(result)
        }
        return result
    }
}

/// What an asynchronous fetch gives. Safe to use from any thread; the objects belong to the context's queue.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    // Unchecked: the results are set once, on the context's queue, before anybody is told.
    private let request: NSAsynchronousFetchRequest<ResultType>?
    private var results: [ResultType]?
    private let lock = NSLock()

    /// A result of no request, for subclasses that stand in for one.
    override public init() {
        request = nil
        super.init()
    }

    init(
        _ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, progress: Progress?
    ) {
        self.request = request
        super.init(context, progress: progress)
    }

    /// The request that was executed.
    ///
    /// - Precondition: there is one.
    open var fetchRequest: NSAsynchronousFetchRequest<ResultType> {
        guard let request else {
            programmerError(
                "NSAsynchronousFetchResult", "a result that was made without a request has none",
                "Override fetchRequest")
        }
        return request
    }

    /// The results; nil until the fetch has ended, and if it failed.
    open var finalResult: [ResultType]? { lock.withLock { results } }

    final func finish(_ outcome: Result<[ResultType], any Error>) {
        switch outcome {
        case .success(let values): lock.withLock { results = values }
        case .failure(let error): fail(error)
        }
    }
}
