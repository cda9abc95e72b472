import CoreData
import Foundation
import MetricsTestKit
import ServiceLifecycleTestKit
import Strata
import StrataLog
import StrataSupport
import Synchronization
import Testing

@testable import StrataService

/// Several services, stores and coordinators in one process.
@Suite struct ManyStoresTests {
    private static func service(_ container: NSPersistentContainer, _ metrics: TestMetrics) -> StrataStore {
        var options = StrataStore.Options()
        options.metricsInterval = .milliseconds(20)
        options.telemetry?.metrics = metrics
        options.minimumFreeBytes = 0
        options.pool.timeLimit = ServiceFixture.patience
        return StrataStore(container, options)
    }

    private static func wait(_ what: String, until isThere: () throws -> Bool) async throws {
        for _ in 0..<60_000 {
            if try isThere() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(what) never came")
    }

    /// How often a store was saved, as the metrics have it.
    private static func saves(_ metrics: TestMetrics, _ entity: String) -> Int {
        metrics.timers.filter { timer in
            timer.label == "db.client.operation.duration"
                && timer.dimensions.contains { $0 == ("db.operation.name", "save") }
                && timer.dimensions.contains { $0 == ("db.collection.name", entity) }
        }.reduce(0) { $0 + $1.values.count }
    }

    @Test func gaugesOfStoresWithOneNameStayApart() async throws {
        let (first, second, metrics) = (
            try ServiceFixture(loads: false), try ServiceFixture(loads: false), TestMetrics()
        )
        func stores() -> Set<String> {
            Set(
                metrics.recorders(label: "strata.segments").compactMap { gauge in
                    gauge.dimensions.first { $0.0 == "strata.store.uuid" }?.1
                })
        }
        try await testGracefulShutdown { others in
            async let staying: Void = Self.service(first.container, metrics).run()
            try await Self.wait("the gauges of one") { stores().count == 1 }
            let one = stores()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Self.service(second.container, metrics).run() }
                try await Self.wait("the gauges of both") { stores().count == 2 }
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.waitForAll() }
            }
            // Those of the one that ended go, and no others.
            #expect(stores() == one)
            others.triggerGracefulShutdown()
            try await staying
        }
        #expect(stores().isEmpty)
    }

    @Test func checkpointsAndDescriptorsAreGauged() async throws {
        let (fixture, metrics) = (try ServiceFixture(), TestMetrics())
        let (entity, coordinator) = (fixture.entity, fixture.container.persistentStoreCoordinator)
        try await fixture.pool.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
        // Closing writes a checkpoint.
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        func last(_ label: String, _ kind: String? = nil) -> Double? {
            metrics.recorders(label: label).first { gauge in
                kind.map { kind in gauge.dimensions.contains { $0 == ("kind", kind) } } ?? true
            }?.lastValue
        }
        try await testGracefulShutdown { trigger in
            async let running: Void = Self.service(fixture.container, metrics).run()
            try await Self.wait("a checkpoint") { last("strata.checkpoint.age") != nil }
            #expect(last("strata.checkpoint.age").map { $0 < 3_600 } == true)
            #expect(last("strata.store.size", "checkpoint").map { $0 > 100 } == true)
            #expect(last("strata.descriptors").map { $0 > 3 } == true)
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func whatTwoServicesSeeIsCountedOnce() async throws {
        let (fixture, metrics) = (try ServiceFixture(), TestMetrics())
        let entity = fixture.entity
        let other = ServiceFixture.container(entity, fixture.folder)
        try await testGracefulShutdown { trigger in
            let services = [Self.service(fixture.container, metrics), Self.service(other, metrics)]
            async let first: Void = services[0].run()
            async let second: Void = services[1].run()
            for service in services {
                try await service.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            }
            #expect(Self.saves(metrics, entity) == 2)
            trigger.triggerGracefulShutdown()
            _ = try await (first, second)
        }
    }

    @Test func storesThatAreAddedLaterAreToldOf() async throws {
        let (fixture, metrics) = (try ServiceFixture(), TestMetrics())
        let entity = fixture.entity
        let service = Self.service(fixture.container, metrics)
        try await testGracefulShutdown { trigger in
            async let running: Void = service.run()
            try await service.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            let before = Self.saves(metrics, entity)
            let later = try fixture.container.persistentStoreCoordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.folder.appendingPathComponent("later"))
            let url = try #require(later.url)
            for _ in 0..<60_000 {
                try await service.withContext(.writing) { context in
                    let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    book.setValue("T", forKey: "title")
                    if let store = context.persistentStoreCoordinator?.persistentStore(for: url) {
                        context.assign(book, to: store)
                    }
                }
                if Self.saves(metrics, entity) > before { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(Self.saves(metrics, entity) > before)
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func ofSeveralThatCouldTellTheFirstDoes() {
        let claims = StoreClaims(.status)
        let (first, second) = (claims.add(["a"]), claims.add(["a", "b"]))
        func tellers(_ paths: [String]) -> [Bool] {
            [first, second].map { claims.isTeller($0, of: paths.map(EventStore.at)) }
        }
        #expect(tellers(["a"]) == [true, false] && tellers(["b"]) == [false, true])
        #expect(tellers(["a", "b"]) == [true, false] && tellers([]) == [true, false])
        #expect(tellers(["c"]) == [false, false])
        claims.set(["c"], of: first)
        #expect(tellers(["a"]) == [false, true] && tellers(["c"]) == [true, false])
        claims.remove(first)
        #expect(tellers([]) == [false, true] && tellers(["c"]) == [false, false])
    }

    @Test func whatSeveralStoresTakePartInCountsForEachStatus() throws {
        let fixture = try ServiceFixture()
        let log = try #require(fixture.container.persistentStoreCoordinator.persistentStores.first?.logOnDisk)
        let recorder = StatusRecorder()
        for path in ["a", "b", "c"] { recorder.follow(.at(path)) }
        recorder.record(.save(SaveEvent(stores: [.at("a"), .at("b")], nanoseconds: 1_000_000_000, changes: .init())))
        let saves = try ["a", "b", "c"].map { path in
            let status = try #require(recorder.status(of: .at(path), log.statistics, interval: .seconds(1)))
            return (status.counters.saves, status.slow.count)
        }
        #expect(saves.map(\.0) == [1, 1, 0] && saves.map(\.1) == [1, 1, 0])
    }

    /// Waits in the middle of opening.
    private final class SlowContainer: NSPersistentContainer, @unchecked Sendable {
        let isOpening = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
        let isOpen = DispatchSemaphore(value: 0)

        override func loadPersistentStores(
            completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
        ) {
            isOpening.signal()
            mayGoOn.wait()
            super.loadPersistentStores(completionHandler: block)
            isOpen.signal()
        }
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread {
                body()
                continuation.resume()
            }.start()
        }
    }

    @Test func aStoreThatOpensAfterItsTaskWasCancelledIsClosed() async throws {
        let fixture = try ServiceFixture(loads: false)
        let container = SlowContainer(name: "Slow", managedObjectModel: fixture.container.managedObjectModel)
        container.persistentStoreDescriptions = fixture.container.persistentStoreDescriptions
        let running = Task { try await Self.service(container, TestMetrics()).run() }
        await Self.onThread { container.isOpening.wait() }
        running.cancel()
        container.mayGoOn.signal()
        await #expect(throws: CancellationError.self) { try await running.value }
        await Self.onThread { container.isOpen.wait() }
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }

    @Test func whoRefusesWritesIsReadyAndCannotWrite() {
        let damaged = StrataHealth(status: .degraded, reasons: [.damage(store: "s", places: 1)])
        let refusing = StrataHealth(status: .degraded, reasons: [.refusesWrites(store: "s")])
        #expect(damaged.isReady && damaged.canWrite && refusing.isReady && !refusing.canWrite)
        #expect(!StrataHealth(status: .draining, reasons: []).canWrite)
    }
}
