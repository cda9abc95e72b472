import Foundation
import LibraryClients
import Testing

@Suite(.serialized) struct LibraryTests {
    private static func isbn(_ number: Int) -> String {
        String(repeating: "0", count: 13 - "\(number)".count) + "\(number)"
    }

    /// An author and a number of books of hers.
    private static func fill(_ connection: Connection, _ count: Int) throws -> (author: String, books: [String]) {
        let author = try connection.request("POST", "/authors", ["name": "Le Guin"]).id
        let books = try (0..<count).map { number in
            let answer = try connection.request(
                "POST", "/books",
                ["title": "Book \(number % 7)", "isbn": isbn(number), "year": 1960 + number % 5, "author": author])
            #expect(answer.status == 201)
            return answer.id
        }
        return (author, books)
    }

    @Test func answersSayWhatIsWrong() throws {
        let library = try RunningLibrary()
        let connection = try Connection(library.port)
        let (author, books) = try Self.fill(connection, 2)
        let member = try connection.request("POST", "/members", ["name": "Ann", "email": "ann@x"]).id
        let loan = try connection.request("POST", "/loans", ["book": books[0], "member": member])
        #expect(loan.status == 201)
        func expect(
            _ status: Int, _ property: String?, _ method: String, _ path: String, _ body: [String: Any]? = nil,
            headers: [String: String] = [:], location: SourceLocation = #_sourceLocation
        ) throws {
            let answer = try connection.request(method, path, body, headers: headers)
            #expect(answer.status == status, "\(answer.text)", sourceLocation: location)
            #expect(answer.object["property"] as? String == property, "\(answer.text)", sourceLocation: location)
        }
        let good: [String: Any] = ["title": "T", "isbn": Self.isbn(9), "author": author]
        func book(_ changes: [String: Any]) -> [String: Any] { good.merging(changes) { $1 } }
        try expect(400, "isbn", "POST", "/books", book(["isbn": "12"]))
        try expect(400, "title", "POST", "/books", book(["title": ""]))
        try expect(400, "title", "POST", "/books", book(["title": 3]))
        try expect(400, "year", "POST", "/books", book(["year": 40_000]))
        try expect(400, "author", "POST", "/books", ["title": "T", "isbn": Self.isbn(9)])
        try expect(400, "author", "POST", "/books", book(["author": member]))
        try expect(400, "pages", "POST", "/books", book(["pages": 3]))
        try expect(400, nil, "POST", "/books")
        try expect(409, "isbn", "POST", "/books", book(["isbn": Self.isbn(0)]))
        try expect(409, "isbn", "PATCH", "/books/\(books[1])", ["isbn": Self.isbn(0)])
        try expect(409, "email", "POST", "/members", ["name": "Other", "email": "ann@x"])
        try expect(409, "book", "POST", "/loans", ["book": books[0], "member": member])
        try expect(400, "member", "POST", "/loans", ["book": books[1]])
        try expect(409, "isReturned", "DELETE", "/loans/\(loan.id)")
        try expect(400, "book", "PATCH", "/loans/\(loan.id)", ["book": books[1]])
        try expect(409, "books", "DELETE", "/authors/\(author)")
        try expect(409, "loans", "DELETE", "/books/\(books[0])")
        for path in ["/books/none", "/books/\(member)", "/nothing"] { try expect(404, nil, "GET", path) }
        try expect(400, "sort", "GET", "/books?sort=isbn")
        try expect(400, "limit", "GET", "/books?limit=0")
        try expect(400, "cursor", "GET", "/books?cursor=abc")
        try expect(400, "year.min", "GET", "/books?year.min=x")
        try expect(400, "color", "GET", "/books?color=red")
        try expect(400, "Last-Event-ID", "GET", "/events", headers: ["Last-Event-ID": "x"])
        // None of them has left anything.
        #expect(try connection.request("GET", "/books").elements.count == 2)
        #expect(try connection.request("PATCH", "/loans/\(loan.id)", ["isReturned": true]).status == 200)
        #expect(try connection.request("DELETE", "/loans/\(loan.id)").status == 204)
        #expect(try connection.request("DELETE", "/books/\(books[0])").status == 204)
        try expect(404, nil, "GET", "/books/\(books[0])")
        #expect(library.terminate() == 0)
    }

    @Test func listsFilterSearchSortAndPage() throws {
        let library = try RunningLibrary()
        let connection = try Connection(library.port)
        let (author, books) = try Self.fill(connection, 60)
        func ids(_ query: String) throws -> [String] {
            try connection.request("GET", "/books?\(query)").elements.compactMap { $0["id"] as? String }
        }
        #expect(try ids("isbn=\(Self.isbn(7))") == [books[7]])
        #expect(try ids("year.min=1962&year.max=1962&limit=200").count == 12)
        #expect(try ids("author=\(author)&limit=200").count == 60)
        #expect(try ids("q=GUIN%203&limit=200").count == 9)
        #expect(try ids("q=nobody").isEmpty)
        for sort in ["title", "-year,title", "author.name,-title"] {
            let all = try ids("sort=\(sort)&limit=200")
            var (found, cursor, pages): ([String], String?, Int) = ([], nil, 0)
            repeat {
                let page = try connection.request(
                    "GET", "/books?sort=\(sort)&limit=7\(cursor.map { "&cursor=\($0)" } ?? "")")
                found += page.elements.compactMap { $0["id"] as? String }
                cursor = page.object["next"] as? String
                pages += 1
                // What comes between two pages moves nothing.
                let new = 1_000 + pages + sort.count * 100
                _ = try connection.request(
                    "POST", "/books", ["title": "A", "isbn": Self.isbn(new), "year": 2000, "author": author])
            } while cursor != nil && pages < 100
            #expect(found.filter { all.contains($0) } == all && Set(found).count == found.count, "\(sort)")
            for id in try ids("year=2000&limit=200") { _ = try connection.request("DELETE", "/books/\(id)") }
            let first = try connection.request("GET", "/books?sort=\(sort)&limit=1").object["next"] as? String
            let foreign = try connection.request("GET", "/books?sort=-title&cursor=\(try #require(first))")
            #expect(foreign.status == 400 && foreign.object["property"] as? String == "cursor")
        }
    }

    @Test func statisticsHealthAndMetricsAreThere() throws {
        let library = try RunningLibrary()
        let connection = try Connection(library.port)
        let (_, books) = try Self.fill(connection, 10)
        let member = try connection.request("POST", "/members", ["name": "Ann", "email": "ann@x"]).id
        for book in books[..<3] { _ = try connection.request("POST", "/loans", ["book": book, "member": member]) }
        let figures = try connection.request("GET", "/statistics").object
        #expect(figures["openLoans"] as? Int == 3 && figures["lent"] as? Int == 3 && figures["copies"] as? Int == 10)
        let authors = figures["loansByAuthor"] as? [[String: Any]]
        #expect(authors?.first?["name"] as? String == "Le Guin" && authors?.first?["count"] as? Int == 3)
        #expect((figures["booksByYear"] as? [[String: Any]])?.count == 5)
        let health = try connection.request("GET", "/health")
        #expect(health.status == 200 && ["ready", "degraded"].contains(health.object["status"] as? String))
        let metrics = try connection.request("GET", "/metrics").text
        for name in ["db_client_operation_duration", "hb_requests_total", "strata_commit_flush_duration"] {
            #expect(metrics.contains(name))
        }
    }

    @Test func aTraceHasARequestAndItsFetches() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("traces-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let library = try RunningLibrary(["LIBRARY_TRACES": file.path])
        let connection = try Connection(library.port)
        _ = try Self.fill(connection, 3)
        let header = ["traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"]
        #expect(try connection.request("GET", "/books?q=secret&year=1960", headers: header).status == 200)
        #expect(library.terminate() == 0)
        let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.contains("4bf92f3577b34da6a3ce929d0e0e4736") })
        for part in [
            #""name":"/books""#, #""name":"fetch Book""#, #""parentSpanId":"00f067aa0ba902b7""#, "strata.plan",
            "q=REDACTED", "year=1960",
        ] { #expect(line.contains(part), "\(part) in \(line)") }
        #expect(!line.contains("secret"))
        #expect(lines.contains { $0.contains(#""name":"save"#) && $0.contains(#""name":"/books""#) })
    }

    @Test func eventsGoOnWhereAClientLeftOff() throws {
        let library = try RunningLibrary()
        let connection = try Connection(library.port)
        let stream = try Connection(library.port)
        try stream.send("GET", "/events")
        #expect(try stream.receiveHead().headers["content-type"] == "text/event-stream")
        _ = try stream.receiveChunk()
        let first = try connection.request("POST", "/authors", ["name": "A"]).id
        let event = try stream.receiveChunk()
        #expect(event.contains(first) && event.contains("insert"))
        let last = try #require(event.split(separator: "\n").first { $0.hasPrefix("id: ") }.map { $0.dropFirst(4) })
        library.kill()
        try library.start()
        let later = try Connection(library.port)
        let missed = try later.request("POST", "/authors", ["name": "B"]).id
        let again = try Connection(library.port)
        try again.send("GET", "/events", headers: ["Last-Event-ID": String(last)])
        #expect(try again.receiveHead().status == 200)
        _ = try again.receiveChunk()
        let next = try again.receiveChunk()
        #expect(next.contains(missed) && !next.contains(first))
    }

    /// Also while nothing is saved, and so nothing is sent to them.
    @Test func clientsThatLeaveLeaveNothingBehind() async throws {
        let library = try RunningLibrary(["LIBRARY_EVENTS_STREAMS": "20"])
        // Connections are closed where a function ends.
        func look() throws { #expect(try Connection(library.port).request("GET", "/authors").status == 200) }
        func listen() throws {
            // No more than may listen, so that it takes their going for others to come.
            let streams = try (0..<20).map { _ in try Connection(library.port) }
            for stream in streams {
                try stream.send("GET", "/events")
                #expect(try stream.receiveHead().status == 200)
                _ = try stream.receiveChunk()
            }
            #expect(try Connection(library.port).request("GET", "/events").status == 503)
        }
        try look()
        let before = library.descriptorCount
        for _ in 0..<10 {
            try listen()
            var isOver = false
            for _ in 0..<6_000 {
                isOver = library.descriptorCount <= before + 2
                if isOver { break }
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(isOver, "\(library.descriptorCount) descriptors, \(before) before")
        }
        #expect(library.terminate() == 0)
    }

    @Test func aStreamIsNeverSilentForLong() throws {
        let library = try RunningLibrary(["LIBRARY_EVENTS_HEARTBEAT_SECONDS": "0.2"])
        let stream = try Connection(library.port)
        try stream.send("GET", "/events")
        _ = try stream.receiveHead()
        _ = try stream.receiveChunk()
        for _ in 0..<3 { #expect(try stream.receiveChunk() == ":\n\n") }
        #expect(library.terminate() == 0)
    }

    /// Many lend the last copies at once: each copy once, and everybody else hears that there are none.
    @Test func noCopyIsLentTwice() async throws {
        let library = try RunningLibrary()
        let connection = try Connection(library.port)
        let (_, books) = try Self.fill(connection, 1)
        _ = try connection.request("PATCH", "/books/\(books[0])", ["copies": 5])
        let member = try connection.request("POST", "/members", ["name": "Ann", "email": "ann@x"]).id
        let port = library.port
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try Connection(port).request("POST", "/loans", ["book": books[0], "member": member]).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 201 } == 5 && statuses.count { $0 == 409 } == 11, "\(statuses)")
        #expect(try connection.request("GET", "/loans?open=true&book=\(books[0])").elements.count == 5)
        #expect(try connection.request("GET", "/books/\(books[0])").object["lent"] as? Int == 5)
    }

    @Test func theEndIsInOrderWithStreamsOpen() throws {
        let library = try RunningLibrary()
        let streams = try (0..<8).map { _ in
            let stream = try Connection(library.port)
            try stream.send("GET", "/events")
            _ = try stream.receiveHead()
            _ = try stream.receiveChunk()
            return stream
        }
        let author = try Connection(library.port).request("POST", "/authors", ["name": "A"]).id
        for stream in streams { #expect(try stream.receiveChunk().contains(author)) }
        let start = ContinuousClock.now
        #expect(library.terminate() == 0)
        #expect(ContinuousClock.now - start < .seconds(10))
        // Each has got the chunk that ends it.
        for stream in streams { #expect(try stream.receiveChunk().isEmpty) }
        try library.start()
        #expect(try Connection(library.port).request("GET", "/authors/\(author)").status == 200)
    }
}
