import Foundation

/// A client that changes books of its own and knows what each of them may be afterwards.
package final class LibraryClient {
    /// What a client can do next.
    package enum Action: String, CaseIterable, Sendable {
        case read, find, page, statistics, create, rename, delete, leave
    }

    /// What a client knows of one of its books.
    private struct Known {
        var id: String?
        /// Titles that it may have; nil for none, when it does not exist. More than one after a request without answer.
        var titles: Set<String?>
    }

    /// Writes that were acknowledged.
    package private(set) var acknowledged = 0
    /// Requests that were refused because too many waited.
    package private(set) var refused = 0
    /// Answers that were wrong.
    package private(set) var problems: [String] = []

    private let number: Int
    private let authors: [String]
    private let mix: [(Action, Int)]
    private let others: [String]
    private var books: [String: Known] = [:]
    private var random = SystemRandomNumberGenerator()
    private var made = 0

    /// - Parameters:
    ///   - number: tells the ISBNs of clients apart; less than 899.
    ///   - mix: how often it does what, by weight.
    ///   - authors: IDs of authors for its books.
    ///   - others: IDs of books that nobody changes, to be read.
    package init(_ number: Int, mix: [Action: Int], authors: [String], others: [String]) {
        self.number = number
        self.mix = mix.sorted { $0.key.rawValue < $1.key.rawValue }
        self.authors = authors
        self.others = others
    }

    package func chooseAction() -> Action {
        var place = Int.random(in: 0..<mix.reduce(0) { $0 + $1.1 }, using: &random)
        for (action, weight) in mix {
            if place < weight { return action }
            place -= weight
        }
        return .page
    }

    /// Throws ``Connection/Closed`` when there was no answer.
    package func act(_ action: Action, _ connection: Connection) throws {
        let isbn = books.keys.randomElement(using: &random)
        switch action {
        case .create: try create(connection)
        case .rename: if let isbn { try rename(isbn, connection) }
        case .delete: if let isbn { try delete(isbn, connection) }
        case .find: if let isbn { _ = try check(isbn, connection) }
        case .read:
            if let id = others.randomElement(using: &random) {
                try expectOK(try connection.request("GET", "/books/\(id)"), "a book")
            }
        case .page: try expectOK(try connection.request("GET", "/books?sort=-year,title&limit=20"), "a page")
        case .statistics: try expectOK(try connection.request("GET", "/statistics"), "statistics")
        case .leave:
            // Before the request is whole, or before the answer comes.
            let fraction = Bool.random(using: &random) ? 1 : Double.random(in: 0..<1, using: &random)
            if Bool.random(using: &random) {
                try connection.send("GET", "/books?q=book", fraction: fraction)
            } else {
                let (_, body) = newBook()
                try connection.send("POST", "/books", body, fraction: fraction)
            }
            throw Connection.Closed()
        }
    }

    /// Looks at each book that it knows of.
    ///
    /// - Returns: how many.
    package func checkAll(_ connection: Connection) throws -> Int {
        let known = books.keys.sorted()
        for isbn in known {
            // Who is refused has not looked.
            while try !check(isbn, connection) { Thread.sleep(forTimeInterval: 0.05) }
        }
        return known.count
    }

    private func expectOK(_ answer: Connection.Answer, _ what: String) throws {
        if answer.status == 503 {
            refused += 1
        } else if answer.status != 200 {
            problems.append("\(what): \(answer.status) \(answer.text)")
        }
    }

    /// Notes that it may be there from now on.
    private func newBook() -> (isbn: String, body: [String: Any]) {
        made += 1
        let text = "\(number + 1)\(made + 1_000_000)"
        let isbn = String(repeating: "0", count: 13 - text.count) + text
        books[isbn] = Known(titles: [nil, "new"])
        return (
            isbn, ["title": "new", "isbn": isbn, "year": 1900 + made % 100, "author": authors[made % authors.count]]
        )
    }

    private func create(_ connection: Connection) throws {
        let (isbn, body) = newBook()
        let answer = try connection.request("POST", "/books", body)
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
            if answer.status == 503 {
                refused += 1
            } else {
                problems.append("\(isbn): \(answer.status) \(answer.text)")
            }
            return false
        }
        books[isbn]?.titles = [title]
        acknowledged += 1
        return true
    }

    /// - Returns: false when the service refused to say.
    private func check(_ isbn: String, _ connection: Connection) throws -> Bool {
        guard let known = books[isbn] else { return true }
        let found = try connection.request("GET", "/books?isbn=\(isbn)")
        let titles = found.elements.map { $0["title"] as? String }
        if found.status == 503 {
            refused += 1
            return false
        }
        guard found.status == 200, titles.count <= 1, known.titles.contains(titles.first ?? nil) else {
            problems.append("\(isbn) is \(found.status) \(titles), and may be \(known.titles)")
            return true
        }
        // Now it is certain, unless a request without answer is still being done.
        if titles == [], known.titles == [nil] { books[isbn] = nil }
        return true
    }
}
