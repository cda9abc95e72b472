import CoreMetrics
import Strata
import StrataSupport

/// The metrics, each made when it is first needed and kept: making one asks the program's factory.
///
/// What requests need is found with one look that takes no lock. The factory's handlers are called as they are: the
/// types that `Metrics` wraps around them convert each number in generic code, which costs more than to count it.
final class Meters: Sendable {
    /// What is counted together: an operation, or something that is none.
    enum Kind {
        case operation(Operation.Kind)
        case flush
        case wait(WaitEvent.Reason)
        case conflict, retry

        /// Another one for each, below ``count``.
        fileprivate var number: Int {
            switch self {
            case .operation(let kind): 5 + Int(kind.rawValue)
            case .flush: 0
            case .wait(.scan): 1
            case .wait(.commit): 2
            case .conflict: 3
            case .retry: 4
            }
        }

        fileprivate static let count = 5 + Operation.Kind.allCases.count
    }

    /// What counts the events of one kind, and of one entity. Nil is what they are not counted by.
    final class Handles: Sendable {
        let timer: (any TimerHandler)?
        let counter: (any CounterHandler)?
        let recorder: (any RecorderHandler)?

        init(
            _ timer: (any TimerHandler)? = nil, _ counter: (any CounterHandler)? = nil,
            _ recorder: (any RecorderHandler)? = nil
        ) {
            self.timer = timer
            self.counter = counter
            self.recorder = recorder
        }
    }

    /// Those of one kind.
    private final class KindHandles: Sendable {
        /// Of what has no entity.
        let plain = CompiledReference<Handles>()
        let byEntity = Published(EntityHandles(LookupTable()))

        deinit { plain.release() }
    }

    private final class EntityHandles: Sendable {
        let table: LookupTable<String, Handles>

        init(_ table: LookupTable<String, Handles>) { self.table = table }
    }

    private struct Key: Hashable {
        var label: String
        var operation: String?
        var collection: String?
        /// The type of an error, or the kind of what is counted.
        var variant: String?
    }

    private struct Made {
        var counters: [Key: any CounterHandler] = [:]
        var timers: [Key: any TimerHandler] = [:]
        var recorders: [Key: any RecorderHandler] = [:]
    }

    private let factory: any MetricsFactory
    private let made = AdaptiveMutex(Made())
    private let known = (0..<Kind.count).map { _ in KindHandles() }
    /// Held while handles are added to those that are known.
    private let adding = AdaptiveMutex<Void>(())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    // MARK: Requests

    func handles(_ kind: Kind, _ entity: String? = nil) -> Handles {
        let known = known[kind.number]
        guard let entity else { return known.plain.load() ?? known.plain.storeIfNil(makeHandles(kind, nil)) }
        return known.byEntity.value.table[entity] ?? addHandles(kind, entity, to: known.byEntity)
    }

    /// There are as many as kinds and entities: each is added once.
    private func addHandles(_ kind: Kind, _ entity: String, to known: Published<EntityHandles>) -> Handles {
        let made = makeHandles(kind, entity)
        return adding.withLock { _ in
            var table = known.value.table
            if let known = table[entity] { return known }
            table.add(made, for: entity)
            known.publish(EntityHandles(table))
            return made
        }
    }

    private func makeHandles(_ kind: Kind, _ entity: String?) -> Handles {
        switch kind {
        case .operation(.fetch):
            Handles(
                timer(.fetch, entity), counter("strata.rows.scanned", collection: entity),
                recorder("db.client.response.returned_rows", collection: entity))
        case .operation(.count): Handles(timer(.count, entity), counter("strata.rows.scanned", collection: entity))
        case .operation(.fault): Handles(timer(.fault, entity), counter("strata.faults"))
        case .operation(let operation): Handles(timer(operation, entity))
        case .flush: Handles(timer("strata.commit.flush.duration"), nil, recorder("strata.commit.batch.size"))
        case .wait(let reason): Handles(timer("strata.\(reason.rawValue).wait"))
        case .conflict: Handles(nil, counter("strata.conflicts"))
        case .retry: Handles(nil, counter("strata.retries"))
        }
    }

    /// Counts how long an operation took that has failed.
    func recordFailure(_ kind: Operation.Kind, _ collection: String?, _ work: StoreWork) {
        let errorType = work.error.map { EventErrorText.type(of: $0) }
        timer(kind, collection, errorType).recordNanoseconds(work.nanoseconds)
    }

    // MARK: One by one

    private func timer(
        _ kind: Operation.Kind, _ collection: String?, _ errorType: String? = nil
    ) -> any TimerHandler {
        let key = Key(
            label: "db.client.operation.duration", operation: kind.name, collection: collection,
            variant: errorType)
        return made.withLock { [factory] made in
            if let timer = made.timers[key] { return timer }
            var dimensions = [(Names.system, Names.strata), (Names.operation, kind.name)]
            if let collection { dimensions.append((Names.collection, collection)) }
            if let errorType { dimensions.append((Names.errorType, errorType)) }
            let timer = factory.makeTimer(label: key.label, dimensions: dimensions)
            made.timers[key] = timer
            return timer
        }
    }

    func timer(_ label: String) -> any TimerHandler {
        made.withLock { [factory] made in
            let key = Key(label: label)
            if let timer = made.timers[key] { return timer }
            let timer = factory.makeTimer(label: label, dimensions: [])
            made.timers[key] = timer
            return timer
        }
    }

    func recorder(_ label: String, collection: String? = nil) -> any RecorderHandler {
        made.withLock { [factory] made in
            let key = Key(label: label, collection: collection)
            if let recorder = made.recorders[key] { return recorder }
            let recorder = factory.makeRecorder(
                label: label, dimensions: collection.map { [(Names.collection, $0)] } ?? [], aggregate: true)
            made.recorders[key] = recorder
            return recorder
        }
    }

    func counter(
        _ label: String, collection: String? = nil, _ kinds: (name: String, value: String)...
    ) -> any CounterHandler {
        made.withLock { [factory] made in
            let variant = kinds.isEmpty ? nil : kinds.map(\.value).joined(separator: " ")
            let key = Key(label: label, collection: collection, variant: variant)
            if let counter = made.counters[key] { return counter }
            var dimensions = collection.map { [(Names.collection, $0)] } ?? []
            for kind in kinds { dimensions.append((kind.name, kind.value)) }
            let counter = factory.makeCounter(label: label, dimensions: dimensions)
            made.counters[key] = counter
            return counter
        }
    }
}

extension CounterHandler {
    func increment() { increment(by: 1) }
}

extension TimerHandler {
    func record(_ duration: Duration) { recordNanoseconds(duration.wholeNanoseconds) }
}
