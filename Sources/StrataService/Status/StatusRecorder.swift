import Foundation
import Strata
import StrataLog
import StrataSupport
import Synchronization

/// Counts what a program does with its stores, for their statuses.
final class StatusRecorder: Sendable {
    static let kinds: EventKinds = [.fetch, .save, .batch, .fault]

    private struct Work {
        var counters = StoreStatus.Counters()
        var slow: SlowRequests
    }

    /// One store's.
    private final class Counted: Sendable {
        /// Keeps it, so that no other one has its identity.
        let store: EventStore
        let work: AdaptiveMutex<Work>
        /// Apart: one fetch may have many.
        let faults = Atomic(0)

        init(_ store: EventStore, _ work: Work) {
            self.store = store
            self.work = AdaptiveMutex(work)
        }

        func add(faults rows: Int) { faults.wrappingAdd(rows, ordering: .relaxed) }
    }

    private let began = Date().timeIntervalSince1970
    private final class Followed: Sendable {
        /// By identity: to hand on an identity takes no reference.
        let stores: LookupTable<ObjectIdentifier, Counted>

        init(_ stores: LookupTable<ObjectIdentifier, Counted>) { self.stores = stores }

        subscript(_ store: EventStore) -> Counted? { stores[ObjectIdentifier(store)] }
    }

    private let followed = Published(Followed(LookupTable()))
    /// Held while a store is added.
    private let adding = AdaptiveMutex<Void>(())

    /// Counts for a store, too.
    func follow(_ store: EventStore) {
        adding.withLock { [followed] _ in
            var stores = followed.value.stores
            if stores[ObjectIdentifier(store)] != nil { return }
            stores.add(
                Counted(store, Work(slow: SlowRequests(now: Date().timeIntervalSince1970))),
                for: ObjectIdentifier(store))
            followed.publish(Followed(stores))
        }
    }

    /// - Parameter parts: what was part of it.
    func record(_ event: StrataEvent, _ parts: EventParts = EventParts()) {
        let followed = followed.value
        // By index: an event is large, and an iterator copies it.
        for index in parts.faults.indices {
            for store in parts.faults[index].work.stores { followed[store]?.add(faults: parts.faults[index].rows) }
        }
        // What several stores take part in counts for each.
        let stores = event.stores
        for index in stores.indices {
            if let counted = followed[stores[index]] { record(event, counted) }
        }
    }

    private func record(_ event: StrataEvent, _ store: Counted) {
        switch event {
        case .fetch(let fetch):
            count(store, fetch.nanoseconds, hasFailed: fetch.error != nil) { counters in
                if fetch.isCount {
                    counters.counts += 1
                } else {
                    counters.fetches += 1
                    counters.rowsReturned += fetch.results
                }
                counters.rowsTested += fetch.rowsScanned
            } kind: {
                SlowRequests.Kind(
                    operation: fetch.isCount ? "count" : "fetch", entity: fetch.entity,
                    text: fetch.text(showsValues: false))
            } details: {
                SlowRequests.Details(plan: fetch.planText, rowsTested: fetch.rowsScanned, rows: fetch.results)
            }
        // What goes to a parent context is no work of the store.
        case .save(let save) where !save.isToParent:
            count(store, save.nanoseconds, hasFailed: save.error != nil) {
                $0.saves += 1
            } kind: {
                SlowRequests.Kind(operation: "save", entity: save.changes.entity)
            } details: {
                SlowRequests.Details(rows: save.changes.objects)
            }
        case .batch(let batch):
            count(store, batch.work.nanoseconds, hasFailed: batch.work.error != nil) {
                $0.batches += 1
            } kind: {
                SlowRequests.Kind(operation: "batch_\(batch.operation.rawValue)", entity: batch.entity)
            } details: {
                SlowRequests.Details(rows: batch.objects)
            }
        case .fault(let fault): store.add(faults: fault.rows)
        default: break
        }
    }

    /// - Parameters:
    ///   - kind: what it was, asked of slow ones only, outside of the lock.
    ///   - details: what is shown of the slowest.
    private func count(
        _ store: Counted, _ nanoseconds: Int64, hasFailed: Bool, _ change: (inout StoreStatus.Counters) -> Void,
        kind: () -> SlowRequests.Kind, details: () -> SlowRequests.Details
    ) {
        let slow =
            nanoseconds >= SlowRequests.floorNanoseconds ? (kind: kind(), now: Date().timeIntervalSince1970) : nil
        store.work.withLock { work in
            change(&work.counters)
            if hasFailed { work.counters.failures += 1 }
            guard let slow else { return }
            work.slow.add(slow.kind, seconds: Double(nanoseconds) / 1e9, now: slow.now, details: details)
        }
    }

    /// How a store is used at this moment; nil for one that it is not about.
    func status(of store: EventStore, _ log: StoreStatistics, interval: Duration) -> StoreStatus? {
        let now = Date().timeIntervalSince1970
        guard let store = followed.value[store] else { return nil }
        let (counted, slow, since) = store.work.withLock { work in
            let slow = work.slow.slowest(now: now)
            return (work.counters, slow, work.slow.since)
        }
        var counters = counted
        counters.faults = store.faults.load(ordering: .relaxed)
        counters.commits = log.commits
        counters.flushes = log.flushes
        counters.cacheHits = Int(clamping: log.cacheHits)
        counters.cacheMisses = Int(clamping: log.cacheMisses)
        return StoreStatus(
            process: ProcessInfo.processInfo.processIdentifier, processSpace: StoreStatus.ownProcessSpace,
            program: ProcessInfo.processInfo.processName, began: began, time: now,
            intervalSeconds: interval / .seconds(1), counters: counters, cacheBytes: StrataMemory.keptBytes,
            slow: slow, slowSince: since)
    }
}
