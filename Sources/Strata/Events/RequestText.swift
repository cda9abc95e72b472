import Foundation
import StrataSchema

/// A fetch request in words, for logs.
struct RequestText {
    private let settings: FetchSettings
    private let isCount: Bool
    /// Otherwise `?` stands in the place of every constant.
    private let showsValues: Bool

    init(_ settings: FetchSettings, isCount: Bool, showsValues: Bool) {
        self.settings = settings
        self.isCount = isCount
        self.showsValues = showsValues
    }

    /// Such as `fetch Book WHERE pages > ? ORDER BY title LIMIT 20`.
    var text: String {
        var text = "\(isCount ? "count" : "fetch") \(settings.entityName ?? settings.entity?.name ?? "?")"
        if let predicate = settings.predicate { text += " WHERE " + self.predicate(predicate) }
        let groups = names(settings.propertiesToGroupBy)
        if !groups.isEmpty { text += " GROUP BY " + groups }
        if let having = settings.havingPredicate { text += " HAVING " + predicate(having) }
        let sorts = (settings.sortDescriptors ?? []).map { "\($0.key ?? "?")\($0.ascending ? "" : " DESC")" }
        if !sorts.isEmpty { text += " ORDER BY " + sorts.joined(separator: ", ") }
        if settings.fetchLimit > 0 { text += " LIMIT \(settings.fetchLimit)" }
        // Pages of one request are one request for whoever counts them.
        if settings.fetchOffset > 0 { text += " OFFSET " + (showsValues ? "\(settings.fetchOffset)" : "?") }
        return text
    }

    private func predicate(_ predicate: NSPredicate) -> String {
        showsValues ? PredicatePrinter.text(predicate) : PredicateRedaction.text(predicate)
    }

    private func names(_ properties: [Any]?) -> String {
        (properties ?? []).map { property in
            switch property {
            case let name as String: name
            case let property as NSPropertyDescription: property.name
            default: "?"
            }
        }.joined(separator: ", ")
    }
}
