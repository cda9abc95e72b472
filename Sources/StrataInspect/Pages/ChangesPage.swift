import Foundation
import Strata
import StrataBrowsing
import StrataModelFile

/// What differs between two points of the past.
struct ChangesPage {
    let inspector: Inspector
    let query: Query

    private static let columns = ["change", "entity", "uri", "property", "before", "after"]

    /// Ends going through the differences.
    private struct Enough: Error {}

    func content() throws -> PageContent {
        let names = inspector.newest.model.entities.compactMap(\.name).sorted()
        guard let from = try query.point("from") else {
            return PageContent(
                title: "Changes",
                body: "\(form(names))<p class=\"note\">Say from which point, a transaction's number or a time. </p>",
                columns: Self.columns, records: [])
        }
        let skipped = try query.number("skip") ?? 0
        let (records, isMore) = try differences(from, try query.point("to"), skipping: skipped, try query.limit())
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

    private func differences(
        _ from: Point, _ to: Point?, skipping: Int64, _ limit: Int
    ) throws -> (records: [[Cell]], isMore: Bool) {
        let session = inspector.newest
        let wanted = try query["entity"].map { try session.entity($0) }
        let coordinator = session.coordinator
        let (before, after) = (try from.generation(coordinator), try to?.generation(coordinator) ?? .current)
        let deadline = Deadline()
        var records: [[Cell]] = []
        var number: Int64 = 0
        var taken = 0
        do {
            try coordinator.diff(from: before, to: after).forEach { difference in
                try deadline.check()
                if let wanted, !difference.objectID.entity.isKindOf(entity: wanted) { return }
                number += 1
                if number <= skipping { return }
                if taken == limit { throw Enough() }
                taken += 1
                records += Self.records(difference)
            }
        } catch is Enough {
            return (records, true)
        }
        return (records, false)
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
