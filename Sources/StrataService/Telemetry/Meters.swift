import CoreMetrics
import Metrics
import Strata
import StrataSupport

/// The metrics, each made when it is first needed and kept: making one asks the program's factory.
final class Meters: Sendable {
    private struct Key: Hashable {
        var label: String
        var operation: String?
        var collection: String?
        /// The type of an error, or the kind of what is counted.
        var variant: String?
    }

    /// What counts the requests of one kind on one entity, and is found with one look.
    private final class Requests: Sendable {
        let duration: Metrics.Timer
        let scanned: Counter
        /// Nil for counts.
        let returned: Recorder?

        init(duration: Metrics.Timer, scanned: Counter, returned: Recorder?) {
            self.duration = duration
            self.scanned = scanned
            self.returned = returned
        }
    }

    private struct Made {
        /// By entity.
        var fetches: [String: Requests] = [:]
        var counts: [String: Requests] = [:]
        var counters: [Key: Counter] = [:]
        var timers: [Key: Metrics.Timer] = [:]
        var recorders: [Key: Recorder] = [:]
    }

    private let factory: any MetricsFactory
    private let made = AdaptiveMutex(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Counts a fetch, or a count.
    func record(_ fetch: any FetchEvent) {
        if fetch.error != nil {
            counter("strata.rows.scanned", collection: fetch.entity).increment(by: Int64(fetch.rowsScanned))
            duration(of: Operation(fetch))
            return
        }
        let known = made.withLock { made in
            fetch.isCount ? made.counts[fetch.entity] : made.fetches[fetch.entity]
        }
        let requests = known ?? makeRequests(fetch)
        requests.scanned.increment(by: Int64(fetch.rowsScanned))
        requests.returned?.record(Int64(fetch.results))
        requests.duration.recordNanoseconds(fetch.duration.wholeNanoseconds)
    }

    private func makeRequests(_ fetch: any FetchEvent) -> Requests {
        let requests = Requests(
            duration: timer(of: Operation(fetch)),
            scanned: counter("strata.rows.scanned", collection: fetch.entity),
            returned: fetch.isCount ? nil : recorder("db.client.response.returned_rows", collection: fetch.entity))
        made.withLock { made in
            if fetch.isCount { made.counts[fetch.entity] = requests } else { made.fetches[fetch.entity] = requests }
        }
        return requests
    }

    func duration(of operation: Operation) { timer(of: operation).record(duration: operation.work.duration) }

    private func timer(of operation: Operation) -> Metrics.Timer {
        let key = Key(
            label: "db.client.operation.duration", operation: operation.name, collection: operation.collection,
            variant: operation.errorType)
        return made.withLock { [factory] made in
            if let timer = made.timers[key] { return timer }
            var dimensions = [(Names.system, Names.strata), (Names.operation, operation.name)]
            if let name = operation.collection { dimensions.append((Names.collection, name)) }
            if let type = operation.errorType { dimensions.append((Names.errorType, type)) }
            let timer = Metrics.Timer(label: key.label, dimensions: dimensions, factory: factory)
            made.timers[key] = timer
            return timer
        }
    }

    func timer(_ label: String) -> Metrics.Timer {
        made.withLock { [factory] made in
            let key = Key(label: label)
            if let timer = made.timers[key] { return timer }
            let timer = Metrics.Timer(label: label, factory: factory)
            made.timers[key] = timer
            return timer
        }
    }

    func recorder(_ label: String, collection: String? = nil) -> Recorder {
        made.withLock { [factory] made in
            let key = Key(label: label, collection: collection)
            if let recorder = made.recorders[key] { return recorder }
            let recorder = Recorder(
                label: label, dimensions: collection.map { [(Names.collection, $0)] } ?? [], factory: factory)
            made.recorders[key] = recorder
            return recorder
        }
    }

    func counter(_ label: String, collection: String? = nil, _ kinds: (name: String, value: String)...) -> Counter {
        made.withLock { [factory] made in
            let variant = kinds.isEmpty ? nil : kinds.map(\.value).joined(separator: " ")
            let key = Key(label: label, collection: collection, variant: variant)
            if let counter = made.counters[key] { return counter }
            var dimensions = collection.map { [(Names.collection, $0)] } ?? []
            for kind in kinds { dimensions.append((kind.name, kind.value)) }
            let counter = Counter(label: label, dimensions: dimensions, factory: factory)
            made.counters[key] = counter
            return counter
        }
    }
}
