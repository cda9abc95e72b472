import Foundation
import Strata
import StrataLog
import StrataSupport

/// Counts what a program does with its stores, for their statuses.
final class StatusRecorder: Sendable {
    static let kinds: EventKinds = [.fetch, .save, .batch, .fault]

    private struct Work {
        var counters = StoreStatus.Counters()
        var slow: SlowRequests
    }

    private let began = Date().timeIntervalSince1970
    /// By the paths of stores.
    private let work: AdaptiveMutex<[String: Work]>

    /// - Parameter paths: of the stores that it is about.
    init(_ paths: Set<String>) {
        let began = began
        work = AdaptiveMutex(
            Dictionary(uniqueKeysWithValues: paths.map { ($0, Work(slow: SlowRequests(now: began))) }))
    }

    func record(_ event: StrataEvent) {
        guard let path = event.store else { return }
        switch event {
        case .fetch(let fetch):
            count(path, fetch.work) { counters in
                if fetch.isCount {
                    counters.counts += 1
                } else {
                    counters.fetches += 1
                    counters.rowsReturned += fetch.results
                }
                counters.rowsTested += fetch.rowsScanned
            } request: {
                StoreStatus.Request(
                    fetch.isCount ? "count" : "fetch", fetch.entity, fetch.work, text: fetch.text(false),
                    plan: fetch.planText, rowsTested: fetch.rowsScanned, rows: fetch.results)
            }
        // What goes to a parent context is no work of the store.
        case .save(let save) where !save.isToParent:
            count(path, save.work) {
                $0.saves += 1
            } request: {
                StoreStatus.Request(
                    "save", save.entity, save.work, rows: save.inserted + save.updated + save.deleted)
            }
        case .batch(let batch):
            count(path, batch.work) {
                $0.batches += 1
            } request: {
                StoreStatus.Request(
                    "batch_\(batch.operation.rawValue)", batch.entity, batch.work, rows: batch.objects)
            }
        case .fault(let fault): work.withLock { $0[path]?.counters.faults += fault.rows }
        default: break
        }
    }

    /// - Parameter request: what it was, asked of slow ones only, outside of the lock.
    private func count(
        _ path: String, _ done: StoreWork, _ change: (inout StoreStatus.Counters) -> Void,
        request: () -> StoreStatus.Request
    ) {
        let request = done.duration >= SlowRequests.floor ? request() : nil
        work.withLock { work in
            guard var one = work.removeValue(forKey: path) else { return }
            change(&one.counters)
            if done.error != nil { one.counters.failures += 1 }
            if let request { one.slow.add(request) }
            work[path] = one
        }
    }

    /// How the store at a path is used at this moment; nil for one that it is not about.
    func status(of path: String, _ log: StoreStatistics, interval: Duration) -> StoreStatus? {
        let now = Date().timeIntervalSince1970
        let found = work.withLock { work -> (StoreStatus.Counters, [StoreStatus.Request], Double)? in
            guard var one = work[path] else { return nil }
            let slow = one.slow.slowest(now: now)
            work[path] = one
            return (one.counters, slow, one.slow.since)
        }
        guard let (counted, slow, since) = found else { return nil }
        var counters = counted
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

extension StoreStatus.Request {
    fileprivate init(
        _ operation: String, _ entity: String?, _ work: StoreWork, text: String? = nil, plan: String? = nil,
        rowsTested: Int = 0, rows: Int
    ) {
        let seconds = work.duration / .seconds(1)
        self.init(
            operation: operation, entity: entity, text: text ?? entity.map { "\(operation) \($0)" } ?? operation,
            plan: plan, seconds: seconds, rowsTested: rowsTested, rows: rows,
            time: Date().timeIntervalSince1970, calls: 1, totalSeconds: seconds)
    }
}
