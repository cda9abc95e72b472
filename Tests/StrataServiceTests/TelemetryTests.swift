import CoreData
import CoreMetrics
import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import StrataService
import Testing
import Tracing

@Suite struct TelemetryTests {
    /// Telemetry of its own, and what it says of one entity.
    private final class Probe: Sendable {
        let fixture: ServiceFixture
        let tracer = InMemoryTracer()
        let metrics = TestMetrics()
        let log = InMemoryLogHandler()
        let telemetry: StrataTelemetry

        init(_ change: (inout StrataTelemetry.Options) -> Void = { _ in }) throws {
            fixture = try ServiceFixture()
            var options = StrataTelemetry.Options()
            options.tracer = tracer
            options.metrics = metrics
            var logger = Logger(label: "test") { [log] _ in log }
            logger.logLevel = .trace
            options.logger = logger
            change(&options)
            telemetry = StrataTelemetry.start(options)
        }

        deinit { telemetry.stop() }

        var entity: String { fixture.entity }
        /// A new one.
        var context: NSManagedObjectContext { fixture.container.newBackgroundContext() }

        var spans: [FinishedInMemorySpan] {
            tracer.finishedSpans.filter { $0.attributes.get("db.collection.name") == .string(entity) }
        }

        func lines(_ level: Logger.Level) -> [InMemoryLogHandler.Entry] {
            log.entries.filter { $0.level == level && $0.metadata["db.collection.name"] == "\(entity)" }
        }

        /// Runs a block with a context of its own.
        func perform<T: Sendable>(_ body: @escaping (NSManagedObjectContext) throws -> T) async throws -> T {
            try await fixture.container.performBackgroundTask(body)
        }

        func fill(_ count: Int = 5) async throws {
            try await perform { [fixture] context in
                ServiceFixture.add(count, fixture.entity, context)
                try context.save()
            }
        }
    }

    @Test func aFetchInPerformIsAChildOfTheRequestsSpan() async throws {
        let probe = try Probe()
        try await probe.fill()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    await probe.tracer.withSpan("request \(number)") { span in
                        let seen = try? await probe.perform { [entity = probe.entity] context in
                            _ = try context.fetch(ServiceFixture.request(entity))
                            return InstrumentationContext.current?.inMemorySpanContext?.spanID
                        }
                        #expect(seen == span.context.inMemorySpanContext?.spanID)
                    }
                }
            }
        }
        let requests = Set(probe.tracer.finishedSpans.filter { $0.operationName.hasPrefix("request ") }.map(\.spanID))
        let fetches = probe.spans.filter { $0.operationName == "fetch \(probe.entity)" }
        #expect(requests.count == 20 && fetches.count == 20)
        #expect(Set(fetches.compactMap(\.parentSpanID)) == requests)
    }

    @Test func spansHaveTheNamesOfTheConventions() async throws {
        let probe = try Probe { $0.showsRequests = true }
        let (entity, context) = (probe.entity, probe.context)
        try await context.perform {
            ServiceFixture.add(5, entity, context)
            try context.save()
            _ = try context.fetch(ServiceFixture.request(entity, "title == %@", "Secret"))
            _ = try context.count(for: ServiceFixture.request(entity))
        }
        let spans = probe.spans
        try #require(spans.map(\.operationName) == ["save \(entity)", "fetch \(entity)", "count \(entity)"])
        let (save, fetch, count) = (spans[0].attributes, spans[1].attributes, spans[2].attributes)
        #expect(fetch.get("db.system.name") == .string("strata"))
        #expect(fetch.get("db.namespace") == .string("books"))
        #expect(fetch.get("db.operation.name") == .string("fetch"))
        #expect(fetch.get("db.query.summary") == .string("fetch \(entity)"))
        #expect(fetch.get("db.query.text") == .string("fetch \(entity) WHERE title == ?"))
        #expect(fetch.get("db.response.returned_rows") == .int64(0))
        #expect(fetch.get("strata.rows.scanned") == .int64(5))
        #expect(fetch.get("strata.plan") == .string("compiled scan"))
        #expect(save.get("db.operation.batch.size") == .int64(5))
        #expect(save.get("strata.sequence") != nil)
        #expect(count.get("db.response.returned_rows") == .int64(5))
        #expect(!"\(probe.tracer.finishedSpans)\(probe.log.entries)".contains("Secret"))
    }

    @Test func failuresAreNamedByDomainAndCodeWithoutValues() async throws {
        let probe = try Probe()
        let (entity, context) = (probe.entity, probe.context)
        await #expect(throws: (any Error).self) {
            try await context.perform {
                _ = try context.fetch(ServiceFixture.request(entity, "colour == %@", "Secret"))
            }
        }
        let span = try #require(probe.spans.first)
        #expect(span.attributes.get("error.type") == .string("NSCocoaErrorDomain:134070"))
        #expect(span.attributes.get("db.response.status_code") == .string("134070"))
        #expect(span.status?.code == .error)
        let timer = try probe.metrics.expectTimer(
            "db.client.operation.duration",
            [
                ("db.system.name", "strata"), ("db.operation.name", "fetch"), ("db.collection.name", entity),
                ("error.type", "NSCocoaErrorDomain:134070"),
            ])
        #expect(timer.values.count == 1)
        #expect(probe.lines(.trace).contains { $0.message == "fetch \(entity) failed" })
        #expect(!"\(span)\(probe.log.entries)".contains("Secret"))
    }

    @Test func metricsCountEveryRequestOfManyTasks() async throws {
        let probe = try Probe()
        try await probe.fill(10)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    for _ in 0..<25 {
                        try await probe.perform { [entity = probe.entity] in
                            _ = try $0.fetch(ServiceFixture.request(entity))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let fetches = try probe.metrics.expectTimer(
            "db.client.operation.duration",
            [("db.system.name", "strata"), ("db.operation.name", "fetch"), ("db.collection.name", probe.entity)])
        #expect(fetches.values.count == 400)
        let rows = try probe.metrics.expectRecorder(
            "db.client.response.returned_rows", [("db.collection.name", probe.entity)])
        #expect(rows.values.reduce(0, +) == 4_000)
        #expect(probe.metrics.timers(label: "strata.commit.flush.duration").first?.values.isEmpty == false)
    }

    /// Without a logger of its own the request's is used, with what the request put into it.
    @Test func linesGoToTheRequestsLogger() async throws {
        let probe = try Probe { $0.logger = nil }
        try await probe.fill()
        var logger = Logger(label: "request") { [log = probe.log] _ in log }
        logger.logLevel = .trace
        logger[metadataKey: "request.id"] = "r1"
        try await withLogger(logger) { _ in
            try await probe.perform { [entity = probe.entity] context in
                _ = try? context.fetch(ServiceFixture.request(entity))
                Logger.current.info("handled", metadata: ["db.collection.name": "\(entity)"])
            }
        }
        #expect(probe.lines(.trace).map { $0.metadata["request.id"] } == ["r1"])
        #expect(probe.lines(.info).map { $0.metadata["request.id"] } == ["r1"])
    }

    @Test func aSlowFetchIsLoggedOnceASecondAndCountedAlways() async throws {
        let probe = try Probe { $0.slowFetch = .zero }
        let (entity, context) = (probe.entity, probe.context)
        try await probe.fill()
        let began = ContinuousClock.now
        try await context.perform {
            for number in 0..<50 { _ = try context.fetch(ServiceFixture.request(entity, "title == %@", "T\(number)")) }
            _ = try context.fetch(ServiceFixture.request(entity))
        }
        let seconds = Int((ContinuousClock.now - began) / .seconds(1))
        let slow = probe.lines(.info)
        #expect(slow.count >= 2 && slow.count <= 2 + seconds, "one a plan: \(slow)")
        #expect(slow.allSatisfy { $0.message == "slow fetch \(entity)" && $0.metadata["strata.plan"] != nil })
        #expect(slow.allSatisfy { $0.metadata["db.query.text"] == nil }, "nobody has asked for it")
        for (plan, count) in [("compiled scan", 50), ("all rows", 1)] {
            let counter = try probe.metrics.expectCounter(
                "strata.fetch.slow", [("db.collection.name", entity), ("strata.plan", plan)])
            #expect(counter.totalValue == count)
        }
    }

    @Test func aConflictIsLoggedWithPropertiesAndTransactionOnceASecond() async throws {
        let probe = try Probe()
        try await probe.fill(1)
        let (entity, one, other) = (probe.entity, probe.context, probe.context)
        let began = ContinuousClock.now
        for number in 0..<20 {
            for context in [one, other] {
                try await context.perform {
                    let object = try context.fetch(ServiceFixture.request(entity))[0]
                    object.setValue("Secret \(number)", forKey: "title")
                }
            }
            try await one.perform { try one.save() }
            await other.perform {
                #expect(throws: CocoaError.self) { try other.save() }
                other.reset()
            }
        }
        let seconds = Int((ContinuousClock.now - began) / .seconds(1))
        let conflicts = probe.log.entries.filter { "\($0.message)".hasPrefix("conflict: \(entity)/p") }
        #expect((1...1 + seconds).contains(conflicts.count), "\(conflicts)")
        let first = try #require(conflicts.first)
        #expect(first.level == .info && first.metadata["strata.path"] != nil)
        #expect("\(first.message)".hasSuffix(": others set title until transaction 2, this save sets title"))
    }

    /// A label takes a value for each way to find rows, whatever users ask for; what failed before it had one, too.
    @Test func slowFetchesAreCountedByPlansAndNotByValues() async throws {
        let probe = try Probe { $0.slowFetch = .zero }
        let (entity, context) = (probe.entity, probe.context)
        try await probe.fill()
        try await context.perform {
            for number in 0..<300 {
                _ = try context.count(for: ServiceFixture.request(entity, "title == %@", "Secret \(number)"))
            }
            _ = try? context.fetch(ServiceFixture.request(entity, "colour == %@", "Secret"))
        }
        let counters = probe.metrics.counters.filter {
            $0.label == "strata.fetch.slow" && $0.dimensions.contains { $0 == ("db.collection.name", entity) }
        }
        let plans = counters.compactMap { $0.dimensions.first { $0.0 == "strata.plan" }?.1 }
        #expect(Set(plans) == ["compiled scan", "none"], "\(plans)")
        #expect(counters.reduce(0) { $0 + $1.totalValue } == 301)
    }

    @Test func aFetchInAPoolsContextIsAChildOfTheRequestsSpan() async throws {
        let probe = try Probe()
        let (entity, pool) = (probe.entity, probe.fixture.pool)
        try await probe.tracer.withSpan("request") { span in
            _ = try await pool.withContext(.reading) { try $0.fetch(ServiceFixture.request(entity)).count }
            #expect(probe.spans.map(\.parentSpanID) == [span.context.inMemorySpanContext?.spanID])
        }
    }

    @Test func nothingIsToldAfterTheEnd() async throws {
        let probe = try Probe()
        try await probe.fill()
        probe.telemetry.stop()
        let before = probe.spans.count
        try await probe.perform { [entity = probe.entity] context in
            _ = try context.fetch(ServiceFixture.request(entity))
        }
        #expect(probe.spans.count == before)
    }

    @Test func theMetricsFactoryOfTheTaskReachesTheBlock() async throws {
        let probe = try Probe()
        let metrics = TestMetrics()
        try await withMetricsFactory(metrics) {
            try await probe.perform { _ in Counter(label: "mine").increment() }
        }
        #expect(metrics.counterTotal(label: "mine") == 1)
    }
}
