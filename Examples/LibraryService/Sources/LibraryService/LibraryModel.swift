import CoreData
import StrataService

/// The library's four entities. A model is made once: a coordinator keeps it for the life of the process.
enum LibraryModel {
    static let model = Result {
        try NSManagedObjectModel {
            Entity("Author", class: Author.self) {
                Attribute("name", .string, isOptional: false, minimum: 1, maximum: 200)
                Relationship("books", .toMany("Book"), inverse: "author", deleteRule: .denyDeleteRule)
                Index("byName", "name")
            }
            Entity("Book", class: Book.self) {
                Attribute("title", .string, isOptional: false, minimum: 1, maximum: 500)
                Attribute("isbn", .string, isOptional: false, pattern: "[0-9]{9}[0-9X]|[0-9]{13}")
                Attribute("year", .integer16, isOptional: false, default: 0, minimum: 0, maximum: 2100)
                Attribute("copies", .integer32, isOptional: false, default: 1, minimum: 1)
                // How many are lent: two loans of the last copy change the same row, and one of them loses.
                Attribute("lent", .integer32, isOptional: false, default: 0, minimum: 0)
                Relationship("author", .toOne("Author"), inverse: "books", isOptional: false)
                Relationship("loans", .toMany("Loan"), inverse: "book", deleteRule: .denyDeleteRule)
                Unique("isbn")
                // The orders that a client can ask for.
                Index("byTitle", "title")
                Index("byYear", .descending("year"), "title")
            }
            Entity("Member", class: Member.self) {
                Attribute("name", .string, isOptional: false, minimum: 1, maximum: 200)
                Attribute("email", .string, isOptional: false, pattern: "[^@ ]+@[^@ ]+")
                Relationship("loans", .toMany("Loan"), inverse: "member", deleteRule: .denyDeleteRule)
                Unique("email")
                Index("byName", "name")
            }
            Entity("Loan", class: Loan.self) {
                Attribute("since", .date, isOptional: false)
                Attribute("returned", .date)
                Relationship("book", .toOne("Book"), inverse: "loans", isOptional: false)
                Relationship("member", .toOne("Member"), inverse: "loans", isOptional: false)
                Index("bySince", .descending("since"))
            }
        }
    }
}
