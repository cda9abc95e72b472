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
    private let hasTracer: Bool
    private let slowNanoseconds: Int64
    private let meters: Meters
    private let slowFetches = RateLimit()
    private let conflicts = RateLimit()
    /// Among those that tell of some stores; nil for one that tells of all of the process.
    private let claim: Int?
    /// Whether others' code is called by way of ``EventHub/callingOut(_:)`` only.
    let guardsCalls: Bool

    init(_ options: StrataTelemetry.Options, claim: Int? = nil) {
        self.options = options
        hasTracer = options.tracer != nil
        slowNanoseconds = options.slowFetch.wholeNanoseconds
        self.claim = claim
        let factory = options.metrics ?? MetricsSystem.factory
        meters = Meters(factory)
        // Its metrics are our own, which use no store.
        guardsCalls = type(of: factory) == StrataMetricsText.self
    }

    private var logger: Logger { options.logger ?? Logger.current }

    /// Asks the logger where it is: a copy of one costs more than its level.
    private func isLogged(_ level: Logger.Level) -> Bool {
        (options.logger?.logLevel ?? Logger.current.logLevel) <= level
    }

    /// Nil where nobody traces. To find a tracer among instruments takes casts, which cost more than all the rest.
    private var tracer: (any Tracer)? {
        if let tracer = options.tracer { return tracer }
        guard isTracing else { return nil }
        let tracer = InstrumentationSystem.tracer
        return tracer is NoOpTracer ? nil : tracer
    }

    /// Whether there may be a tracer, which is known from the instrument's type.
    private var isTracing: Bool {
        hasTracer || type(of: InstrumentationSystem.instrument) != NoOpInstrument.self
    }

    /// - Parameter parts: what was part of it.
    func record(_ event: StrataEvent, _ parts: EventParts) {
        // Asked once for all of them, if one wants to know.
        var isTraced: Bool?
        for fault in parts.faults where isTeller(of: fault.work.stores) { record(fault, &isTraced) }
        if let flush = parts.flush, isTeller(of: flush.work.stores) { record(flush) }
        record(event, &isTraced)
    }

    private func isTeller(of stores: @autoclosure () -> [EventStore]) -> Bool {
        guard let claim else { return true }
        return StoreClaims.telemetry.isTeller(claim, of: stores())
    }

    private func record(_ event: StrataEvent, _ isTraced: inout Bool?) {
        guard isTeller(of: event.stores) else { return }
        switch event {
        case .fetch(let fetch): record(fetch, &isTraced)
        case .save(let save): record(save, &isTraced)
        case .batch(let batch):
            finish(Self.kind(batch.operation), batch.entity, batch.work, &isTraced) {
                $0[Names.batchSize] = batch.objects
            }
        case .conflict(let conflict):
            record(conflict)
        case .flush(let flush): record(flush)
        case .fault(let fault): record(fault, &isTraced)
        case .wait(let wait):
            meters.handles(.wait(wait.reason)).timer?.record(wait.duration)
        case .compaction(let compaction): record(compaction, &isTraced)
        case .checkpoint(let work): finish(.checkpoint, nil, work, &isTraced)
        case .migration(let work): finish(.migrate, nil, work, &isTraced)
        case .opening(let work): finish(.open, nil, work, &isTraced)
        case .following(let follow):
            meters.timer("strata.follow.lag").record(follow.lag)
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

    private func record(_ fetch: any FetchEvent, _ isTraced: inout Bool?) {
        let (kind, entity) = (fetch.isCount ? Operation.Kind.count : .fetch, fetch.entity)
        if fetch.error == nil {
            let handles = meters.handles(.operation(kind), entity)
            handles.counter?.increment(by: Int64(fetch.rowsScanned))
            handles.recorder?.record(Int64(fetch.results))
            handles.timer?.recordNanoseconds(fetch.nanoseconds)
        } else {
            meters.counter("strata.rows.scanned", collection: entity).increment(by: Int64(fetch.rowsScanned))
            meters.recordFailure(kind, entity, fetch.work)
        }
        let isSlow = fetch.nanoseconds >= slowNanoseconds
        finish(kind, entity, fetch.work, &isTraced, level: .trace, isCounted: true) { attributes in
            attributes[Names.returnedRows] = fetch.results
            attributes[Names.rowsScanned] = fetch.rowsScanned
            if let plan = fetch.planText { attributes[Names.plan] = plan }
            if self.options.showsText {
                attributes[Names.queryText] = fetch.text(showsValues: self.options.showsValues)
            }
        }
        if isSlow { EventHub.callingOut { recordSlow(fetch, Operation(kind, entity, of: fetch.work)) } }
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

    private func record(_ save: SaveEvent, _ isTraced: inout Bool?) {
        if save.error == nil {
            meters.handles(.operation(.save), save.changes.entity).timer?.recordNanoseconds(save.nanoseconds)
        } else {
            meters.recordFailure(.save, save.changes.entity, save.work)
        }
        finish(.save, save.changes.entity, save.work, &isTraced, isCounted: true) { attributes in
            attributes[Names.batchSize] = save.changes.objects
            attributes[Names.waited] = save.waited / .seconds(1)
            if let sequence = save.sequence { attributes[Names.sequence] = Int(clamping: sequence) }
            if save.isToParent { attributes[Names.toParent] = true }
        }
    }

    private static func kind(_ operation: BatchEvent.Operation) -> Operation.Kind {
        switch operation {
        case .insert: .batchInsert
        case .update: .batchUpdate
        case .delete: .batchDelete
        }
    }

    private func record(_ fault: FaultEvent, _ isTraced: inout Bool?) {
        // What a request prefetches is looked up in batches, too, which come by themselves.
        let kind = fault.isPrefetch ? Operation.Kind.prefetch : .fault
        if fault.work.error == nil {
            let handles = meters.handles(.operation(kind), fault.entity)
            handles.counter?.increment(by: Int64(fault.rows))
            handles.timer?.recordNanoseconds(fault.work.nanoseconds)
        } else {
            if !fault.isPrefetch { meters.counter("strata.faults").increment(by: Int64(fault.rows)) }
            meters.recordFailure(kind, fault.entity, fault.work)
        }
        finish(kind, fault.entity, fault.work, &isTraced, isLogged: false, isCounted: true) {
            $0[Names.returnedRows] = fault.rows
        }
    }

    private func record(_ flush: FlushEvent) {
        let handles = meters.handles(.flush)
        handles.timer?.recordNanoseconds(flush.work.nanoseconds)
        handles.recorder?.record(Int64(flush.records))
    }

    private func record(_ compaction: CompactionEvent, _ isTraced: inout Bool?) {
        meters.timer("strata.compaction.duration").recordNanoseconds(compaction.work.nanoseconds)
        meters.counter("strata.compaction.bytes", ("kind", "freed")).increment(by: Int64(compaction.freedBytes))
        meters.counter("strata.compaction.bytes", ("kind", "written")).increment(by: Int64(compaction.writtenBytes))
        finish(.compact, nil, compaction.work, &isTraced) { attributes in
            attributes["strata.compaction.segments"] = compaction.segments
        }
    }

    private func record(_ conflict: ConflictEvent) {
        meters.handles(.conflict).counter?.increment()
        // One that is resolved is a retry, which is part of a save.
        if conflict.isResolved {
            meters.handles(.retry).counter?.increment()
            return
        }
        guard isLogged(.info) else { return }
        EventHub.callingOut {
            guard let suppressed = conflicts.admit(conflict.store.path) else { return }
            var metadata: Logger.Metadata = ["strata.path": "\(conflict.store.path)"]
            if suppressed > 0 { metadata["strata.suppressed"] = "\(suppressed)" }
            logger.info("conflict: \(conflict.summary)", metadata: metadata)
        }
    }

    /// Told once a place, and so worth an error.
    private func record(_ damage: DamageEvent) {
        meters.counter("strata.damage.met").increment()
        EventHub.callingOut {
            logger.error(
                "a place of a store cannot be read",
                metadata: [
                    "strata.path": "\(damage.store.path)", "error.type": "\(EventErrorText.type(of: damage.error))",
                ])
        }
    }

    // MARK: What all have

    /// - Parameters:
    ///   - work: asked for where it is needed: most operations are only counted.
    ///   - isCounted: its time is in the metrics already.
    ///   - attributes: adds what only this operation has; called when a span or a line needs it.
    private func finish(
        _ kind: Operation.Kind, _ collection: String?, _ work: @autoclosure () -> StoreWork, _ isTraced: inout Bool?,
        level: Logger.Level = .debug, isLogged: Bool = true, isCounted: Bool = false,
        _ attributes: (inout SpanAttributes) -> Void = { _ in }
    ) {
        if !isCounted { count(kind, collection, work()) }
        let isLogged = isLogged && self.isLogged(level)
        guard isLogged || self.isTraced(&isTraced) else { return }
        EventHub.callingOut {
            let operation = Operation(kind, collection, of: work())
            var added = SpanAttributes()
            attributes(&added)
            if let tracer { record(operation, added, in: tracer) }
            if isLogged { log(operation, added, level) }
        }
    }

    private func isTraced(_ known: inout Bool?) -> Bool {
        if let known { return known }
        let isTraced = isTracing
        known = isTraced
        return isTraced
    }

    private func log(_ operation: Operation, _ added: SpanAttributes, _ level: Logger.Level) {
        var metadata = self.metadata(of: operation)
        added.forEach { key, value in metadata[key] = "\(value.text)" }
        logger.log(
            level: level, operation.work.error == nil ? "\(operation.summary)" : "\(operation.summary) failed",
            metadata: metadata)
    }

    private func count(_ kind: Operation.Kind, _ collection: String?, _ work: StoreWork) {
        guard work.error == nil else { return meters.recordFailure(kind, collection, work) }
        meters.handles(.operation(kind), collection).timer?.recordNanoseconds(work.nanoseconds)
    }

    /// The span begins when the work began, and ends when that was over.
    private func record(_ operation: Operation, _ added: SpanAttributes, in tracer: any Tracer) {
        let now = DefaultTracerClock.now
        let end = Self.instant(now, before: operation.work.age)
        let start = Self.instant(end, before: operation.work.duration)
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

    private static func instant(
        _ instant: DefaultTracerClock.Timestamp, before duration: Duration
    ) -> DefaultTracerClock.Timestamp {
        let nanoseconds = UInt64(max(0, duration.wholeNanoseconds))
        return DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: instant.nanosecondsSinceEpoch - min(nanoseconds, instant.nanosecondsSinceEpoch))
    }

    private func metadata(of operation: Operation) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            Names.operation: "\(operation.name)", "strata.duration": "\(operation.work.seconds)",
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
