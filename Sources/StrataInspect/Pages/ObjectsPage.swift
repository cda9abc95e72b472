import Foundation
import HTTPTypes
import Strata
import StrataBrowsing
import StrataModelFile
import StrataService

/// A table of an entity's objects: those that satisfy a predicate, or the members of a relationship, page by page.
struct ObjectsPage {
    let inspector: Inspector
    let query: Query
    let session: Session
    let deadline: Deadline

    func content() throws -> PageContent { try inspector.read(session, content) }

    private func content(_ context: NSManagedObjectContext) throws -> PageContent {
        let entity = try session.entity(try query.required("entity"))
        let name = entity.name ?? ""
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.timeLimit = deadline.left
        request.predicate = try predicate(entity, context)
        let sorts = try Self.sorts(query["sort"], entity)
        request.sortDescriptors = sorts.map { NSSortDescriptor(key: $0.key, ascending: $0.isAscending) }
        let cursor = try query["page"].map { text in
            guard let cursor = StrataPageCursor(text) else {
                throw InspectError(.badRequest, "the parameter page is none that a page has led to")
            }
            return cursor
        }
        let page = try context.page(request, limit: query.limit(), at: cursor)
        let columns = EntityColumns(entity)
        let records = page.elements.map { [Cell($0.objectID)] + columns.cells($0) }
        let count = try count(request, context)
        let (next, previous) = (page.next?.description, page.previous?.description)
        return PageContent(
            title: name,
            body: body(entity, columns, sorts, records, count: count, next: next, previous: previous),
            columns: ["uri"] + columns.names, records: records,
            fields: [
                ("entity", QuotedText.of(name)), ("objects", count.map { "\($0)" } ?? "null"),
                ("next", next.map { QuotedText.of(query.link(.json, setting: ["page": $0]).text) } ?? "null"),
                ("previous", previous.map { QuotedText.of(query.link(.json, setting: ["page": $0]).text) } ?? "null"),
            ])
    }

    /// Of all results, in so far as that is known in a moment.
    private func count(
        _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext
    ) throws -> Int? {
        let counted = NSFetchRequest<NSManagedObject>(entityName: request.entityName ?? "")
        counted.predicate = request.predicate
        counted.timeLimit = Limits.countTime
        let parts = [
            "\(session.transaction(of: context) ?? session.newestTransaction())", counted.entityName ?? "",
            query["where"] ?? "",
            query["of"] ?? "", query["by"] ?? "",
        ]
        return try inspector.counts.count(parts.map(QuotedText.of).joined()) { try context.count(for: counted) }
    }

    // MARK: What is asked for

    private func predicate(
        _ entity: NSEntityDescription, _ context: NSManagedObjectContext
    ) throws -> NSPredicate? {
        var parts: [NSPredicate] = []
        if let text = query["where"] { parts.append(try NSPredicate.parse(text)) }
        if let owner = query["of"] {
            let name = try query.required("by")
            let object = try ObjectLookup.object(owner, session, context)
            guard let relationship = object.entity.relationshipsByName[name] else {
                throw InspectError(.badRequest, "\(object.entity.name ?? "") has no relationship \(name)")
            }
            parts.append(try Self.members(of: object, relationship))
        }
        return parts.isEmpty ? nil : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    }

    /// Those that a relationship leads to: found from their side, so that they need not all be in memory.
    private static func members(
        of object: NSManagedObject, _ relationship: NSRelationshipDescription
    ) throws -> NSPredicate {
        if let inverse = relationship.inverseRelationship {
            let format = inverse.isToMany ? "ANY %K == %@" : "%K == %@"
            return NSPredicate(format: format, inverse.name, object)
        }
        let members =
            switch object.value(forKey: relationship.name) {
            case let set as Set<NSManagedObject>: Array(set)
            case let set as NSOrderedSet: set.compactMap { $0 as? NSManagedObject }
            case let one as NSManagedObject: [one]
            default: [NSManagedObject]()
            }
        return NSPredicate(format: "SELF IN %@", members.map(\.objectID))
    }

    /// Attributes, also behind relationships to one object; a minus turns the order round.
    static func sorts(_ text: String?, _ entity: NSEntityDescription) throws -> [(key: String, isAscending: Bool)] {
        try SelectList.parts(text ?? "").map { part in
            let key = part.hasPrefix("-") ? String(part.dropFirst()) : part
            var owner: NSEntityDescription? = entity
            let names = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            for (index, name) in names.enumerated() {
                let property = owner?.propertiesByName[name]
                let isLast = index == names.count - 1
                if let relationship = property as? NSRelationshipDescription, !relationship.isToMany, !isLast {
                    owner = relationship.destinationEntity
                } else if property is NSAttributeDescription {
                    break
                } else {
                    let known = owner?.attributesByName.keys.sorted().joined(separator: ", ") ?? ""
                    throw InspectError(
                        .badRequest, "\(owner?.name ?? "") has no attribute \(name) to sort by; it has \(known)")
                }
            }
            return (key, !part.hasPrefix("-"))
        }
    }

    // MARK: What is shown

    private func body(
        _ entity: NSEntityDescription, _ columns: EntityColumns, _ sorts: [(key: String, isAscending: Bool)],
        _ records: [[Cell]], count: Int?, next: String?, previous: String?
    ) -> Markup {
        let name = entity.name ?? ""
        let sortable = Set(
            columns.attributes.filter { Self.hasOrder($0.attributeType) && Self.isWord($0.name) }.map(\.name))
        let heads = (["object"] + columns.names).enumerated().map { index, title in
            let sorted = index > 0 ? sorts.first { $0.key == title }?.isAscending : nil
            let canSort = index > 0 && sortable.contains(title)
            let link = query.link(setting: ["sort": sorted == true ? "-" + title : title, "page": nil])
            return (title: title, link: canSort ? link : nil, isSorted: sorted)
        }
        let number: Markup = count.map { "\($0)" } ?? "more than can be counted in a moment"
        var members = Markup()
        if let owner = query["of"] {
            members = """
                <p>Those that <b>\(query["by"] ?? "")</b> of
                <a href="\(Link("/object", ["id": owner, "at": query["at"]]))">\(CellMarkup.decoded(owner))</a> leads to,
                in the order of their creation.</p>
                """
        }
        var pages: [Markup] = []
        if let previous {
            pages.append("<a rel=\"prev\" href=\"\(query.link(setting: ["page": previous]))\">Previous</a>")
        }
        if let next { pages.append("<a rel=\"next\" href=\"\(query.link(setting: ["page": next]))\">Next</a>") }
        return """
            \(members)<form class="fields" action="/objects" method="get" data-entity="\(name)">
            \(PageFrame.hidden("entity", name))\(PageFrame.hidden("of", query["of"]))\(PageFrame.hidden("by", query["by"]))
            <label class="wide">Predicate<input name="where" value="\(query["where"] ?? "")" data-completes="predicate"
            placeholder="name BEGINSWITH[c] 'a' AND size > 10" autocomplete="off" spellcheck="false"></label>
            \(PageFrame.field("sort", "Sort", query["sort"], hint: "-created, name"))
            \(PageFrame.field("limit", "Rows", query["limit"], hint: "\(Limits.defaultRows)", kind: "number"))
            \(PageFrame.field("at", "At", query["at"], hint: "transaction or time"))<button>Show</button>
            <a class="button" href="\(Link("/query", ["entity": name, "where": query["where"], "at": query["at"]]))">Query…</a>
            </form>
            \(CellMarkup.table(heads, records, at: query["at"], caption: "\(number) objects; \(records.count) on this page"))
            <p class="pages">\(pages.joined(separator: " · "))</p>
            """
    }

    /// Whether a name means itself where sort keys are listed.
    private static func isWord(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isAlphabetic || "0"..."9" ~= $0 }
    }

    private static func hasOrder(_ type: NSAttributeType) -> Bool {
        switch type {
        case .transformableAttributeType, .binaryDataAttributeType, .compositeAttributeType: false
        default: true
        }
    }
}
