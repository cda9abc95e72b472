import CoreData
import Foundation
import StrataService

final class Author: NSManagedObject {
    @NSManaged var name: String
    @NSManaged var books: Set<Book>
}

final class Book: NSManagedObject {
    @NSManaged var title: String
    @NSManaged var isbn: String
    @NSManaged var year: Int
    @NSManaged var copies: Int
    @NSManaged var lent: Int
    @NSManaged var author: Author?
    @NSManaged var loans: Set<Loan>
}

final class Member: NSManagedObject {
    @NSManaged var name: String
    @NSManaged var email: String
    @NSManaged var loans: Set<Loan>
}

final class Loan: NSManagedObject {
    @NSManaged var since: Date
    @NSManaged var returned: Date?
    @NSManaged var book: Book?
    @NSManaged var member: Member?
}

/// What the service does with the objects of an entity.
protocol Record: NSManagedObject {
    /// What a client sends. Nothing in it is required: what the model requires, the save asks for.
    associatedtype Body: Decodable & Sendable
    /// What a client gets.
    associatedtype Answer: Encodable & Sendable
    static var entityName: String { get }
    static var fields: Set<String> { get }
    static var list: ListRules { get }
    func apply(_ body: Body, isNew: Bool) throws
    /// Throws a ``Problem`` for an object that may not be deleted, beyond what the model's delete rules say.
    func checkDeletion() throws
    var answer: Answer { get }
}

extension Record {
    func checkDeletion() throws {}

    static func request() -> NSFetchRequest<Self> { NSFetchRequest<Self>(entityName: entityName) }

    var reference: String { StrataObjectReference(objectID)?.description ?? "" }
}

extension Author: Record {
    struct Body: Decodable, Sendable {
        var name: String?
    }
    struct Answer: Encodable, Sendable {
        var id, name: String
    }

    static var entityName: String { "Author" }
    static var fields: Set<String> { ["name"] }
    static var list: ListRules { ListRules(sorts: ["name"], search: ["name"]) }

    func apply(_ body: Body, isNew: Bool) {
        if let value = body.name { name = value }
    }

    var answer: Answer { Answer(id: reference, name: name) }
}

extension Book: Record {
    struct Body: Decodable, Sendable {
        var title, isbn, author: String?
        var year, copies: Int?
    }
    struct Answer: Encodable, Sendable {
        var id, title, isbn: String
        var year, copies, lent: Int
        var author: Author.Answer?
    }

    static var entityName: String { "Book" }
    static var fields: Set<String> { ["title", "isbn", "author", "year", "copies"] }
    static var list: ListRules {
        ListRules(
            sorts: ["title", "year", "author.name"], search: ["title", "author.name"],
            filters: [
                "isbn": .text("isbn == %@"), "year": .integer("year == %@"), "year.min": .integer("year >= %@"),
                "year.max": .integer("year <= %@"), "author": .object("author == %@", "Author"),
            ],
            // The authors of a page are read together.
            prefetched: ["author"])
    }

    func apply(_ body: Body, isNew: Bool) throws {
        if let value = body.title { title = value }
        if let value = body.isbn { isbn = value }
        if let value = body.year { year = value }
        if let value = body.copies {
            guard value >= lent else { throw Problem(.conflict, "\(lent) copies are lent", property: "copies") }
            copies = value
        }
        if let value = body.author { author = try Lookup.related(value, managedObjectContext, "author") }
    }

    var answer: Answer {
        Answer(
            id: reference, title: title, isbn: isbn, year: year, copies: copies, lent: lent, author: author?.answer)
    }
}

extension Member: Record {
    struct Body: Decodable, Sendable {
        var name, email: String?
    }
    struct Answer: Encodable, Sendable {
        var id, name, email: String
    }

    static var entityName: String { "Member" }
    static var fields: Set<String> { ["name", "email"] }
    static var list: ListRules {
        ListRules(sorts: ["name", "email"], search: ["name"], filters: ["email": .text("email == %@")])
    }

    func apply(_ body: Body, isNew: Bool) {
        if let value = body.name { name = value }
        if let value = body.email { email = value }
    }

    var answer: Answer { Answer(id: reference, name: name, email: email) }
}

extension Loan: Record {
    struct Body: Decodable, Sendable {
        var book, member: String?
        var isReturned: Bool?
    }
    struct Answer: Encodable, Sendable {
        var id: String
        var since: Date
        var returned: Date?
        var book: Book.Answer?
        var member: Member.Answer?
    }

    static var entityName: String { "Loan" }
    static var fields: Set<String> { ["book", "member", "isReturned"] }
    static var list: ListRules {
        ListRules(
            sorts: ["since", "book.title"], initial: "-since", search: ["book.title"],
            filters: [
                "book": .object("book == %@", "Book"), "member": .object("member == %@", "Member"),
                "open": .flag("returned == nil", else: "returned != nil"),
            ],
            prefetched: ["book", "member"])
    }

    func apply(_ body: Body, isNew: Bool) throws {
        if isNew {
            since = Date()
            guard let id = body.book else { throw Problem(.badRequest, "is missing", property: "book") }
            let lentBook: Book = try Lookup.related(id, managedObjectContext, "book")
            guard lentBook.lent < lentBook.copies else {
                throw Problem(.conflict, "all \(lentBook.copies) copies are lent", property: "book")
            }
            lentBook.lent += 1
            book = lentBook
            if let id = body.member { member = try Lookup.related(id, managedObjectContext, "member") }
        } else if body.book != nil || body.member != nil {
            throw Problem(.badRequest, "cannot be changed", property: body.book != nil ? "book" : "member")
        }
        if body.isReturned == true, returned == nil {
            returned = Date()
            book?.lent -= 1
        }
    }

    func checkDeletion() throws {
        if returned == nil { throw Problem(.conflict, "the book is not returned", property: "isReturned") }
    }

    var answer: Answer {
        Answer(id: reference, since: since, returned: returned, book: book?.answer, member: member?.answer)
    }
}
