import CoreData
import Foundation
import Testing

/// What `strata info` tells of those who keep log from being freed.
@Suite(.serialized) struct InfoCommandTests {
    private func info(_ fixture: CommandFixture) throws -> [String: Any] {
        let result = try fixture.run("info", "-f", "json")
        #expect(result.code == 0, "\(result.messages)")
        return try #require(result.json as? [String: Any], "\(result.output)")
    }

    private func consumers(_ fixture: CommandFixture) throws -> [[String: Any]] {
        try #require(try info(fixture)["historyConsumers"] as? [[String: Any]])
    }

    private func acknowledge(_ fixture: CommandFixture, by consumer: String) throws {
        let coordinator = try #require(fixture.coordinator)
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try coordinator.acknowledgeHistory(upTo: token, by: consumer)
    }

    @Test func consumersAreListedTheFurthestBehindFirst() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        try acknowledge(fixture, by: "mail")
        try fixture.save { context in fixture.insert("Team", ["title": "Blue"], context) }
        try fixture.save { context in fixture.insert("Team", ["title": "Green"], context) }
        try acknowledge(fixture, by: "search")
        let told = try consumers(fixture)
        #expect(told.map { $0["name"] as? String } == ["mail", "search"])
        #expect(told.map { $0["acknowledged"] as? Int } == [3, 5])
        #expect(told.map { $0["behind"] as? Int } == [2, 0])
        let table = try fixture.run("info")
        #expect(
            table.lines.suffix(3).map { $0.split(separator: " ").map(String.init) } == [
                ["history", "consumer", "acknowledged", "behind"], ["mail", "3", "2"], ["search", "5", "0"],
            ])
        #expect(try fixture.run("info", "-f", "csv").lines == ["entity,objects", "Boss,1", "Person,1", "Team,3"])
        fixture.close()
        #expect(try consumers(fixture).count == 2)
    }

    @Test func aStoreWithoutConsumersHasNone() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        #expect(try consumers(fixture).isEmpty)
        #expect(try !fixture.run("info").output.contains("consumer"))
    }

    @Test func consumersNamesStayText() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let name = "a\"b\u{1B}[31m\nc\\"
        try acknowledge(fixture, by: name)
        #expect(try consumers(fixture).map { $0["name"] as? String } == [name])
        let table = try fixture.run("info").output
        #expect(table.contains("a\"b␛[31m⏎c\\") && !table.contains("\u{1B}"), "\(table)")
    }

    // MARK: The program's status

    private static let since = 1_700_000_000.5

    private func write(_ fixture: CommandFixture, _ change: (inout [String: Any]) -> Void = { _ in }) throws {
        let consumers: [[String: Any]] = [
            ["name": "audit\u{1B}", "behind": 9], ["name": "mail", "acknowledged": 1, "behind": 2],
        ]
        var status: [String: Any] = [
            "version": 1, "process": ProcessInfo.processInfo.processIdentifier, "program": "web\u{1B}[31m",
            "processSpace": (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? "",
            "time": Date().timeIntervalSince1970, "intervalSeconds": 2,
            "retained": ["pinnedBytes": 123_456, "pinnedSince": Self.since, "consumers": consumers],
        ]
        change(&status)
        let file = fixture.directory.appendingPathComponent("store.strata-status")
        try JSONSerialization.data(withJSONObject: status).write(to: file, options: .atomic)
    }

    @Test func aRunningProgramTellsWhatItsSnapshotsPin() throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        try acknowledge(fixture, by: "mail")
        try write(fixture)
        let told = try info(fixture)
        #expect(told["pinnedBySnapshotsBytes"] as? Int == 123_456)
        #expect(told["pinnedSince"] as? String == "2023-11-14T22:13:20.500Z")
        // One that has never acknowledged anything is known to the program alone.
        let consumers = try consumers(fixture)
        #expect(consumers.map { $0["name"] as? String } == ["audit\u{1B}", "mail"])
        #expect(consumers[0]["acknowledged"] is NSNull && consumers[0]["behind"] as? Int == 3)
        #expect(consumers[1]["acknowledged"] as? Int == 3 && consumers[1]["behind"] as? Int == 0)
        let table = try fixture.run("info").output
        #expect(table.contains("\npinned by snapshots: 123 kB\npinned since: 2023-11-14T22:13:20.500Z\n"), "\(table)")
        let process = ProcessInfo.processInfo.processIdentifier
        #expect(table.contains("\npinned told by: web␛[31m, process \(process)\n") && table.contains("audit␛"))
        #expect(!table.contains("\u{1B}"))
        // The status lies beside the store that a link leads to.
        let link = fixture.directory.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.store)
        #expect(try fixture.run("info", on: link).output.contains("pinned by snapshots: 123 kB"))
    }

    private static let untold: [(name: String, change: @Sendable (inout [String: Any]) -> Void)] = [
        ("ended", { $0["process"] = Int(Int32.max) }),
        ("silent", { $0["time"] = Date().timeIntervalSince1970 - 100 }),
        ("of an earlier version", { $0["retained"] = nil }),
        ("of another version", { $0["version"] = 2 }),
        ("less than nothing", { $0["retained"] = ["pinnedBytes": -1, "consumers": [[String: Any]]()] }),
        (
            "a time that never comes",
            { $0["retained"] = ["pinnedBytes": 1, "pinnedSince": 1e300, "consumers": [[String: Any]]()] }
        ),
        ("no list", { $0["retained"] = ["pinnedBytes": 1, "consumers": "all"] }),
    ]

    @Test(arguments: untold.indices) func whatNoRunningProgramTellsIsNotPrinted(_ index: Int) throws {
        let fixture = try CommandFixture()
        try fixture.fill()
        let (name, change) = Self.untold[index]
        try write(fixture, change)
        let told = try info(fixture)
        #expect(told.keys.filter { $0.hasPrefix("pinned") } == ["pinnedBytes"], "\(name)")
        #expect(try consumers(fixture).isEmpty, "\(name)")
    }
}
