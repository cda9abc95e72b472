import Foundation
import Logging
import Strata
import StrataLog
import StrataSupport

/// Keeps a status beside each store that a container has open for writing, for `strata inspect`.
final class StatusPublisher: Sendable {
    private struct State {
        /// What was written last, by the paths of stores.
        var written: [String: StoreStatus] = [:]
        /// Paths where writing failed, which is said once.
        var failed: Set<String> = []
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let recorder: StatusRecorder
    private let interval: Duration
    private let logger: Logger?
    private let number: Int
    private let state = AdaptiveMutex(State())

    /// Begins to count.
    ///
    /// - Parameter logger: who hears that a status cannot be written; nil for nobody.
    init(_ coordinator: NSPersistentStoreCoordinator, interval: Duration, _ logger: Logger?) {
        self.coordinator = coordinator
        self.interval = interval
        self.logger = logger
        let recorder = StatusRecorder(Set(Self.stores(of: coordinator).map(\.url.path)))
        self.recorder = recorder
        number = EventHub.add(EventListener(kinds: StatusRecorder.kinds, happened: { recorder.record($0) }))
    }

    /// Those that the container writes and others can see.
    private static func stores(of coordinator: NSPersistentStoreCoordinator) -> [(url: URL, log: LogStore)] {
        coordinator.persistentStores.compactMap { store in
            guard !store.isReadOnly, let url = store.url, let log = store.logOnDisk else { return nil }
            return (url, log)
        }
    }

    /// Writes statuses until the task is cancelled.
    func run() async throws {
        while true {
            await onThread { self.publish() }
            try await Task.sleep(for: interval)
        }
    }

    /// Ends counting, and takes the statuses away.
    func end() async {
        EventHub.remove(number)
        await onThread { [self] in
            for path in state.withLock({ $0.written.keys.sorted() }) { remove(path) }
        }
    }

    /// A disk may keep who writes to it waiting.
    private func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                body()
                continuation.resume()
            }
        }
    }

    private func publish() {
        let stores = Self.stores(of: coordinator)
        for (url, log) in stores {
            guard let status = recorder.status(of: url.path, log.statistics, interval: interval) else { continue }
            let last = state.withLock { $0.written[url.path] }
            if let last, status.tellsTheSame(as: last), status.time >= last.time,
                status.time - last.time < StoreStatus.idleSeconds
            {
                continue
            }
            write(status, url)
        }
        // A store that was removed from the container has no program any more.
        let paths = Set(stores.map(\.url.path))
        for path in state.withLock({ $0.written.keys.filter { !paths.contains($0) } }) { remove(path) }
    }

    private func write(_ status: StoreStatus, _ url: URL) {
        do {
            try status.write(besideStoreAt: url)
            state.withLock { state in
                state.written[url.path] = status
                state.failed.remove(url.path)
            }
        } catch {
            guard state.withLock({ $0.failed.insert(url.path).inserted }) else { return }
            // The store works without.
            logger?.debug(
                "the status beside a store cannot be written",
                metadata: [Names.namespace: "\(url.lastPathComponent)", "strata.reason": "\(error)"])
        }
    }

    private func remove(_ path: String) {
        StoreStatus.remove(besideStoreAt: URL(fileURLWithPath: path))
        state.withLock { $0.written[path] = nil }
    }
}
