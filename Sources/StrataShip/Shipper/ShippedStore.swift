internal import Foundation
public import Strata
internal import StrataIO
internal import StrataLog
public import StrataObjectStore
internal import Synchronization

/// Ships a container's store into a bucket for as long as the program runs. If another machine takes over, the store
/// refuses further saves.
///
/// ```swift
/// let shipped = ShippedStore(container, to: bucket)
/// let shipping = Task { try await shipped.run() }
/// …
/// try context.save()
/// try await shipped.shipped(through: coordinator.currentPersistentHistoryToken(fromStores: nil)!)
/// ```
///
/// Whatever reads or saves does not wait for it. Safe to use from any thread.
public final class ShippedStore: Sendable {
    private struct State {
        var started: (store: NSPersistentStore, shipper: LogShipper)?
        var isStopped = false
        /// Why ``run()`` has ended.
        var failure: (any Error)?
        var hasEnded = false
    }

    private let container: NSPersistentContainer
    private let url: URL?
    private let objects: any ObjectStore
    private let options: ShipOptions
    private let state = Mutex(State())

    /// A shipper for a store of a container, which may be loaded later.
    ///
    /// - Parameters:
    ///   - url: Of the store; nil for the only one on a disk.
    ///   - objects: Where to: a bucket, or a prefix in one, that nothing else is shipped to.
    public init(
        _ container: NSPersistentContainer, storeAt url: URL? = nil, to objects: any ObjectStore,
        options: ShipOptions = ShipOptions()
    ) {
        self.container = container
        self.url = url
        self.objects = objects
        self.options = options
    }

    /// Waits until the store is loaded and ships it until ``stop()`` is called or the task is cancelled; then what is
    /// left, with a checkpoint. The store may be closed before.
    ///
    /// - Throws: ``ShipError``: `.fenced` when another shipper has taken over, `.invalid` if none was named and the
    ///   container has several stores on disks, or only others; and as ``LogShipper/run()``.
    public func run() async throws {
        do {
            guard let shipper = try await started() else { return end(nil) }
            try await shipper.run()
            end(nil)
        } catch {
            end(error)
            throw error
        }
    }

    /// Lets ``run()`` ship what is left and return.
    public func stop() {
        let shipper = state.withLock { state in
            state.isStopped = true
            return state.started?.shipper
        }
        shipper?.stop()
    }

    /// How far the store has been shipped, and how much waits.
    public var status: ShipStatus { state.withLock { $0.started?.shipper }?.status ?? ShipStatus() }

    /// Returns when everything that a history token covers is in the bucket, durable there: what was saved before the
    /// token was asked for survives the loss of this machine. Waits for ``run()`` to begin.
    ///
    /// - Throws: ``ShipError``: `.invalid` for a token of another store; why shipping has ended.
    public func shipped(through token: NSPersistentHistoryToken) async throws {
        while true {
            let (started, hasEnded, failure) = state.withLock { ($0.started, $0.hasEnded, $0.failure) }
            if let failure { throw failure }
            if let started {
                guard let number = token.transactionNumber(of: started.store) else {
                    throw ShipError(.invalid, "the token is not one of the store that is shipped")
                }
                return try await started.shipper.shipped(through: UInt64(number))
            }
            if hasEnded { throw ShipError(.cancelled, "shipping was stopped before it began") }
            try await Task.sleep(for: Self.pause)
        }
    }

    private static let pause = Duration.milliseconds(20)

    /// The shipper, once the store is there; nil if it is stopped before.
    private func started() async throws -> LogShipper? {
        while true {
            if state.withLock({ $0.isStopped }) { return nil }
            if let (store, log) = try loaded() {
                let shipper = LogShipper(log, to: objects, options: options)
                let isStopped = state.withLock { state in
                    state.started = (store, shipper)
                    return state.isStopped
                }
                if isStopped { shipper.stop() }
                return shipper
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    private func loaded() throws(ShipError) -> (NSPersistentStore, LogStore)? {
        var found: [(NSPersistentStore, LogStore)] = []
        for store in container.persistentStoreCoordinator.persistentStores {
            if let url, store.url?.standardizedFileURL != url.standardizedFileURL { continue }
            guard let log = store.logOnDisk else {
                if url == nil { continue }
                throw ShipError(.invalid, "\(store.url?.path ?? "the store") has no log on a disk to ship")
            }
            guard !store.isReadOnly else {
                throw ShipError(.invalid, "\(store.url?.path ?? "the store") is opened read-only: its writer ships it")
            }
            found.append((store, log))
        }
        guard found.count < 2 else {
            throw ShipError(.invalid, "the container has \(found.count) stores on disks: say which one is shipped")
        }
        let loaded = container.persistentStoreCoordinator.persistentStores.count
        guard url != nil || !found.isEmpty || loaded == 0 || loaded < container.persistentStoreDescriptions.count else {
            throw ShipError(.invalid, "none of the container's stores has a log on a disk to ship")
        }
        return found.first
    }

    private func end(_ failure: (any Error)?) {
        state.withLock { state in
            state.failure = failure
            state.hasEnded = true
        }
    }
}
