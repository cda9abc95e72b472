import CoreMetrics
import Metrics
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

    private struct Made {
        var counters: [Key: Counter] = [:]
        var timers: [Key: Metrics.Timer] = [:]
        var recorders: [Key: Recorder] = [:]
    }

    private let factory: any MetricsFactory
    private let made = AdaptiveMutex(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func duration(of operation: Operation) {
        let key = Key(
            label: "db.client.operation.duration", operation: operation.name, collection: operation.collection,
            variant: operation.errorType)
        made.withLock { [factory] made in
            if let timer = made.timers[key] { return timer }
            var dimensions = [(Names.system, Names.strata), (Names.operation, operation.name)]
            if let name = operation.collection { dimensions.append((Names.collection, name)) }
            if let type = operation.errorType { dimensions.append((Names.errorType, type)) }
            let timer = Metrics.Timer(label: key.label, dimensions: dimensions, factory: factory)
            made.timers[key] = timer
            return timer
        }.record(duration: operation.work.duration)
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

    func counter(_ label: String, collection: String? = nil, _ kind: (name: String, value: String)? = nil) -> Counter {
        made.withLock { [factory] made in
            let key = Key(label: label, collection: collection, variant: kind?.value)
            if let counter = made.counters[key] { return counter }
            var dimensions = collection.map { [(Names.collection, $0)] } ?? []
            if let kind { dimensions.append((kind.name, kind.value)) }
            let counter = Counter(label: label, dimensions: dimensions, factory: factory)
            made.counters[key] = counter
            return counter
        }
    }
}
