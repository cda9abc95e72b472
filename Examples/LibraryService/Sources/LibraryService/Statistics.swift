import CoreData
import Foundation
import Hummingbird
import StrataService

/// Figures that the store groups and adds up by columns, without making an object.
struct Statistics: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        var name: String
        var count: Int
    }

    var books, members, openLoans: Int
    /// By a path: from the loan over its book to the author.
    var loansByAuthor: [Row]
    var booksByYear: [Row]
    /// Of how many copies so many are lent.
    var copies, lent: Int

    init(_ context: NSManagedObjectContext) throws {
        books = try context.count(for: Book.request())
        members = try context.count(for: Member.request())
        let open = Loan.request()
        open.predicate = NSPredicate(format: "returned == nil")
        openLoans = try context.count(for: open)
        loansByAuthor = try Self.groups("Loan", by: "book.author.name", context)
        booksByYear = try Self.groups("Book", by: "year", context)
        let sums = NSFetchRequest<NSDictionary>(entityName: "Book")
        sums.resultType = .dictionaryResultType
        sums.propertiesToFetch = ["copies", "lent"].map { Self.expression("sum:", of: $0, named: $0) }
        let row = try context.fetch(sums).first
        copies = row?["copies"] as? Int ?? 0
        lent = row?["lent"] as? Int ?? 0
    }

    private static func groups(
        _ entity: String, by path: String, _ context: NSManagedObjectContext
    ) throws -> [Row] {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = [path]
        request.propertiesToFetch = [path, expression("count:", of: path, named: "count")]
        request.sortDescriptors = [
            NSSortDescriptor(key: "count", ascending: false), NSSortDescriptor(key: path, ascending: true),
        ]
        request.fetchLimit = 20
        return try context.fetch(request).map {
            Row(name: $0[path].map { "\($0)" } ?? "", count: $0["count"] as? Int ?? 0)
        }
    }

    private static func expression(_ function: String, of path: String, named name: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: path)])
        description.expressionResultType = .integer64AttributeType
        return description
    }
}
