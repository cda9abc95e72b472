import Logging
import Metrics
import Strata
import StrataSupport
import Tracing

/// Turns the library's events into metrics, spans and lines of a log.
final class TelemetryRecorder: Sendable {
    static let kinds: EventKinds = [
        .fetch, .save, .batch, .conflict, .flush, .fault, .wait, .compaction, .checkpoint, .migration, .opening,
        .following, .damage, .shipping,
    ]

    private let options: StrataTelemetry.Options
    private let meters: Meters
    private let slowFetches = RateLimit()
    /// Among those that tell of some stores; nil for one that tells of all of the process.
    private let claim: Int?

    init(_ options: StrataTelemetry.Options, claim: Int? = nil) {
        self.options = options
        self.claim = claim
        meters = Meters(options.metrics ?? MetricsSystem.factory)
    }

    private var logger: Logger { options.logger ?? Logger.current }

    private func isLogged(_ level: Logger.Level) -> Bool { logger.logLevel <= level }

    /// Nil where nobody traces. That is known from the instrument's type; to find a tracer among instruments takes
    /// casts, which cost more than all the rest.
    private var tracer: (any Tracer)? {
        if let tracer = options.tracer { return tracer }
        if type(of: InstrumentationSystem.instrument) == NoOpInstrument.self { return nil }
        let tracer = InstrumentationSystem.tracer
        return tracer is NoOpTracer ? nil : tracer
    }

    func record(_ event: StrataEvent) {
        if let claim, !StoreClaims.telemetry.isTeller(claim, of: event.stores) { return }
        switch event {
        case .fetch(let fetch): record(fetch)
        case .save(let save): record(save)
        case .batch(let batch):
            let operation = Operation("batch_\(batch.operation.rawValue)", batch.entity, of: batch.work)
            finish(operation) { $0[Names.batchSize] = batch.objects }
        case .conflict(let conflict):
            meters.counter("strata.conflicts").increment()
            if conflict.isResolved { meters.counter("strata.retries").increment() }
        case .flush(let flush):
            meters.timer("strata.commit.flush.duration").record(duration: flush.work.duration)
            meters.recorder("strata.commit.batch.size").record(flush.records)
        case .fault(let fault):
            // What a request prefetches is looked up in batches, too, which come by themselves.
            if !fault.isPrefetch { meters.counter("strata.faults").increment(by: Int64(fault.rows)) }
            finish(Operation(fault.isPrefetch ? "prefetch" : "fault", fault.entity, of: fault.work), isLogged: false) {
                $0[Names.returnedRows] = fault.rows
            }
        case .wait(let wait): meters.timer("strata.\(wait.reason.rawValue).wait").record(duration: wait.duration)
        case .compaction(let compaction): record(compaction)
        case .checkpoint(let work): finish(Operation("checkpoint", of: work))
        case .migration(let work): finish(Operation("migrate", of: work))
        case .opening(let work): finish(Operation("open", of: work))
        case .following(let follow):
            meters.timer("strata.follow.lag").record(duration: follow.lag)
            meters.counter("strata.follow.transactions").increment(by: Int64(follow.transactions))
        case .damage(let damage): record(damage)
        case .shipping(let shipping):
            switch shipping.kind {
            case .request(let operation, let result):
                meters.counter("strata.ship.requests", ("operation", operation), ("result", result)).increment()
            case .gap: meters.counter("strata.ship.gap").increment()
            }
        }
    }

    // MARK: Requests

    private func record(_ fetch: any FetchEvent) {
        meters.record(fetch)
        let isSlow = fetch.duration >= options.slowFetch
        let tracer = tracer
        // Most fetches are only counted: nothing is made for those.
        guard isSlow || tracer != nil || isLogged(.trace) else { return }
        let operation = Operation(fetch)
        finish(operation, level: .trace, isCounted: true) { attributes in
            attributes[Names.returnedRows] = fetch.results
            attributes[Names.rowsScanned] = fetch.rowsScanned
            if let plan = fetch.planText { attributes[Names.plan] = plan }
            if self.options.showsText {
                attributes[Names.queryText] = fetch.text(showsValues: self.options.showsValues)
            }
        }
        if isSlow { recordSlow(fetch, operation) }
    }

    private func recordSlow(_ fetch: any FetchEvent, _ operation: Operation) {
        // By how rows were found, and so as many values as the entity has indexes, and a few.
        let plan = fetch.planText ?? "none"
        meters.counter("strata.fetch.slow", collection: fetch.entity, (Names.plan, plan)).increment()
        let logger = logger
        guard logger.logLevel <= .info else { return }
        // Requests that differ in their constants have one plan.
        let text = fetch.text(showsValues: false)
        guard let suppressed = slowFetches.admit(text) else { return }
        var metadata = self.metadata(of: operation)
        metadata[Names.returnedRows] = "\(fetch.results)"
        metadata[Names.rowsScanned] = "\(fetch.rowsScanned)"
        if let plan = fetch.planText { metadata[Names.plan] = "\(plan)" }
        if suppressed > 0 { metadata["strata.suppressed"] = "\(suppressed)" }
        if options.showsText {
            metadata[Names.queryText] = "\(options.showsValues ? fetch.text(showsValues: true) : text)"
        }
        logger.info("slow \(operation.summary)", metadata: metadata)
    }

    private func record(_ save: SaveEvent) {
        let objects = save.inserted + save.updated + save.deleted
        finish(Operation("save", save.entity, of: save.work)) { attributes in
            attributes[Names.batchSize] = objects
            attributes[Names.waited] = save.waited / .seconds(1)
            if let sequence = save.sequence { attributes[Names.sequence] = Int(clamping: sequence) }
            if save.isToParent { attributes[Names.toParent] = true }
        }
    }

    private func record(_ compaction: CompactionEvent) {
        meters.timer("strata.compaction.duration").record(duration: compaction.work.duration)
        meters.counter("strata.compaction.bytes", ("kind", "freed")).increment(by: Int64(compaction.freedBytes))
        meters.counter("strata.compaction.bytes", ("kind", "written")).increment(by: Int64(compaction.writtenBytes))
        finish(Operation("compact", of: compaction.work)) { attributes in
            attributes["strata.compaction.segments"] = compaction.segments
        }
    }

    /// Told once a place, and so worth an error.
    private func record(_ damage: DamageEvent) {
        meters.counter("strata.damage.met").increment()
        logger.error(
            "a place of a store cannot be read",
            metadata: ["strata.path": "\(damage.store)", "error.type": "\(EventErrorText.type(of: damage.error))"])
    }

    // MARK: What all have

    /// - Parameters:
    ///   - isCounted: its time is in the metrics already.
    ///   - attributes: adds what only this operation has; called when a span or a line needs it.
    private func finish(
        _ operation: Operation, level: Logger.Level = .debug, isLogged: Bool = true, isCounted: Bool = false,
        _ attributes: (inout SpanAttributes) -> Void = { _ in }
    ) {
        if !isCounted { meters.duration(of: operation) }
        var all: SpanAttributes?
        func added() -> SpanAttributes {
            if let all { return all }
            var made = SpanAttributes()
            attributes(&made)
            all = made
            return made
        }
        if let tracer { record(operation, added(), in: tracer) }
        guard isLogged, self.isLogged(level) else { return }
        var metadata = self.metadata(of: operation)
        added().forEach { key, value in metadata[key] = "\(value.text)" }
        logger.log(
            level: level, operation.work.error == nil ? "\(operation.summary)" : "\(operation.summary) failed",
            metadata: metadata)
    }

    /// The span begins when the work began, which is over now.
    private func record(_ operation: Operation, _ added: SpanAttributes, in tracer: any Tracer) {
        let end = DefaultTracerClock.now
        let nanoseconds = UInt64(max(0, operation.work.duration / .nanoseconds(1)))
        let start = DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - min(nanoseconds, end.nanosecondsSinceEpoch))
        let span = tracer.startSpan(operation.summary, ofKind: .internal, at: start)
        span.updateAttributes { attributes in
            attributes[Names.system] = Names.strata
            attributes[Names.operation] = operation.name
            attributes[Names.summary] = operation.summary
            if let name = operation.namespace { attributes[Names.namespace] = name }
            if let name = operation.collection { attributes[Names.collection] = name }
            if let type = operation.errorType { attributes[Names.errorType] = type }
            if let code = operation.statusCode { attributes[Names.statusCode] = code }
            attributes.merge(added)
        }
        // Not the error itself: its description may have users' values.
        if let type = operation.errorType { span.setStatus(SpanStatus(code: .error, message: type)) }
        span.end(at: end)
    }

    private func metadata(of operation: Operation) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            Names.operation: "\(operation.name)", "strata.duration": "\(operation.work.duration / .seconds(1))",
        ]
        if let name = operation.collection { metadata[Names.collection] = "\(name)" }
        if let name = operation.namespace { metadata[Names.namespace] = "\(name)" }
        if let type = operation.errorType { metadata[Names.errorType] = "\(type)" }
        return metadata
    }
}

extension FetchEvent {
    /// How rows were found, such as `ordered index Book.byTitle`.
    var planText: String? { path.map { path in index.map { "\(path) \($0)" } ?? path } }
}

extension SpanAttribute {
    fileprivate var text: String {
        switch self {
        case .string(let value): value
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        default: "\(self)"
        }
    }
}
