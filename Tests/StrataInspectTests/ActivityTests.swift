import CoreData
import Foundation
import StrataService
import Testing

/// What a program with StrataService tells of itself, as the page of another process shows it.
@Suite(.serialized) struct ActivityTests {
    private static func library() throws -> InspectFixture {
        let fixture = try InspectFixture(Stores.library())
        try Stores.fillLibrary(fixture)
        return fixture
    }

    @Test func withoutAProgramThatTellsThePageSaysSo() async throws {
        let fixture = try Self.library()
        try fixture.serve()
        let page = try await fixture.get("/activity")
        #expect(page.status == 200 && page.text.contains("none does for this store"))
        let json = try await fixture.get("/activity.json")
        #expect(try json.rows().isEmpty)
        #expect(try json.json()["program"] is NSNull)
        let events = try EventStream(fixture, "/activity.events")
        let rates = try await events.wait(for: "event: rates")
        #expect(rates.contains("Transactions a second") && !rates.contains("Fetches"))
    }

    @Test func aServiceTellsItsRatesAndSlowestRequestsUntilItEnds() async throws {
        let fixture = try Self.library()
        for store in fixture.coordinator.persistentStores { try fixture.coordinator.remove(store) }
        let container = NSPersistentContainer(name: "library", managedObjectModel: Stores.library())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: fixture.store)]
        var options = StrataStore.Options()
        options.telemetry = nil
        options.statusInterval = .seconds(1)
        // The other tests of the process have the processors, too.
        options.pool.timeLimit = .seconds(600)
        let service = StrataStore(container, options)
        let running = Task { try await service.run() }
        let working = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                try await service.withContext(.writing) { [number] context in
                    // Few saves insert: what the fetches look at has an end.
                    let count = number <= 10 ? 200 : 0
                    for _ in 0..<count { InspectFixture.insert("Tag", ["label": "Secret \(number)"], context) }
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                    request.fetchLimit = 1
                    for tag in try context.fetch(request) { tag.setValue("Secret \(number)", forKey: "label") }
                }
                try await service.withContext(.reading) { context in
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                    request.predicate = NSPredicate(format: "label MATCHES %@", "Sec.*t 7")
                    _ = try context.fetch(request)
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        // The page opens the store, which has to be there.
        for _ in 0..<60_000 {
            if service.health.status == .ready { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        try fixture.serve()
        let events = try EventStream(fixture, "/activity.events")
        let rates = try await events.wait(for: "\"name\":\"Fetches and counts a second\"")
        for name in ["Saves a second", "Flushes a second", "Cache hits in percent", "Rows tested a second"] {
            #expect(rates.contains(name), "\(name)")
        }
        // A look may come between two saves.
        var saves = 0.0
        for _ in 0..<60 where saves == 0 {
            let rates = try await EventStream(fixture, "/activity.events").wait(for: "\"Saves a second\"")
            let value = try #require(rates.firstMatch(of: #/"Saves a second","value":([0-9.]+)/#)?.output.1)
            saves = Double(value) ?? 0
        }
        #expect(saves > 0)
        var rows: [[String: Any]] = []
        for _ in 0..<6_000 {
            rows = try await fixture.get("/activity.json").rows()
            if rows.contains(where: { $0["operation"] as? String == "fetch" }) { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        let slow = try #require(rows.first { $0["operation"] as? String == "fetch" })
        #expect(slow["request"] as? String == "fetch Tag WHERE label MATCHES ?")
        #expect((slow["slowest"] as? Double ?? 0) >= 1 && (slow["rows tested"] as? Int ?? 0) > 0)
        let page = try await fixture.get("/activity")
        #expect(page.text.contains("(process \(ProcessInfo.processInfo.processIdentifier))"))
        #expect(!page.text.contains("Secret"))
        #expect(try await fixture.get("/activity.csv").text.hasPrefix("operation,request,plan,"))
        working.cancel()
        _ = await working.result
        running.cancel()
        _ = await running.result
        #expect(try await fixture.get("/activity").text.contains("none does for this store"))
    }

    @Test func whoEndedOrIsSilentTellsNothing() async throws {
        let fixture = try Self.library()
        try fixture.serve()
        func page(_ change: (inout WrittenStatus) -> Void) async throws -> String {
            var status = WrittenStatus()
            change(&status)
            try status.write(beside: fixture.store)
            #expect(try await fixture.get("/activity.json").rows().isEmpty)
            return try await fixture.get("/activity").text
        }
        #expect(try await page { $0.process = Int32.max }.contains("has ended without a word"))
        #expect(try await page { $0.time -= 100 }.contains("wrote last at"))
        #expect(try await page { $0.time += 100 }.contains("wrote last at"))
        try WrittenStatus().write(beside: fixture.store)
        #expect(try await fixture.get("/activity.json").rows().count == 1)
        #expect(try await fixture.get("/activity").text.contains("Told by library-service"))
    }

    @Test func whatKeepsBytesOnTheDiskIsShown() async throws {
        let fixture = try Self.library()
        try fixture.serve()
        #expect(try await fixture.get("/activity").text.contains("No program tells what its snapshots keep."))
        var status = WrittenStatus()
        try status.write(beside: fixture.store)
        #expect(try await fixture.get("/activity.json").json()["retained"] is NSNull)
        let events = try EventStream(fixture, "/activity.events")
        _ = try await events.wait(for: "event: kept")
        status.retained = [
            "pinnedBytes": 5_000_000, "pinnedSince": 1_700_000_000.5,
            "consumers": [["name": Stores.script, "behind": 41], ["name": "mail", "acknowledged": 7, "behind": 2]],
        ]
        status.time += 0.5
        try status.write(beside: fixture.store)
        let page = try await fixture.get("/activity").text
        #expect(page.contains("Snapshots pin 5.0 MB of segments"), "\(page)")
        #expect(page.contains("since 2023-11-14T22:13:20.500Z") && page.contains("<bdi>mail</bdi>"))
        #expect(!page.contains("<script>") && page.contains("&lt;script&gt;"))
        let told = try #require(try await fixture.get("/activity.json").json()["retained"] as? [String: Any])
        #expect(told["pinnedBytes"] as? Int == 5_000_000)
        let consumers = try #require(told["consumers"] as? [[String: Any]])
        #expect(consumers.map { $0["behind"] as? Int } == [41, 2])
        #expect(consumers.map { $0["acknowledged"] as? Int } == [nil, 7])
        let live = try await events.wait(for: "Snapshots pin 5.0 MB")
        #expect(live.contains("\"transactions behind\":41"), "\(live)")
    }

    @Test func whatSomebodyElseWroteStaysText() async throws {
        let fixture = try Self.library()
        try fixture.serve()
        var status = WrittenStatus()
        status.text = "</td></table>\(Stores.script)\u{202E}\0"
        (status.plan, status.entity, status.program) = (Stores.attributeName, Stores.script, Stores.script)
        try status.write(beside: fixture.store)
        let page = try await fixture.get("/activity")
        #expect(page.status == 200)
        for markup in ["<script>", "<img src=x", "\0", "</td></table><"] {
            #expect(!page.contains(markup), "\(markup)")
        }
        #expect(page.text.contains("&lt;script&gt;"))
        let events = try EventStream(fixture, "/activity.events")
        let told = try await events.wait(for: "event: requests")
        #expect(told.contains("\"caption\"") && told.contains("script") && !told.contains("\u{202E}\0"))
        #expect(!told.contains("\\u0000"), "\(told)")
        let file = fixture.directory.appendingPathComponent("store.strata-status")
        for data in [Data("{".utf8), Data(repeating: 0x20, count: 400_000), Data()] {
            try data.write(to: file, options: .atomic)
            let page = try await fixture.get("/activity")
            #expect(page.status == 200 && page.text.contains("cannot be read"))
        }
        #expect(try await fixture.get("/").status == 200)
    }
}
