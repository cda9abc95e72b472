import CoreData
import Foundation
import MetricsTestKit
import ServiceLifecycleTestKit
import Strata
import StrataLog
import Testing

@testable import StrataService

/// The file beside a store that tells other processes how it is used.
@Suite struct StoreStatusTests {
    private func options() -> StrataStore.Options {
        var options = StrataStore.Options()
        options.metricsInterval = .seconds(60)
        options.telemetry?.metrics = TestMetrics()
        options.minimumFreeBytes = 0
        options.statusInterval = .seconds(1)
        options.pool.timeLimit = ServiceFixture.patience
        return options
    }

    private func url(_ fixture: ServiceFixture) -> URL { fixture.folder.appendingPathComponent("books") }

    private func file(_ fixture: ServiceFixture) -> URL { fixture.folder.appendingPathComponent("books.strata-status") }

    /// Waits for a status that is as wanted.
    private func wait(
        _ fixture: ServiceFixture, until isWanted: (StoreStatus) -> Bool
    ) async throws -> StoreStatus {
        for _ in 0..<30_000 {
            if let status = try StoreStatus.read(besideStoreAt: url(fixture)), isWanted(status) { return status }
            try await Task.sleep(for: .milliseconds(10))
        }
        return try #require(nil, "no such status came")
    }

    @Test func whatAProgramDoesIsToldUntilItEnds() async throws {
        let fixture = try ServiceFixture(loads: false)
        let entity = fixture.entity
        let store = StrataStore(fixture.container, options())
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(3, entity, $0) }
            try await store.withContext(.reading) { context in
                _ = try context.fetch(ServiceFixture.request(entity))
                _ = try context.count(for: ServiceFixture.request(entity))
                _ = try? context.fetch(ServiceFixture.request(entity, "colour == %@", "Secret"))
            }
            let status = try await wait(fixture) { $0.counters.fetches >= 2 && $0.counters.counts >= 1 }
            #expect(status.process == ProcessInfo.processInfo.processIdentifier)
            #expect(status.liveness(now: Date().timeIntervalSince1970) == .live)
            let counters = status.counters
            #expect(counters.saves == 1 && counters.fetches == 2 && counters.counts == 1)
            #expect(counters.failures == 1 && counters.rowsReturned == 3)
            #expect(counters.commits >= 1 && counters.flushes >= 1)
            // It is written again when something happens, and when nothing does, too, though less often.
            try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            let next = try await wait(fixture) { $0.counters.saves == 2 }
            #expect(next.time > status.time && next.began == status.began)
            let mode = try FileManager.default.attributesOfItem(atPath: file(fixture).path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            trigger.triggerGracefulShutdown()
            try await running
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        #expect(names.filter { $0.contains("strata-status") } == [])
    }

    @Test func slowRequestsAreToldWithoutValues() async throws {
        let fixture = try ServiceFixture(loads: false)
        let entity = fixture.entity
        let store = StrataStore(fixture.container, options())
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(3_000, entity, $0, title: "Secret") }
            let request = "title MATCHES %@"
            try await store.withContext(.reading) { context in
                for number in 0..<3 {
                    _ = try context.fetch(ServiceFixture.request(entity, request, "Secret \(number)"))
                }
            }
            let status = try await wait(fixture) { status in
                status.counters.fetches == 3 && status.slow.contains { $0.operation == "fetch" }
            }
            let slow = try #require(status.slow.first { $0.operation == "fetch" })
            #expect(slow.entity == entity && slow.text == "fetch \(entity) WHERE title MATCHES ?")
            #expect(slow.plan != nil && slow.rowsTested == 3_000 && slow.rows == 0)
            #expect(1...3 ~= slow.calls && slow.seconds >= 0.001 && slow.totalSeconds >= slow.seconds)
            let save = try #require(status.slow.first { $0.operation == "save" })
            #expect(save.rows == 3_000 && save.plan == nil && save.text == "save \(entity)")
            #expect(status.slow.map(\.seconds) == status.slow.map(\.seconds).sorted(by: >))
            #expect(!(try String(contentsOf: file(fixture), encoding: .utf8)).contains("Secret"))
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func aContextThatHoldsAGenerationIsToldWhileItPins() async throws {
        let fixture = try ServiceFixture(loads: false)
        let entity = fixture.entity
        let store = StrataStore(fixture.container, options())
        let before = Date().timeIntervalSince1970
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            let title = String(repeating: "A long title. ", count: 40)
            try await store.withContext(.writing) { ServiceFixture.add(2_000, entity, $0, title: title) }
            let coordinator = fixture.container.persistentStoreCoordinator
            let books = try #require(coordinator.persistentStores.first)
            let pinned = fixture.container.newBackgroundContext()
            try await pinned.perform {
                try pinned.setQueryGenerationFrom(.current)
                #expect(try pinned.count(for: ServiceFixture.request(entity)) == 2_000)
            }
            let free = try await wait(fixture) { $0.counters.saves == 1 }
            #expect(free.retained == StoreStatus.Retained(SnapshotPins(), []))
            for round in 0..<3 {
                try await store.withContext(.writing) { context in
                    for book in try context.fetch(ServiceFixture.request(entity)) {
                        book.setValue("\(round) \(title)", forKey: "title")
                    }
                }
                try await coordinator.compact(books)
            }
            // As the gauge counts them.
            let status = try await wait(fixture) { status in
                guard status.counters.saves == 4, let space = try? coordinator.space(of: books) else { return false }
                return space.pinnedByteCount > 0 && status.retained?.pinnedBytes == space.pinnedByteCount
            }
            let retained = try #require(status.retained)
            #expect(retained.pinnedBytes > 2_000 * 40)
            #expect(before...Date().timeIntervalSince1970 ~= (retained.pinnedSince ?? 0))
            try await pinned.perform {
                try pinned.setQueryGenerationFrom(nil)
                pinned.reset()
            }
            let freed = try await wait(fixture) { $0.retained?.pinnedBytes == 0 }
            #expect(freed.retained?.pinnedSince == nil)
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func consumersAreToldWithHowFarTheyAreBehind() async throws {
        let fixture = try ServiceFixture(loads: false)
        let entity = fixture.entity
        let description = try #require(fixture.container.persistentStoreDescriptions.first)
        description.historyRetention = HistoryRetention(consumers: ["search", "mail"])
        let store = StrataStore(fixture.container, options())
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            let coordinator = fixture.container.persistentStoreCoordinator
            let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
            try coordinator.acknowledgeHistory(upTo: token, by: "mail")
            for _ in 0..<3 { try await store.withContext(.writing) { ServiceFixture.add(1, entity, $0) } }
            let status = try await wait(fixture) { $0.counters.saves == 4 }
            typealias Consumer = StoreStatus.Retained.Consumer
            #expect(
                status.retained?.consumers == [
                    Consumer(name: "search", acknowledged: nil, behind: 4),
                    Consumer(name: "mail", acknowledged: 1, behind: 3),
                ])
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func ofManyConsumersTheFurthestBehindAreTold() throws {
        let fixture = try ServiceFixture()
        let consumers = (0..<30).map { number in
            HistoryConsumer(name: String(repeating: "x", count: 100_000) + "\(number)", acknowledged: nil, behind: 99)
        }
        var status = Self.status()
        status.retained = StoreStatus.Retained(SnapshotPins(byteCount: 7, sinceNanoseconds: 1_500_000_000), consumers)
        try status.write(to: StoreStatus.path(besideStoreAt: url(fixture)))
        let read = try #require(try StoreStatus.read(besideStoreAt: url(fixture)))
        #expect(read == status && read.retained?.consumers.count == 20 && read.retained?.pinnedSince == 1.5)
    }

    @Test func whoWantsNoneHasNone() async throws {
        let fixture = try ServiceFixture(loads: false)
        var options = options()
        options.statusInterval = nil
        let store = StrataStore(fixture.container, options)
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { [entity = fixture.entity] in ServiceFixture.add(1, entity, $0) }
            try await Task.sleep(for: .milliseconds(300))
            #expect(!FileManager.default.fileExists(atPath: file(fixture).path))
            trigger.triggerGracefulShutdown()
            try await running
        }
    }

    /// What a program that was killed has left is replaced; where none can be written the service works without.
    @Test(arguments: [true, false]) func whatLiesThereIsInNobodysWay(_ isFile: Bool) async throws {
        let fixture = try ServiceFixture(loads: false)
        let unfinished = fixture.folder.appendingPathComponent("books.strata-status.tmp")
        try Data("left".utf8).write(to: unfinished)
        if isFile {
            try Data("left".utf8).write(to: file(fixture))
        } else {
            try FileManager.default.createDirectory(at: file(fixture), withIntermediateDirectories: false)
        }
        let store = StrataStore(fixture.container, options())
        try await testGracefulShutdown { trigger in
            async let running: Void = store.run()
            try await store.withContext(.writing) { [entity = fixture.entity] in ServiceFixture.add(1, entity, $0) }
            if isFile {
                for _ in 0..<30_000 {
                    if (try? StoreStatus.read(besideStoreAt: url(fixture))) != nil { break }
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(try StoreStatus.read(besideStoreAt: url(fixture)) != nil)
            } else {
                try await Task.sleep(for: .milliseconds(1_200))
                #expect(throws: StoreStatusError.self) { try StoreStatus.read(besideStoreAt: url(fixture)) }
            }
            #expect(store.health.isReady)
            trigger.triggerGracefulShutdown()
            try await running
        }
        #expect(FileManager.default.fileExists(atPath: file(fixture).path) == !isFile)
        #expect(!FileManager.default.fileExists(atPath: unfinished.path))
    }

    // MARK: Reading

    private static func status(time: Double = 1_000) -> StoreStatus {
        StoreStatus(
            process: 7, processSpace: "pid:[1]", program: "books", began: 1, time: time, intervalSeconds: 2,
            counters: StoreStatus.Counters(), cacheBytes: 0, slow: [], slowSince: 1)
    }

    private static func encoded(_ change: (inout [String: Any]) -> Void) throws -> Data {
        var object = try #require(
            try JSONSerialization.jsonObject(with: try JSONEncoder().encode(Self.status())) as? [String: Any])
        change(&object)
        return try JSONSerialization.data(withJSONObject: object)
    }

    private static func retained(
        pinned: Int = 1, since: Double = 1, behind: Int = 1, consumers: Int = 1
    ) -> [String: Any] {
        let consumer: [String: Any] = ["name": "search", "acknowledged": 1, "behind": behind]
        return [
            "pinnedBytes": pinned, "pinnedSince": since, "consumers": Array(repeating: consumer, count: consumers),
        ]
    }

    @Test func statusesOfEarlierVersionsAndOfThisOneAreRead() throws {
        let fixture = try ServiceFixture()
        for retained in [nil, Self.retained()] {
            try Self.encoded { $0["retained"] = retained }.write(to: file(fixture))
            let read = try #require(try StoreStatus.read(besideStoreAt: url(fixture)))
            #expect((read.retained?.consumers.count ?? 0) == (retained == nil ? 0 : 1))
        }
    }

    private static let hostile: [(name: String, data: @Sendable () throws -> Data)] = [
        ("nothing", { Data() }), ("no JSON", { Data([0, 255, 7]) }), ("a list", { Data("[1]".utf8) }),
        ("another version", { try Self.encoded { $0["version"] = 2 } }),
        ("a part", { try Self.encoded { $0["counters"] = nil } }),
        ("less than nothing", { try Self.encoded { $0["cacheBytes"] = -1 } }),
        ("the largest number", { try Self.encoded { $0["cacheBytes"] = Int.max } }),
        ("a time that never comes", { try Self.encoded { $0["time"] = 1e300 } }),
        ("a text for a number", { try Self.encoded { $0["process"] = "<b>" } }),
        ("pins of less than nothing", { try Self.encoded { $0["retained"] = Self.retained(pinned: -1) } }),
        ("pins since a time that never comes", { try Self.encoded { $0["retained"] = Self.retained(since: 1e300) } }),
        ("a consumer that is ahead", { try Self.encoded { $0["retained"] = Self.retained(behind: -1) } }),
        ("many consumers", { try Self.encoded { $0["retained"] = Self.retained(consumers: 21) } }),
        ("nested lists", { Data(String(repeating: "[", count: 100_000).utf8) }),
        ("a long one", { try Self.encoded { $0["program"] = String(repeating: "x", count: 300_000) } }),
        (
            "many requests",
            {
                let request = StoreStatus.Request(
                    operation: "fetch", entity: nil, text: "", plan: nil, seconds: 1, rowsTested: 0, rows: 0, time: 1,
                    calls: 1, totalSeconds: 1)
                var status = Self.status()
                status.slow = Array(repeating: request, count: 21)
                return try JSONEncoder().encode(status)
            }
        ),
    ]

    @Test(arguments: Self.hostile.indices) func whatIsNoStatusIsRefused(_ index: Int) throws {
        let fixture = try ServiceFixture()
        let (name, data) = Self.hostile[index]
        try data().write(to: file(fixture))
        let error = #expect(throws: StoreStatusError.self, "\(name)") {
            try StoreStatus.read(besideStoreAt: url(fixture))
        }
        #expect(error?.description.contains("books.strata-status") == true)
    }

    @Test func pipesAndLinksAreNotRead() throws {
        let fixture = try ServiceFixture()
        #expect(mkfifo(file(fixture).path, 0o600) == 0)
        #expect(throws: StoreStatusError.self) { try StoreStatus.read(besideStoreAt: url(fixture)) }
        try FileManager.default.removeItem(at: file(fixture))
        let elsewhere = fixture.folder.appendingPathComponent("elsewhere")
        try JSONEncoder().encode(Self.status()).write(to: elsewhere)
        try FileManager.default.createSymbolicLink(at: file(fixture), withDestinationURL: elsewhere)
        #expect(throws: StoreStatusError.self) { try StoreStatus.read(besideStoreAt: url(fixture)) }
        // Writing replaces the link, and not what it leads to.
        try Self.status(time: 5).write(to: StoreStatus.path(besideStoreAt: url(fixture)))
        #expect(try StoreStatus.read(besideStoreAt: url(fixture))?.time == 5)
        #expect(try JSONDecoder().decode(StoreStatus.self, from: Data(contentsOf: elsewhere)).time == 1_000)
    }

    @Test func aLinkToAStoreHasTheStoresStatus() throws {
        let fixture = try ServiceFixture()
        let link = fixture.folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url(fixture))
        try Self.status().write(to: StoreStatus.path(besideStoreAt: link))
        #expect(try StoreStatus.read(besideStoreAt: url(fixture)) == Self.status())
        // Another program's is left alone.
        var other = Self.status()
        other.began = 2
        other.remove(from: StoreStatus.path(besideStoreAt: link))
        #expect(try StoreStatus.read(besideStoreAt: url(fixture)) == Self.status())
        Self.status().remove(from: StoreStatus.path(besideStoreAt: link))
        #expect(try StoreStatus.read(besideStoreAt: url(fixture)) == nil)
    }

    @Test(arguments: [
        (1_000.0, "pid:[1]", true, StoreStatus.Liveness.live), (1_019, "pid:[1]", true, .live),
        (1_030, "pid:[1]", true, .silent(seconds: 30)), (970, "pid:[1]", true, .silent(seconds: -30)),
        (1_000, "pid:[1]", false, .ended),
        // Another container's processes are not seen from here.
        (1_000, "pid:[2]", false, .live), (1_030, "pid:[2]", false, .silent(seconds: 30)),
    ])
    func whoIsSilentOrHasEndedIsNotLive(
        _ now: Double, _ space: String, _ isRunning: Bool, _ expected: StoreStatus.Liveness
    ) {
        let found = Self.status().liveness(now: now, processSpace: space) { number in
            #expect(number == 7)
            return isRunning
        }
        #expect(found == expected)
    }

    @Test func thisProcessRunsAndAnotherDoesNot() {
        #expect(StoreStatus.isRunning(ProcessInfo.processInfo.processIdentifier))
        #expect(!StoreStatus.isRunning(Int32.max))
        #expect(StoreStatus.ownProcessSpace?.hasPrefix("pid:[") == true)
    }
}
