import Foundation
import Strata
import StrataBrowsing
import StrataModelFile

/// What differs between two points of the past.
struct ChangesPage {
    let inspector: Inspector
    let query: Query
    /// Nil as long as nobody has said between what.
    let changes: Changes?
    let deadline: Deadline

    private static let columns = ["change", "entity", "uri", "property", "before", "after"]

    func content() throws -> PageContent {
        let names = inspector.newest.model.entities.compactMap(\.name).sorted()
        guard let changes else {
            return PageContent(
                title: "Changes",
                body: "\(form(names))<p class=\"note\">Say from which point, a transaction's number or a time. </p>",
                columns: Self.columns, records: [])
        }
        let skipped = try query.number("skip") ?? 0
        let (records, isMore) = try page(changes, skipping: skipped, try query.limit())
        let objects = Set(records.map { $0[2].plainText }).count
        let next = isMore ? query.link(setting: ["skip": "\(skipped + Int64(try query.limit()))"]) : nil
        let more: Markup = next.map { "<p class=\"pages\"><a rel=\"next\" href=\"\($0)\">Next</a></p>" } ?? ""
        return PageContent(
            title: "Changes",
            body: """
                \(form(names))\(table(records, caption: "\(objects) objects on this page"))\(more)
                """,
            columns: Self.columns, records: records, fields: [("isMore", isMore ? "true" : "false")])
    }

    private func page(
        _ changes: Changes, skipping: Int64, _ limit: Int
    ) throws -> (records: [[Cell]], isMore: Bool) {
        let entity = try query["entity"].map { try inspector.newest.entity($0) }
        func key(_ skipped: Int64) -> ChangePlace.Key {
            ChangePlace.Key(span: changes.span, entity: entity?.name, skipped: skipped, limit: limit)
        }
        let places = inspector.changePlaces
        var place = places.take(key(skipping)) ?? ChangePlace(iterator: changes.differences.makeAsyncIterator())
        do {
            while place.passed < skipping {
                guard try next(&place, entity) != nil else { return ([], false) }
            }
            while place.taken < limit {
                guard let difference = try next(&place, entity) else { return (place.records, false) }
                place.taken += 1
                place.records += Self.records(difference)
            }
        } catch is CancellationError {
            // Asked again, the page goes on there.
            places.put(key(skipping), place)
            throw Deadline.error
        }
        let records = place.records
        (place.records, place.taken) = ([], 0)
        let following = place
        // Where there is no time to look, the next page tells.
        var isMore = true
        do { isMore = try next(&place, entity) != nil } catch is CancellationError {}
        if isMore { places.put(key(skipping + Int64(limit)), following) }
        return (records, isMore)
    }

    /// The next difference of an object of the entity.
    ///
    /// - Throws: `CancellationError` when the time is over; what reading throws.
    private func next(_ place: inout ChangePlace, _ entity: NSEntityDescription?) throws -> ObjectDifference? {
        while let difference = try place.iterator.nextDifference(while: { !deadline.isOver }) {
            if let entity, !difference.objectID.entity.isKindOf(entity: entity) { continue }
            place.passed += 1
            return difference
        }
        return nil
    }

    private static func records(_ difference: ObjectDifference) -> [[Cell]] {
        let entity = difference.objectID.entity
        let kind =
            switch difference.kind {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        let head: [Cell] = [.text(kind), .text(entity.name ?? ""), Cell(difference.objectID)]
        let values = difference.values.sorted { $0.property < $1.property }.map { value in
            let attribute = entity.attributesByName[value.property]
            return head + [.text(value.property), Cell(value.before, attribute), Cell(value.after, attribute)]
        }
        return values.isEmpty ? [head + [.absent, .absent, .absent]] : values
    }

    /// An object is looked at where it is there: one that went, before.
    private func table(_ records: [[Cell]], caption: Markup) -> Markup {
        let rows = records.map { record -> Markup in
            let kind = record[0].plainText
            let at = kind == "delete" ? query["from"] : query["to"]
            let cells = record.map { "<td>\(CellMarkup.short($0, at: at))</td>" as Markup }
            let look: Markup = kind == "insert" ? "insert" : kind == "delete" ? "delete" : "update"
            return "<tr tabindex=\"-1\" class=\"\(look)\">\(cells)</tr>\n"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Table"><table id="results"><caption>\(caption)</caption>
            <thead><tr>\(Self.columns.map { "<th scope=\"col\">\($0)</th>" as Markup })</tr></thead>
            <tbody>\(rows)</tbody></table></div>
            """
    }

    private func form(_ names: [String]) -> Markup {
        """
        <form class="fields" action="/changes" method="get">
        \(PageFrame.field("from", "From", query["from"], hint: "transaction or time"))
        \(PageFrame.field("to", "To", query["to"], hint: "now"))
        \(PageFrame.choice("entity", "Entity", names, query["entity"], none: "all"))
        \(PageFrame.field("limit", "Objects", query["limit"], hint: "\(Limits.defaultRows)", kind: "number"))<button>Compare</button>
        </form>
        """
    }
}
