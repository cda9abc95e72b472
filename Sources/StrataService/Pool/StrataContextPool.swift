import CoreMetrics
import Metrics
import Strata
import StrataSupport

/// A bounded number of contexts for the handlers of requests, used again and again.
///
/// ```swift
/// let titles = try await pool.withContext(.reading) { context in
///     try context.fetch(request).map(\.title)
/// }
/// ```
///
/// Whoever finds all contexts taken waits, in the order of arrival, until one is free, the time limit is up or its task
/// is cancelled. Safe to use from any thread.
public final class StrataContextPool: Sendable {
    /// What a context is wanted for. The two kinds have contexts of their own, so that readers need not wait for
    /// writers.
    public enum Access: String, Sendable, CaseIterable {
        /// Changes that the block leaves are an error. It saves nothing.
        case reading
        /// What the block has changed is saved when it returns.
        case writing
    }

    /// How many contexts there are, and for how long one is waited for.
    public struct Options: Sendable {
        /// The name of the pool in metrics and errors.
        public var name = "strata"
        /// Contexts for reading, 1 or more.
        public var readers = 16
        /// Contexts for writing, 1 or more. Their saves share flushes: with few of them, each waits for the disk.
        public var writers = 16
        /// For how long a context is waited for, unless the call says otherwise.
        public var timeLimit: Duration = .seconds(5)
        /// Prepares each new context, on its queue: its merge policy, its transaction author. Its name is that of the
        /// pool, unless this sets another.
        public var prepare: @Sendable (NSManagedObjectContext) -> Void = { _ in }
        /// Where the pool's metrics go; nil for the program's.
        public var metrics: (any MetricsFactory)?

        /// 16 readers and 16 writers, waited for for five seconds.
        public init() {}
    }

    let options: Options
    let container: NSPersistentContainer
    let metrics: PoolMetrics
    let state: AdaptiveMutex<PoolState>

    /// A pool of a container whose stores are loaded.
    ///
    /// - Precondition: there are readers and writers.
    public convenience init(_ container: NSPersistentContainer, _ options: Options = Options()) {
        self.init(container, options, isOpen: true)
    }

    /// - Parameter isOpen: otherwise contexts are waited for until ``open()``.
    init(_ container: NSPersistentContainer, _ options: Options, isOpen: Bool) {
        if options.readers < 1 || options.writers < 1 {
            programmerError(
                "StrataContextPool", "it has \(options.readers) readers and \(options.writers) writers",
                "Give it one of each at least")
        }
        self.options = options
        self.container = container
        metrics = PoolMetrics(options.metrics ?? MetricsSystem.factory, pool: options.name)
        state = AdaptiveMutex(
            PoolState(reading: options.readers, writing: options.writers, phase: isOpen ? .open : .opening))
    }

    /// Runs a block with a context, on the context's queue.
    ///
    /// What was changed in a block for writing is saved when it returns; you may save in it, too. If the block or the
    /// save throws, the changes are dropped. Objects do not outlive the block: the context forgets them, and gets back
    /// the author, the merge policy, the query generation and the other settings that it had before. The result is
    /// Sendable, so that no object can be handed out; hand out values or `objectID`s.
    ///
    /// - Parameters:
    ///   - access: a reader's or a writer's context.
    ///   - timeLimit: for how long to wait for a context; nil for that of the pool.
    ///   - purpose: names the holder in others' errors; file and line if there is none.
    ///   - body: runs once. It returns soon: others wait for its context.
    /// - Throws: ``StrataPoolError`` when no context is free in time, the pool has been closed, or a reader has changed
    ///   objects; `CancellationError`; what the block throws, or the save. Durable when it returns, as the store's
    ///   durability says.
    public func withContext<Result: Sendable>(
        _ access: Access, timeLimit: Duration? = nil, purpose: String? = nil, file: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        let holder = PoolHolder(purpose: purpose ?? "\(file):\(line)", access: access)
        let context = try await acquire(access, holder, timeLimit ?? options.timeLimit)
        defer { release(context, holder) }
        return try await context.perform {
            self.prepare(context)
            let settings = PooledSettings(context)
            defer {
                context.reset()
                settings.restore(context)
            }
            let result = try body(context)
            guard context.hasChanges else { return result }
            guard access == .writing else { throw StrataPoolError(.changedWhileReading, holder, self.options.name) }
            try context.save()
            return result
        }
    }

    /// On the context's queue. One without a name has not been used yet.
    private func prepare(_ context: NSManagedObjectContext) {
        if context.name != nil { return }
        context.name = options.name
        options.prepare(context)
    }

    /// Who holds a context, longest first.
    public var holders: [Holder] { state.withLock { $0.holders(at: .now) } }

    /// Somebody who holds a context.
    public struct Holder: Sendable, CustomStringConvertible {
        /// What the call said, or its file and line.
        public var purpose: String
        /// For what.
        public var access: Access
        /// For how long until now.
        public var held: Duration

        public var description: String { "\(purpose) (\(access.rawValue), for \(held))" }
    }
}
