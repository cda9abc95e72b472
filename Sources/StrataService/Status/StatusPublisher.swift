import Foundation
import Logging
import Strata
import StrataLog
import StrataSupport
import SystemPackage

/// Keeps a status beside each store that a container has open for writing, for `strata inspect`.
final class StatusPublisher: Sendable {
    private struct State {
        /// What was written last, by the paths of stores.
        var written: [String: StoreStatus] = [:]
        /// Where: a link that leads to another store by now leads to another program's.
        var places: [String: FilePath] = [:]
        /// Paths where writing failed, which is said once.
        var failed: Set<String> = []
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let recorder: StatusRecorder
    private let interval: Duration
    private let logger: Logger?
    private let number: Int
    private let claim: Int
    private let state = AdaptiveMutex(State())

    /// Begins to count.
    ///
    /// - Parameter logger: who hears that a status cannot be written; nil for nobody.
    init(_ coordinator: NSPersistentStoreCoordinator, interval: Duration, _ logger: Logger?) {
        self.coordinator = coordinator
        self.interval = interval
        self.logger = logger
        let recorder = StatusRecorder()
        let paths = Self.stores(of: coordinator).map(\.path)
        for path in paths { recorder.follow(.at(path)) }
        self.recorder = recorder
        claim = StoreClaims.status.add(Set(paths))
        number = EventHub.add(
            EventListener(kinds: StatusRecorder.kinds, guardsCalls: true) { event, parts in
                recorder.record(event, parts)
            })
    }

    /// Those that the container writes and others can see.
    private static func stores(
        of coordinator: NSPersistentStoreCoordinator
    ) -> [(path: String, url: URL, log: LogStore, store: NSPersistentStore)] {
        coordinator.persistentStores.compactMap { store in
            guard !store.isReadOnly, let url = store.url, let path = store.eventPath, let log = store.logOnDisk
            else { return nil }
            return (path, url, log, store)
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
        StoreClaims.status.remove(claim)
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
        let paths = Set(stores.map(\.path))
        StoreClaims.status.set(paths, of: claim)
        for (path, url, log, store) in stores where StoreClaims.status.isTeller(claim, of: [.at(path)]) {
            // It may have been added since.
            recorder.follow(.at(path))
            guard var status = recorder.status(of: .at(path), log.statistics, interval: interval) else { continue }
            let last = state.withLock { $0.written[path] }
            if let last, status.tellsTheSame(as: last), status.time >= last.time,
                status.time - last.time < StoreStatus.idleSeconds
            {
                continue
            }
            status.retained = StoreStatus.Retained(log.snapshotPins, store.figures?.consumers ?? [])
            write(status, path, url)
        }
        // A store that was removed from the container has no program any more.
        for path in state.withLock({ $0.written.keys.filter { !paths.contains($0) } }) { remove(path) }
    }

    private func write(_ status: StoreStatus, _ path: String, _ url: URL) {
        let place = state.withLock { state in
            let place = state.places[path] ?? StoreStatus.path(besideStoreAt: url)
            state.places[path] = place
            return place
        }
        do {
            try status.write(to: place)
            state.withLock { state in
                state.written[path] = status
                state.failed.remove(path)
            }
        } catch {
            guard state.withLock({ $0.failed.insert(path).inserted }) else { return }
            // The store works without.
            logger?.info(
                "the status beside a store cannot be written",
                metadata: [Names.namespace: "\(url.lastPathComponent)", "strata.reason": "\(error)"])
        }
    }

    private func remove(_ path: String) {
        let (place, status) = state.withLock { state in
            defer { (state.written[path], state.places[path]) = (nil, nil) }
            return (state.places[path], state.written[path])
        }
        if let place, let status { status.remove(from: place) }
    }
}

extension StoreStatus.Retained {
    init(_ pins: SnapshotPins, _ consumers: [HistoryConsumer]) {
        pinnedBytes = pins.byteCount
        pinnedSince = pins.sinceNanoseconds.map { Double($0) / 1e9 }
        self.consumers = consumers.prefix(Self.consumerMaximum).map { consumer in
            Consumer(
                name: SlowRequests.cut(consumer.name), acknowledged: consumer.acknowledged.map { Int(clamping: $0) },
                behind: consumer.behind)
        }
    }
}
