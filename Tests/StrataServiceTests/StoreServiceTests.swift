import CoreData
import Foundation
import InMemoryLogging
import Logging
import MetricsTestKit
import ServiceLifecycle
import ServiceLifecycleTestKit
import StrataService
import StrataShip
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@Suite struct StoreServiceTests {
    private func options(_ metrics: TestMetrics = TestMetrics()) -> StrataStore.Options {
        var options = StrataStore.Options()
        options.metricsInterval = .milliseconds(20)
        options.telemetry?.metrics = metrics
        options.minimumFreeBytes = 0
        options.pool.timeLimit = ServiceFixture.patience
        return options
    }

    @Test func aShippedStoreIsInTheBucketWhenTheGroupHasEnded() async throws {
        let fixture = try ServiceFixture(loads: false)
        let (entity, metrics, objects) = (fixture.entity, TestMetrics(), SimulatedObjectStore())
        let store = StrataStore(fixture.container, options())
        let shipping = StrataShipping(
            ShippedStore(fixture.container, to: objects), metrics: metrics, metricsInterval: .milliseconds(20))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [shipping, store], logger: logger)
        let running = Task { try await group.run() }
        try await store.withContext(.writing) { ServiceFixture.add(3, entity, $0) }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(shipping.store.status.unshippedBytes == 0 && shipping.store.status.sequence > 0)
        let plan = try await LogRestorer(from: objects).plan()
        #expect(plan.transaction?.sequence == shipping.store.status.sequence)
        for label in ["strata.ship.unshipped", "strata.ship.lag", "strata.ship.failing"] {
            #expect(metrics.recorders(label: label).first?.lastValue == 0)
        }
        #expect(metrics.recorders(label: "strata.ship.epoch").first?.lastValue == 1)
        #expect(metrics.recorders(label: "strata.ship.fenced").first?.lastValue == 0)
    }

    @Test func aStoreThatAnotherMachineHasTakenOverIsFenced() async throws {
        let fixture = try ServiceFixture()
        let (entity, metrics, objects) = (fixture.entity, TestMetrics(), SimulatedObjectStore())
        var ship = ShipOptions()
        ship.interval = .milliseconds(10)
        let shipping = StrataShipping(
            ShippedStore(fixture.container, to: objects, options: ship), metrics: metrics,
            metricsInterval: .milliseconds(10))
        let running = Task { try await shipping.run() }
        func save() async throws {
            try await fixture.container.performBackgroundTask { context in
                ServiceFixture.add(1, entity, context)
                try context.save()
            }
        }
        try await save()
        for _ in 0..<1_000 where shipping.store.status.sequence == 0 { try await Task.sleep(for: .milliseconds(10)) }
        // What is restored to go on in its place.
        let other = fixture.folder.appendingPathComponent("restored")
        var restore = RestoreOptions()
        restore.takesOver = true
        _ = try await LogRestorer(from: objects).restore(to: FilePath(other.path), options: restore)
        try? await save()
        let error = await #expect(throws: ShipError.self) { try await running.value }
        #expect(error?.code == .fenced)
        #expect(metrics.recorders(label: "strata.ship.fenced").first?.lastValue == 1)
        #expect(metrics.recorders(label: "strata.ship.epoch").first?.lastValue == 1)
    }

    @Test func hitsOfTheCacheAreCountedOnAndFreeSpaceIsTold() async throws {
        let fixture = try ServiceFixture(loads: false)
        let (entity, metrics) = (fixture.entity, TestMetrics())
        let store = StrataStore(fixture.container, options(metrics))
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(100, entity, $0) }
            func count(_ label: String) -> Int64 {
                metrics.counters.filter { $0.label == label }.reduce(0) { $0 + $1.totalValue }
            }
            for _ in 0..<1_000 where count("strata.cache.hits") == 0 {
                try await store.withContext(.reading) { context in
                    for book in try context.fetch(ServiceFixture.request(entity)) {
                        context.refresh(book, mergeChanges: false)
                        _ = book.value(forKey: "title")
                    }
                }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(count("strata.cache.hits") > 0)
            let free = try #require(metrics.recorders(label: "strata.disk.free").first)
            #expect(free.dimensions.contains { $0 == ("db.namespace", "books") })
            #expect((free.lastValue ?? 0) > 1_000_000)
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func requestsWaitUntilTheStoresAreOpenAndTheEndIsInOrder() async throws {
        let fixture = try ServiceFixture(loads: false)
        let (entity, metrics) = (fixture.entity, TestMetrics())
        let store = StrataStore(fixture.container, options(metrics))
        #expect(store.health.status == .starting)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let early = Task {
                    try await store.withContext(.writing) { ServiceFixture.add(3, entity, $0) }
                }
                try await Task.sleep(for: .milliseconds(20))
                group.addTask { try await store.run() }
                try await early.value
                #expect(store.health.status == .ready && store.health.reasons.isEmpty)
                #expect(store.health.isReady)
                for _ in 0..<60_000 {
                    if !metrics.recorders(label: "strata.store.size").isEmpty { break }
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(!metrics.recorders(label: "strata.store.size").isEmpty)
                // A request that is there when the shutdown begins is finished.
                let began = Mutex(false)
                let late = Task {
                    try await store.withContext(.writing) { context in
                        began.withLock { $0 = true }
                        Thread.sleep(forTimeInterval: 0.2)
                        ServiceFixture.add(2, entity, context)
                    }
                }
                while !began.withLock({ $0 }) { await Task.yield() }
                try await Task.sleep(for: .milliseconds(50))
                trigger.triggerGracefulShutdown()
                try await late.value
                try await group.waitForAll()
            }
        }
        #expect(store.health.status == .closed)
        #expect(fixture.container.persistentStoreCoordinator.persistentStores.isEmpty)
        let error = await #expect(throws: StrataPoolError.self) { try await store.withContext(.reading) { _ in } }
        #expect(error?.code == .closed)
        #expect(metrics.recorders(label: "strata.store.size").isEmpty, "gauges end with the service")
        let saves = try metrics.expectTimer(
            "db.client.operation.duration",
            [("db.system.name", "strata"), ("db.operation.name", "save"), ("db.collection.name", entity)])
        #expect(saves.values.count == 2, "of other stores in this process it tells nothing")
        #expect(
            metrics.timers(label: "db.client.operation.duration").allSatisfy { timer in
                !timer.dimensions.contains { $0.0 == "db.collection.name" && $0.1 != entity }
            })
        // What was acknowledged is there for the next process.
        let again = ServiceFixture.container(entity, fixture.folder)
        again.loadPersistentStores { _, error in #expect(error == nil) }
        let count = try await again.performBackgroundTask { try $0.count(for: ServiceFixture.request(entity)) }
        #expect(count == 5)
        try await again.persistentStoreCoordinator.close()
    }

    @Test func aStoreThatCannotBeOpenedEndsTheService() async throws {
        let fixture = try ServiceFixture(loads: false)
        try Data("not a store".utf8).write(to: fixture.folder.appendingPathComponent("books"))
        let store = StrataStore(fixture.container, options())
        let waiting = Task { try await store.withContext(.reading) { _ in } }
        await #expect(throws: (any Error).self) { try await store.run() }
        #expect(store.health.status == .failed && !store.health.isReady)
        await #expect(throws: StrataPoolError.self) { try await waiting.value }
    }

    @Test func whoWaitsForStoresThatNobodyOpensIsTold() async throws {
        let fixture = try ServiceFixture(loads: false)
        let store = StrataStore(fixture.container, options())
        let error = await #expect(throws: StrataPoolError.self) {
            try await store.withContext(.reading, timeLimit: .milliseconds(20)) { _ in }
        }
        #expect(error?.code == .notOpen)
    }

    @Test func aGroupOfServicesUnderLoadLosesNothing() async throws {
        struct Load: Service {
            let store: StrataStore
            let entity: String
            let acknowledged: @Sendable () -> Void

            func run() async throws {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<16 {
                        group.addTask {
                            while !Task.isShuttingDownGracefully {
                                do {
                                    try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
                                    acknowledged()
                                } catch {}
                            }
                        }
                    }
                }
            }
        }
        let fixture = try ServiceFixture(loads: false)
        let entity = fixture.entity
        let store = StrataStore(fixture.container, options())
        let count = Mutex(0)
        let load = Load(store: store, entity: entity) { count.withLock { $0 += 1 } }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: store),
                    .init(service: load, successTerminationBehavior: .gracefullyShutdownGroup),
                ], logger: Logger(label: "test")))
        let running = Task { try await group.run() }
        while count.withLock({ $0 }) < 50 { try await Task.sleep(for: .milliseconds(5)) }
        await group.triggerGracefulShutdown()
        try await running.value
        let again = ServiceFixture.container(entity, fixture.folder)
        again.loadPersistentStores { _, error in #expect(error == nil) }
        let found = try await again.performBackgroundTask { try $0.count(for: ServiceFixture.request(entity)) }
        #expect(found == count.withLock { $0 })
        try await again.persistentStoreCoordinator.close()
    }

    @Test func healthNamesAFullDiskAndAConsumerThatIsBehind() async throws {
        let fixture = try ServiceFixture(loads: false)
        let (entity, container) = (fixture.entity, fixture.container)
        container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        var options = options()
        options.minimumFreeBytes = .max
        options.maximumConsumerLag = 2
        let log = InMemoryLogHandler()
        options.telemetry?.logger = Logger(label: "test") { _ in log }
        let store = StrataStore(container, options)
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            let coordinator = container.persistentStoreCoordinator
            let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
            try coordinator.acknowledgeHistory(upTo: token, by: "search")
            for _ in 0..<3 { try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) } }
            let health = store.health
            #expect(health.status == .degraded && health.isReady)
            let texts = health.reasons.map(\.description).joined(separator: "\n")
            #expect(texts.contains("bytes are free on its disk"), "\(texts)")
            #expect(texts.contains("consumer search is "), "\(texts)")
            func warnings() -> [String] { log.entries.filter { $0.level == .warning }.map { "\($0.metadata)" } }
            for _ in 0..<30_000 {
                if warnings().contains(where: { $0.contains("consumer search") }) { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            // Each is said once, however often it is looked at.
            try await Task.sleep(for: .milliseconds(200))
            let warnings = warnings()
            #expect(warnings.count { $0.contains("on its disk") } == 1, "\(warnings)")
            #expect(warnings.count { $0.contains("consumer search") } == 1, "\(warnings)")
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func aConsumerThatIsRemovedHasNoLag() async throws {
        let fixture = try ServiceFixture(loads: false)
        let (entity, container, metrics) = (fixture.entity, fixture.container, StrataMetricsText())
        container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        var options = options()
        options.metricsInterval = .milliseconds(10)
        options.telemetry?.metrics = metrics
        let store = StrataStore(container, options)
        func wait(until isThere: Bool) async throws {
            for _ in 0..<1_000 where metrics.text().contains("consumer=\"search\"") != isThere {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(metrics.text().contains("consumer=\"search\"") == isThere)
        }
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            let coordinator = container.persistentStoreCoordinator
            let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
            try coordinator.acknowledgeHistory(upTo: token, by: "search")
            try await wait(until: true)
            try coordinator.removeHistoryConsumer("search")
            try await wait(until: false)
            #expect(metrics.text().contains("strata_store_size{"))
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    /// Another process serves the same store for reading, sees what is written meanwhile, and ends in order.
    @Test func aSecondProcessServesReaders() async throws {
        let fixture = try ServiceFixture(loads: false)
        let (entity, folder) = (fixture.entity, fixture.folder)
        let store = StrataStore(fixture.container, options())
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            let isDone = Mutex(false)
            async let writing: Void = {
                while !isDone.withLock({ $0 }) {
                    try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
                    try await Task.sleep(for: .milliseconds(10))
                }
            }()
            await #expect(processExitsWith: .success) { [entity = entity as String, path = folder.path as String] in
                try await Self.serveReaders(entity, URL(fileURLWithPath: path))
            }
            isDone.withLock { $0 = true }
            try await writing
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    private static func serveReaders(_ entity: String, _ folder: URL) async throws {
        let container = ServiceFixture.container(entity, folder)
        container.persistentStoreDescriptions[0].isReadOnly = true
        let metrics = TestMetrics()
        var options = StrataStore.Options()
        options.telemetry?.metrics = metrics
        options.minimumFreeBytes = .max
        options.pool.timeLimit = ServiceFixture.patience
        let store = StrataStore(container, options)
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            func count() async throws -> Int {
                try await store.withContext(.reading) { try $0.count(for: ServiceFixture.request(entity)) }
            }
            let first = try await count()
            for _ in 0..<30_000 {
                if try await count() > first { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            guard first > 0, try await count() > first else { exit(1) }
            // It does not write, so that the disk is others' business.
            guard store.health.status == .ready else { exit(2) }
            guard metrics.timers(label: "strata.follow.lag").first?.values.isEmpty == false else { exit(3) }
            trigger.triggerGracefulShutdown()
            try await running
        }
        exit(store.health.status == .closed ? 0 : 4)
    }

    @Test func cancellingTheServiceClosesTheStores() async throws {
        let fixture = try ServiceFixture(loads: false)
        let store = StrataStore(fixture.container, options())
        let running = Task { try await store.run() }
        try await store.withContext(.reading) { _ in }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(store.health.status == .closed)
        #expect(fixture.container.persistentStoreCoordinator.persistentStores.isEmpty)
    }
}
