import Foundation
import Logging
import Metrics
import ServiceLifecycle
import Strata
import StrataSupport
import SystemPackage

/// A container as a service: opens its stores, watches over them, and closes them when the program shuts down.
///
/// ```swift
/// let store = StrataStore(container)
/// let group = ServiceGroup(
///     services: [store, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// Services shut down in the reverse order of the list, so the store comes first: what accepts requests is gone when
/// the store begins to close. Requests that come before the stores are open wait for that, as they wait for a context.
///
/// Safe to use from any thread.
public final class StrataStore: Service {
    /// What it does besides opening and closing.
    public struct Options: Sendable {
        /// Of ``StrataStore/contexts``.
        public var pool = StrataContextPool.Options()
        /// Logs, metrics and spans while the service runs; nil for none.
        public var telemetry: StrataTelemetry.Options? = StrataTelemetry.Options()
        /// How often the sizes of the stores are written to the metrics.
        public var metricsInterval: Duration = .seconds(15)
        /// How often a status is written beside each store while something happens, for `strata inspect`: counters, and
        /// the slowest requests without users' values; nil for none. Once a second at most.
        public var statusInterval: Duration? = .seconds(2)
        /// With less room on a store's file system, in bytes, the service is degraded.
        public var minimumFreeBytes = 256 << 20
        /// A consumer of the history that is so many transactions behind, or more, is far behind.
        public var maximumConsumerLag = 100_000
        /// For how long requests may run on once the program shuts down; then those that still wait for a context are
        /// refused. Those that have one are waited for in any case.
        public var drainTimeLimit: Duration = .seconds(10)

        /// Telemetry to the program's logger, metrics and tracer; 256 MiB of free disk; ten seconds to drain.
        public init() {}
    }

    /// What has the stores.
    public let container: NSPersistentContainer
    /// Contexts for the handlers of requests. They are to be had when the stores are open.
    public let contexts: StrataContextPool
    let options: Options
    private let phase = AdaptiveMutex(StrataHealth.Status.starting)

    /// A service of a container. Its stores are opened by ``run()``, or were loaded before.
    public init(_ container: NSPersistentContainer, _ options: Options = Options()) {
        self.container = container
        self.options = options
        var pool = options.pool
        if pool.metrics == nil { pool.metrics = options.telemetry?.metrics }
        contexts = StrataContextPool(container, pool, isOpen: false)
    }

    /// Runs a block with a context of ``contexts``, as
    /// ``StrataContextPool/withContext(_:timeLimit:purpose:file:line:_:)`` does.
    ///
    /// - Throws: as that does.
    public func withContext<Result: Sendable>(
        _ access: StrataContextPool.Access, timeLimit: Duration? = nil, purpose: String? = nil,
        file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await contexts.withContext(
            access, timeLimit: timeLimit, purpose: purpose, file: file, line: line, body)
    }

    /// Opens the stores, waits for the shutdown, drains and closes.
    ///
    /// On a graceful shutdown no context is given to whoever comes from then on; those who have come are waited for,
    /// then the container is closed: what runs is finished, a checkpoint is written, the lock is given back. When the
    /// task is cancelled those who wait are refused at once.
    ///
    /// - Throws: the error of the first store that cannot be opened, or closed in order; `CancellationError` when the
    ///   task was cancelled. The stores are closed in any case.
    public func run() async throws {
        let telemetry = options.telemetry.map { StrataTelemetry.start($0, paths: eventPaths) }
        defer { telemetry?.stop() }
        do {
            try await openStores()
        } catch {
            phase.withLock { $0 = .failed }
            contexts.refuseWaiting()
            // Of several stores some may be open.
            try? await container.persistentStoreCoordinator.close()
            throw error
        }
        // It counts from the first request on, of those that wait for the stores, too.
        let status = options.statusInterval.map { interval in
            StatusPublisher(
                container.persistentStoreCoordinator, interval: max(interval, .seconds(1)),
                options.telemetry.map { $0.logger ?? Logger.current })
        }
        phase.withLock { $0 = .ready }
        contexts.open()
        try? await cancelWhenGracefulShutdown { try await self.publish(status, telemetry) }
        phase.withLock { $0 = .draining }
        await drain()
        await status?.end()
        defer { phase.withLock { $0 = .closed } }
        try await container.persistentStoreCoordinator.close()
        try Task.checkCancellation()
    }

    /// Of its own stores: of other containers in the process others tell.
    private var eventPaths: Set<String> {
        let described = container.persistentStoreDescriptions.compactMap(\.url?.path).map { FilePath($0).string }
        return Set(described + container.persistentStoreCoordinator.persistentStores.compactMap(\.eventPath))
    }

    /// Returns or throws once nothing is being opened any more, so that what was opened can be closed.
    private func openStores() async throws {
        let container = container
        let loaded = container.persistentStoreCoordinator.persistentStores
        let count = container.persistentStoreDescriptions.count { description in
            !loaded.contains { $0.url == description.url && $0.type == description.type }
        }
        if count == 0 { return }
        let failure = await withCheckedContinuation { (continuation: CheckedContinuation<(any Error)?, Never>) in
            let outcomes = AdaptiveMutex<(answered: Int, failure: (any Error)?)>((0, nil))
            // Opening reads the disk, and may wait for another process.
            DispatchQueue.global(qos: .userInitiated).async {
                container.loadPersistentStores { _, error in
                    let (isLast, failure) = outcomes.withLock { outcomes in
                        outcomes.answered += 1
                        if outcomes.failure == nil { outcomes.failure = error }
                        return (outcomes.answered == count, outcomes.failure)
                    }
                    if isLast { continuation.resume(returning: failure) }
                }
            }
        }
        if let failure { throw failure }
        try Task.checkCancellation()
    }

    /// Tells of the stores until the task is cancelled.
    private func publish(_ status: StatusPublisher?, _ telemetry: StrataTelemetry?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.publishMetrics(telemetry) }
            if let status { group.addTask { try await status.run() } }
            try await group.waitForAll()
        }
    }

    private func publishMetrics(_ telemetry: StrataTelemetry?) async throws {
        let metrics = StoreMetrics(options.telemetry?.metrics ?? MetricsSystem.factory)
        defer { metrics.end() }
        var known: Set<String> = []
        while true {
            let found = await withCheckedContinuation { (continuation: CheckedContinuation<StrataHealth, Never>) in
                // What the log's segments hold may have to be read.
                DispatchQueue.global(qos: .utility).async { [self] in
                    metrics.publish(container.persistentStoreCoordinator)
                    continuation.resume(returning: health)
                }
            }
            log(found, &known)
            // Stores may have been added.
            telemetry?.follow(eventPaths)
            try await Task.sleep(for: max(options.metricsInterval, .milliseconds(1)))
        }
    }

    /// Says once what is wrong, and again when it comes back.
    ///
    /// - Parameter known: what was wrong the last time.
    private func log(_ health: StrataHealth, _ known: inout Set<String>) {
        guard let telemetry = options.telemetry else { return }
        let logger = telemetry.logger ?? Logger.current
        for reason in health.reasons where !known.contains(reason.key) {
            logger.warning("the service is degraded", metadata: ["strata.reason": "\(reason)"])
        }
        known = Set(health.reasons.map(\.key))
    }

    private func drain() async {
        let isCancelled = Task.isCancelled
        let timer = Task { [contexts, options] in
            if !isCancelled { try await Task.sleep(for: options.drainTimeLimit) }
            contexts.refuseWaiting()
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await contexts.close()
        } onCancel: {
            contexts.refuseWaiting()
        }
    }

    // MARK: Health

    /// How the service is: for the answer to a probe.
    ///
    /// - Complexity: O(n) in the stores; asks the file system for its free space.
    public var health: StrataHealth {
        let status = phase.withLock { $0 }
        guard status == .ready else { return StrataHealth(status: status, reasons: []) }
        let reasons: [StrataHealth.Reason] = container.persistentStoreCoordinator.persistentStores.flatMap {
            self.reasons(of: $0)
        }
        return StrataHealth(status: reasons.isEmpty ? .ready : .degraded, reasons: reasons)
    }

    private func reasons(of store: NSPersistentStore) -> [StrataHealth.Reason] {
        // One that is removed meanwhile has no figures.
        guard let figures = store.figures else { return [] }
        var reasons: [StrataHealth.Reason] = []
        let name = store.serviceName
        if figures.damagedPlaces > 0 { reasons.append(.damage(store: name, places: figures.damagedPlaces)) }
        if figures.refusesWrites { reasons.append(.refusesWrites(store: name)) }
        if figures.isOnDisk, !store.isReadOnly, let free = store.freeBytes, free < options.minimumFreeBytes {
            reasons.append(.diskNearlyFull(store: name, freeBytes: free))
        }
        for (consumer, lag) in figures.consumerLags.sorted(by: { $0.key < $1.key })
        where lag >= options.maximumConsumerLag {
            reasons.append(.consumerBehind(store: name, consumer: consumer, transactions: lag))
        }
        return reasons
    }
}
