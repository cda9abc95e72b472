import CoreData
import Foundation
import StrataService

/// What a client can ask of a list. Whatever is not here is refused, so that every order has an index or is known not
/// to have one, and no text of a client's becomes a key path.
struct ListRules {
    /// A condition with a value from the query.
    enum Filter {
        case text(String)
        case integer(String)
        case object(String, String)
        case flag(String, else: String)
    }

    var sorts: [String]
    var initial: String?
    var search: [String] = []
    var filters: [String: Filter] = [:]
    var prefetched: [String] = []

    static let limitMaximum = 200
}

/// A client's query of a list: `q=earth&year.min=1960&sort=-year,title&limit=20&cursor=…`.
struct ListQuery: Sendable {
    private var values: [String: String] = [:]

    init(_ parameters: some Sequence<(key: Substring, value: Substring)>) throws {
        for (key, value) in parameters {
            guard values.updateValue(String(value), forKey: String(key)) == nil else {
                throw Problem(.badRequest, "is given twice", property: String(key))
            }
        }
    }

    func page<Object: Record>(_ context: NSManagedObjectContext, _: Object.Type) throws -> StrataPage<Object.Answer> {
        let rules = Object.list
        var rest = values
        let limit = rest.removeValue(forKey: "limit").map { Int($0) ?? 0 } ?? 20
        guard (1...ListRules.limitMaximum).contains(limit) else {
            throw Problem(.badRequest, "is a number from 1 to \(ListRules.limitMaximum)", property: "limit")
        }
        let cursor = try rest.removeValue(forKey: "cursor").map { text in
            guard let cursor = StrataPageCursor(text) else {
                throw Problem(.badRequest, "is no cursor of a page", property: "cursor")
            }
            return cursor
        }
        let request = Object.request()
        request.sortDescriptors = try sorts(rest.removeValue(forKey: "sort") ?? rules.initial ?? rules.sorts[0], rules)
        request.relationshipKeyPathsForPrefetching = rules.prefetched
        var predicates =
            (rest.removeValue(forKey: "q") ?? "").split(separator: " ").map { word in
                NSCompoundPredicate(
                    type: .or,
                    subpredicates: rules.search.map { NSPredicate(format: "\($0) CONTAINS[cd] %@", String(word)) })
            } as [NSPredicate]
        for (name, value) in rest.sorted(by: { $0.key < $1.key }) {
            guard let filter = rules.filters[name] else { throw Problem(.badRequest, "is no filter", property: name) }
            predicates.append(try predicate(filter, value, name, context))
        }
        if !predicates.isEmpty { request.predicate = NSCompoundPredicate(type: .and, subpredicates: predicates) }
        return try context.page(request, limit: limit, at: cursor).map(\.answer)
    }

    private func sorts(_ text: String, _ rules: ListRules) throws -> [NSSortDescriptor] {
        try text.split(separator: ",").map { part in
            let key = part.hasPrefix("-") ? String(part.dropFirst()) : String(part)
            guard rules.sorts.contains(key) else {
                throw Problem(
                    .badRequest, "is a list of \(rules.sorts.joined(separator: ", ")), each with or without a -",
                    property: "sort")
            }
            return NSSortDescriptor(key: key, ascending: !part.hasPrefix("-"))
        }
    }

    private func predicate(
        _ filter: ListRules.Filter, _ value: String, _ name: String, _ context: NSManagedObjectContext
    ) throws -> NSPredicate {
        switch filter {
        case .text(let format): return NSPredicate(format: format, value)
        case .integer(let format):
            guard let number = Int(value) else { throw Problem(.badRequest, "is no number", property: name) }
            return NSPredicate(format: format, number)
        case .object(let format, let entity):
            guard let id = Lookup.id(value, context), id.entity.name == entity else {
                throw Problem(.badRequest, "there is no \(entity) \(value)", property: name)
            }
            return NSPredicate(format: format, id)
        case .flag(let format, let otherwise):
            guard let flag = Bool(value) else { throw Problem(.badRequest, "is true or false", property: name) }
            return NSPredicate(format: flag ? format : otherwise)
        }
    }
}
