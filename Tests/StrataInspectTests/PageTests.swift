import CoreData
import Foundation
import Testing

/// What the pages say, from the command that runs beside the writer.
@Suite(.serialized) struct PageTests {
    private static func library() throws -> InspectFixture {
        let fixture = try InspectFixture(Stores.library())
        try Stores.fillLibrary(fixture)
        try fixture.serve()
        return fixture
    }

    @Test func entitiesHaveCountsAndSizesAtAnyTime() async throws {
        let fixture = try Self.library()
        var entities: [String: [String: Any]] = [:]
        for _ in 0..<100 {
            entities = Dictionary(
                uniqueKeysWithValues: try await fixture.get("/.json").rows().map { ($0["entity"] as? String ?? "", $0) }
            )
            if entities["Book"]?["stored"] is NSNumber { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        // One was deleted, one has a cover, every tenth is to be heard.
        #expect(entities["Book"]?["objects"] as? Int == 540)
        #expect(entities["AudioBook"]?["objects"] as? Int == 60)
        #expect(entities["AudioBook"]?["parent"] as? String == "Book")
        #expect((entities["Book"]?["stored"] as? Int ?? 0) > 1_000)
        let before = try await fixture.get("/.json?at=1").json()
        #expect(before["objects"] as? Int == 608)
        let empty = try await fixture.get("/.json?at=0").json()
        #expect(empty["objects"] as? Int == 0)
        // Saved by the writer meanwhile.
        try fixture.save { InspectFixture.insert("Tag", ["label": "new"], $0) }
        #expect(try await fixture.get("/.json").json()["objects"] as? Int == 608)
        let page = try await fixture.get("/")
        #expect(page.type == "text/html; charset=utf-8")
        #expect(page.text.contains("href=\"/objects?entity=AudioBook\""))
        #expect(try await fixture.get("/.csv").text.hasPrefix("entity,objects,stored,"))
    }

    @Test func pagesOfObjectsMeetEachOnceInBothDirections() async throws {
        let fixture = try Self.library()
        for sort in ["", "-pages", "title,-pages", "author.name"] {
            var path: String? = "/objects.json?entity=Book&limit=97&sort=\(sort)"
            var met: [String] = []
            var last = ""
            while let next = path {
                last = next
                let answer = try await fixture.get(next)
                #expect(answer.status == 200, "\(answer.text)")
                met += try answer.rows().compactMap { $0["uri"] as? String }
                #expect(try answer.json()["objects"] as? Int == 600)
                path = try answer.json()["next"] as? String
            }
            #expect(met.count == 600 && Set(met).count == 600, "sorted by \(sort)")
            let previous = try #require(try await fixture.get(last).json()["previous"] as? String)
            let back = try await fixture.get(previous).rows().compactMap { $0["uri"] as? String }
            #expect(back == Array(met[485..<582]), "sorted by \(sort)")
        }
    }

    @Test func objectsAreFilteredAndSorted() async throws {
        let fixture = try Self.library()
        let filter = InspectFixture.encoded("pages >= 1000 AND author.name == 'Le Guin'")
        let rows = try await fixture.get("/objects.json?entity=Book&where=\(filter)").rows()
        #expect(rows.compactMap { $0["title"] as? String } == ["Title 0"])
        #expect(rows.first?["pages"] as? Int == 1_000)
        // As it was before it was changed.
        let then = try await fixture.get("/objects.json?entity=Book&where=\(filter)&at=1").rows()
        #expect(then.isEmpty)
        let first = try await fixture.get("/objects.json?entity=book&sort=-pages&limit=1").rows()
        #expect(first.first?["pages"] as? Int == 1_002)
    }

    private static let wrong: [(path: String, status: Int, message: String)] = [
        ("/objects?entity=Nothing", 400, "no entity Nothing"), ("/objects", 400, "entity is missing"),
        ("/objects?entity=Book&where=pages%20%3E", 400, "at position 7"),
        ("/objects?entity=Book&where=nothing%3D1", 400, "nothing not found"),
        ("/objects?entity=Book&sort=nothing", 400, "no attribute nothing to sort by"),
        ("/objects?entity=Book&sort=tags.label", 400, "no attribute tags to sort by"),
        ("/objects?entity=Book&sort=pages.x", 400, ""),
        ("/objects?entity=Book&page=AAAA", 400, "page"), ("/objects?entity=Book&limit=0", 400, "limit is a number"),
        ("/objects?entity=Book&at=9999", 400, "no transaction 9999"),
        ("/objects?entity=Book&at=yesterday", 400, "at is"), ("/?at=2999-01-01", 400, "has not come yet"),
        ("/objects?entity=Tag&of=Book/p1&by=nothing", 400, "no relationship nothing"),
        ("/object?id=Book/p99999", 404, ""), ("/object?id=Book", 404, "names no object"),
        ("/object?id=../../etc/passwd", 404, "names no object"),
        ("/value?id=Book/p1&name=nothing", 404, "no attribute"),
        ("/query?entity=Book&having=x%3D1", 400, "something to group by"),
        ("/query?entity=Book&select=%28", 400, "cannot be read"),
        ("/query?entity=Book&select=pages&chart=x", 400, "no column x"),
        ("/changes?from=99", 400, "no transaction 99"), ("/history?entity=Nothing", 400, "no entity"),
        ("/history?before=x", 400, "before is"), ("/nothing", 404, "no page"), ("/nothing.events", 404, "no events"),
        ("/static/nothing", 404, "no page"),
    ]

    @Test func whatIsWrongIsSaid() async throws {
        let fixture = try Self.library()
        for (path, status, message) in Self.wrong {
            let answer = try await fixture.get(path)
            #expect(answer.status == status, "\(path)")
            #expect(message.isEmpty || answer.contains(message), "\(path): \(answer.text)")
            // A page like others, with the way on.
            if !path.contains(".events") { #expect(answer.contains("<nav "), "\(path)") }
        }
    }
    @Test func anObjectLeadsToOthers() async throws {
        let fixture = try Self.library()
        let filter = InspectFixture.encoded("title == 'With a cover'")
        let book = try await fixture.get("/objects.json?entity=Book&where=\(filter)").rows()
        let uri = try #require(book.first?["uri"] as? String)
        let id = uri.split(separator: "/").suffix(2).joined(separator: "/")
        let page = try await fixture.get("/object?id=\(id)")
        #expect(page.text.contains("<img class=\"image\" src=\"/value?id="))
        #expect(page.text.contains("All of it, 1.1 MB"))
        #expect(page.text.utf8.count < 30_000)
        let cover = try await fixture.get("/value?id=\(id)&name=cover")
        #expect(cover.type == "image/png")
        let text = try await fixture.get("/value?id=\(id)&name=text")
        #expect(text.text == String(repeating: "All work and no play. ", count: 50_000))
        let object = try await fixture.get("/object.json?id=\(id)")
        let author = try #require(
            try object.rows().first { $0["property"] as? String == "author" }?["value"] as? String)
        let books = try await fixture.get(
            "/objects.json?entity=Book&of=\(author.split(separator: "/").suffix(2).joined(separator: "/"))&by=books&limit=1000"
        )
        #expect(try books.json()["objects"] as? Int == 151)
        #expect(try books.rows().allSatisfy { $0["author"] as? String == author })
        // To many at both ends.
        var tagged: [Int] = []
        for tag in 1...3 {
            tagged.append(
                try await fixture.get("/objects.json?entity=Book&of=Tag/p\(tag)&by=books&limit=1000").rows().count)
        }
        #expect(tagged.sorted() == [199, 200, 200])
    }

    @Test func queriesAreExplainedAndDrawn() async throws {
        let fixture = try Self.library()
        let select = InspectFixture.encoded("author.name, count(*) AS books, sum(pages)")
        let path =
            "?entity=Book&select=\(select)&group=author.name&having=\(InspectFixture.encoded("books > 149"))&sort=-books&chart=books"
        let answer = try await fixture.get("/query.json\(path)")
        #expect(try answer.rows().compactMap { $0["books"] as? Int } == [151, 150, 150])
        let plan = try #require(try answer.json()["plan"] as? [String: Any])
        #expect((plan["steps"] as? [[String: Any]])?.first?["rows"] as? Int == 3)
        #expect((plan["milliseconds"] as? Double ?? 0) > 0)
        let page = try await fixture.get("/query\(path)")
        #expect(page.text.components(separatedBy: "<rect x=\"200.0\"").count == 4)
        let objects = try await fixture.get("/query.json?entity=Book&where=pages%3E500&limit=5")
        #expect(try objects.rows().count == 5)
    }

    @Test func theHistoryIsToldBackwards() async throws {
        let fixture = try Self.library()
        let all = try await fixture.get("/history.json").rows()
        #expect(all.compactMap { $0["transaction"] as? Int } == [5, 4, 3, 2, 1])
        #expect(all.first?["author"] as? String == "night job")
        #expect(all.first?["deleted"] as? Int == 1)
        #expect(all.last?["inserted"] as? Int == 608)
        let first = try await fixture.get("/history.json?limit=2")
        let older = try #require(try first.json()["older"] as? String)
        #expect(try await fixture.get(older).rows().compactMap { $0["transaction"] as? Int } == [3, 2])
        let desk = try await fixture.get("/history.json?author=desk&limit=1")
        #expect(try desk.rows().compactMap { $0["transaction"] as? Int } == [4])
        let before = try #require(try desk.json()["older"] as? String)
        #expect(try await fixture.get(before).rows().compactMap { $0["transaction"] as? Int } == [2])
        let audio = try await fixture.get("/history.json?entity=AudioBook")
        #expect(try audio.rows().compactMap { $0["transaction"] as? Int } == [1])
        #expect(try audio.json()["older"] is NSNull)
    }

    @Test func changesBetweenTwoPointsAreToldPageByPage() async throws {
        let fixture = try Self.library()
        let changes = try await fixture.get("/changes.json?from=1&entity=Book").rows()
        let pages = changes.filter { $0["property"] as? String == "pages" && $0["change"] as? String == "update" }
        #expect(Set(pages.compactMap { $0["after"] as? Int }) == [1_000, 1_001, 1_002])
        #expect(changes.contains { $0["change"] as? String == "delete" && $0["before"] as? String == "Title 3" })
        let first = try await fixture.get("/changes.json?from=0&to=1&entity=Author&limit=3")
        #expect(Set(try first.rows().compactMap { $0["uri"] as? String }).count == 3)
        #expect(try first.json()["isMore"] as? Bool == true)
        let rest = try await fixture.get("/changes.json?from=0&to=1&entity=Author&limit=3&skip=3")
        #expect(Set(try rest.rows().compactMap { $0["uri"] as? String }).count == 1)
        #expect(try rest.json()["isMore"] as? Bool == false)
    }

    @Test func theModelAndTheLogAreDrawn() async throws {
        let fixture = try Self.library()
        let model = try await fixture.get("/model")
        #expect(model.text.components(separatedBy: "<g class=\"entity").count == 5)
        // Books and their tags, authors and books; each pair once.
        #expect(model.text.components(separatedBy: "<g class=\"relationship\"").count == 3)
        #expect(model.text.components(separatedBy: "<g class=\"inherits\"").count == 2)
        let log = try await fixture.get("/log.json")
        let segment = try #require(try log.rows().first)
        #expect((segment["live"] as? Int ?? 0) > 0)
        #expect(try log.json()["transaction"] as? Int == 5)
        #expect(try await fixture.get("/log").text.contains("<svg class=\"segments\""))
    }

    @Test func ofALargeModelThePageDrawsAPartAndListsAll() async throws {
        let model = NSManagedObjectModel()
        model.entities = (100..<230).map { number in
            let entity = NSEntityDescription()
            entity.name = "Entity\(number)"
            entity.properties = [Stores.attribute("name", .stringAttributeType)]
            return entity
        }
        let fixture = try InspectFixture(model)
        try fixture.save { InspectFixture.insert("Entity100", ["name": "one"], $0) }
        try fixture.serve()
        let page = try await fixture.get("/model")
        #expect(page.text.components(separatedBy: "<g class=\"entity").count == 121)
        #expect(page.text.contains("10 more"))
        #expect(try await fixture.get("/model.json").rows().count == 130)
    }

    @Test func soManyPagesAreLiveAndNotOneMore() async throws {
        let fixture = try Self.library()
        var streams: [EventStream] = []
        for _ in 0..<16 {
            let stream = try EventStream(fixture, "/history.events")
            try await stream.wait(for: "retry:")
            streams.append(stream)
        }
        let refused = try await fixture.get("/log.events")
        #expect(refused.status == 503 && refused.text.contains("so many pages are live already"), "\(refused.text)")
        // Who is live stays so.
        try fixture.save(author: "web") { InspectFixture.insert("Tag", ["label": "new"], $0) }
        for stream in streams { try await stream.wait(for: "event: transaction") }
    }

    @Test func eventsComeAsTheyAreSaved() async throws {
        let fixture = try Self.library()
        let events = try EventStream(fixture, "/history.events?author=web")
        try await events.wait(for: "retry:")
        // Until it listens, nothing is told.
        try await events.wait(for: ":\n\n")
        for author in ["desk", "web"] {
            try fixture.save(author: author) { InspectFixture.insert("Tag", ["label": "<b>"], $0) }
        }
        let text = try await events.wait(for: "event: transaction")
        #expect(text.contains("\"author\":\"web\""))
        #expect(!text.contains("desk"))
        let log = try EventStream(fixture, "/log.events")
        #expect(try await log.wait(for: "event: segments").contains("\"name\":\"Transactions a second\""))
    }

    /// The map stayed as it was until somebody saved.
    @Test func theMapOfSegmentsMovesWithCompaction() async throws {
        let fixture = try Self.library()
        // Everything that is there is replaced once.
        try fixture.save { context in
            for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) {
                book.setValue("again", forKey: "title")
            }
        }
        let log = try EventStream(fixture, "/log.events")
        #expect(try await !log.wait(for: "event: segments").contains("{\"segment\":2,"))
        try await fixture.coordinator.compact(fixture.coordinator.persistentStores[0])
        while try await !log.wait(for: "event: segments").contains("{\"segment\":2,") {}
    }

    @Test func theServerEndsWithStreamsOpen() async throws {
        let fixture = try Self.library()
        let events = try EventStream(fixture, "/log.events")
        try await events.wait(for: "event: rates")
        let start = ContinuousClock.now
        #expect(try fixture.stop() == 0)
        #expect(.now - start < .seconds(8))
    }

    @Test func whoHasNoTokenSeesNothing() async throws {
        let fixture = try Self.library()
        for path in [
            "/", "/.json", "/objects?entity=Book", "/static/inspect.js", "/history.events",
            "/value?id=Book/p1&name=text",
        ] {
            let answer = try await fixture.get(path, token: "wrong")
            #expect(answer.status == 401)
            #expect(!answer.text.contains("Book"))
        }
    }
}

/// Names and values that try to get out of their places.
@Suite(.serialized) struct HostileStoreTests {
    @Test func everyPageIsAnswered() async throws {
        let fixture = try InspectFixture(Stores.hostile())
        try Stores.fillHostile(fixture)
        try fixture.serve()
        let entity = InspectFixture.encoded(Stores.script)
        let other = InspectFixture.encoded("../..//?a=b&c#%2e</title>")
        let objects = try await fixture.get("/objects.json?entity=\(entity)&limit=1000")
        #expect(objects.status == 200)
        let rows = try objects.rows()
        #expect(rows.count == Stores.texts.count)
        let texts = rows.compactMap { ($0[Stores.attributeName] as? String).map { Array($0.utf8) } }
        #expect(texts == Stores.texts.map { Array($0.utf8) })
        #expect(rows.compactMap { $0["number"] as? String }.contains("nan"))
        // A text there, and no formula.
        let table = try await fixture.get("/objects.csv?entity=\(entity)&limit=1000")
        #expect(table.contains(",\"'=HYPERLINK(\"\"x\"\")\","))
        #expect(!table.contains(",\"=HYPERLINK"))
        var paths = [
            "/", "/model", "/log", "/activity", "/history", "/changes?from=0", "/query", "/objects?entity=\(entity)",
            "/objects?entity=\(other)", "/objects?entity=\(entity)&sort=-number",
            "/query?entity=\(entity)&chart=number",
            "/query?entity=\(entity)&where=%3Cscript%3E", "/objects?entity=%3Cscript%3E", "/%3Cscript%3E",
            "/?at=%3Cscript%3E", "/history?author=%3Cscript%3E", "/objects?entity=\(entity)&where=%00",
        ]
        for uri in rows.compactMap({ $0["uri"] as? String }) {
            let id = InspectFixture.encoded(uri.split(separator: "/").suffix(2).joined(separator: "/"))
            paths.append("/object?id=\(id)")
            paths.append("/objects?entity=\(other)&of=\(id)&by=\(InspectFixture.encoded(Stores.relationshipName))")
            for name in [Stores.attributeName, "data", "date", "link"] {
                let value = try await fixture.get("/value?id=\(id)&name=\(InspectFixture.encoded(name))")
                #expect(value.status == 200)
                #expect(!value.type.contains("html") && !value.type.contains("svg"))
            }
        }
        for path in paths {
            let page = try await fixture.get(path)
            #expect(page.status == 200 || page.status == 400 || page.status == 404, "\(path): \(page.status)")
            #expect(page.text.utf8.count < 200_000, "\(path)")
            for markup in ["<script>", "<img src=x", "<svg onload", "</title></", "\0", "href=\"javascript:"] {
                #expect(!page.contains(markup), "\(path) has \(markup)")
            }
            if page.status == 200 {
                for form in [".json", ".csv"] {
                    let parts = path.split(separator: "?", maxSplits: 1)
                    let end = parts.count > 1 ? "?\(parts[1])" : ""
                    let answer = try await fixture.get(parts[0] + form + end)
                    #expect(answer.status == 200)
                    if form == ".json" { _ = try answer.json() }
                }
            }
        }
    }
}
