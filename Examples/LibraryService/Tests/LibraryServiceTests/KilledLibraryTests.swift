import Foundation
import Synchronization
import Testing

/// 64 clients change books of their own, leave in the middle of requests, and the program is killed again and again:
/// what was acknowledged is there afterwards. `SERVICE_SECONDS` says for how long; 15 unless it is set.
@Suite(.serialized) struct KilledLibraryTests {
    /// What a client knows of one of its books.
    struct Known {
        var id: String?
        /// Titles that it may have; nil for none, when it does not exist. More than one after a request without answer.
        var titles: Set<String?>
    }

    final class Client {
        let number: Int
        let author: String
        var books: [String: Known] = [:]
        var acknowledged = 0
        var problems: [String] = []
        private var random = SystemRandomNumberGenerator()
        private var made = 0

        init(_ number: Int, author: String) {
            self.number = number
            self.author = author
        }

        func act(_ connection: Connection) throws {
            let isbn = books.keys.randomElement(using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6: try create(connection)
            case 6..<11: if let isbn { try rename(isbn, connection) }
            case 11..<13: if let isbn { try delete(isbn, connection) }
            case 13..<17: if let isbn { try check(isbn, connection) }
            case 17:
                let page = try connection.request("GET", "/books?sort=-year,title&limit=20")
                if page.status != 200 { problems.append("a page: \(page.text)") }
            case 18:
                let figures = try connection.request("GET", "/statistics")
                if figures.status != 200 { problems.append("statistics: \(figures.text)") }
            default:
                // Leaves before the request is whole, or before the answer comes.
                try connection.send(
                    "GET", "/books?q=book",
                    fraction: Bool.random(using: &random) ? 1 : Double.random(in: 0..<1, using: &random))
                throw Connection.Closed()
            }
        }

        private func create(_ connection: Connection) throws {
            made += 1
            let text = "\(number + 1)\(made + 100_000)"
            let isbn = String(repeating: "0", count: 13 - text.count) + text
            books[isbn] = Known(titles: [nil, "new"])
            let answer = try connection.request(
                "POST", "/books", ["title": "new", "isbn": isbn, "year": 1900 + made % 100, "author": author])
            guard settle(isbn, answer, 201, "new") else { return }
            books[isbn]?.id = answer.id
        }

        private func rename(_ isbn: String, _ connection: Connection) throws {
            guard let id = books[isbn]?.id else { return }
            let title = "title \(Int.random(in: 0..<1_000_000, using: &random))"
            books[isbn]?.titles.insert(title)
            let answer = try connection.request("PATCH", "/books/\(id)", ["title": title])
            // A deletion without answer may have been done.
            if answer.status == 404, books[isbn]?.titles.contains(nil) == true {
                books[isbn] = nil
                return
            }
            _ = settle(isbn, answer, 200, title)
        }

        private func delete(_ isbn: String, _ connection: Connection) throws {
            guard let id = books[isbn]?.id else { return }
            let wasUncertain = books[isbn]?.titles.contains(nil) == true
            books[isbn]?.titles.insert(nil)
            let answer = try connection.request("DELETE", "/books/\(id)")
            if answer.status == 404, wasUncertain {
                books[isbn]?.titles = [nil]
                return
            }
            _ = settle(isbn, answer, 204, nil)
        }

        private func settle(_ isbn: String, _ answer: Connection.Answer, _ status: Int, _ title: String?) -> Bool {
            guard answer.status == status else {
                // Refused in order: then it was not done, or may still have been by the request before.
                if answer.status != 503 { problems.append("\(isbn): \(answer.status) \(answer.text)") }
                return false
            }
            books[isbn]?.titles = [title]
            acknowledged += 1
            return true
        }

        func check(_ isbn: String, _ connection: Connection) throws {
            guard let known = books[isbn] else { return }
            let found = try connection.request("GET", "/books?isbn=\(isbn)")
            let titles = found.elements.map { $0["title"] as? String }
            if found.status == 503 { return }
            guard found.status == 200, titles.count <= 1, known.titles.contains(titles.first ?? nil) else {
                problems.append("\(isbn) is \(found.status) \(titles), and may be \(known.titles)")
                return
            }
            // Now it is certain, unless a request without answer is still being done.
            if titles == [], known.titles == [nil] { books[isbn] = nil }
        }
    }

    @Test func whatIsAcknowledgedStaysAcknowledged() async throws {
        let seconds = ProcessInfo.processInfo.environment["SERVICE_SECONDS"].flatMap { Int($0) } ?? 15
        let library = try RunningLibrary()
        let author = try Connection(library.port).request("POST", "/authors", ["name": "Many"]).id
        let isOver = Atomic(false)
        let results = Mutex<[(acknowledged: Int, checked: Int, problems: [String])]>([])
        let threads = (0..<64).map { number in
            let thread = Thread {
                let client = Client(number, author: author)
                var connection: Connection?
                while !isOver.load(ordering: .relaxed) {
                    do {
                        let current = try connection ?? Connection(library.port)
                        connection = current
                        try client.act(current)
                    } catch {
                        connection = nil
                        Thread.sleep(forTimeInterval: 0.02)
                    }
                }
                connection = nil
                // All are over before the last look.
                while library.port == 0 { Thread.sleep(forTimeInterval: 0.02) }
                var checked = 0
                do {
                    let last = try Connection(library.port)
                    for isbn in client.books.keys.sorted() {
                        try client.check(isbn, last)
                        checked += 1
                    }
                } catch {
                    client.problems.append("the last look failed: \(error)")
                }
                results.withLock { $0.append((client.acknowledged, checked, client.problems)) }
            }
            thread.stackSize = 1 << 20
            thread.start()
            return thread
        }
        var kills = 0
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            try await Task.sleep(for: min(.milliseconds(Int.random(in: 2_000...4_000)), end - ContinuousClock.now))
            library.kill()
            kills += 1
            try library.start()
        }
        isOver.store(true, ordering: .relaxed)
        while results.withLock({ $0.count }) < threads.count { try await Task.sleep(for: .milliseconds(50)) }
        let all = results.withLock { $0 }
        let acknowledged = all.reduce(0) { $0 + $1.acknowledged }
        print(
            "library: \(acknowledged) writes acknowledged, \(all.reduce(0) { $0 + $1.checked }) books checked, \(kills) kills"
        )
        #expect(all.flatMap(\.problems).isEmpty)
        #expect(acknowledged > 64 && kills > 0)
        #expect(library.terminate() == 0)
    }
}
