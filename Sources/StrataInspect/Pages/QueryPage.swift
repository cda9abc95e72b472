import Foundation
import HTTPTypes
import Strata
import StrataBrowsing
import StrataModelFile

/// A request that is put together: its results, how they were found, and a chart of one of their columns.
struct QueryPage {
    let inspector: Inspector
    let query: Query
    let session: Session
    let deadline: Deadline

    /// What a request gave.
    private struct Results {
        var columns: [String]
        var records: [[Cell]]
        var explanation: FetchExplanation
    }

    func content() throws -> PageContent {
        try inspector.read(session) { context in
            let names = session.model.entities.compactMap(\.name).sorted()
            guard let name = query["entity"] else {
                return PageContent(title: "Query", body: form(names, nil), columns: [], records: [])
            }
            let entity = try session.entity(name)
            let results = try results(entity, context)
            return PageContent(
                title: "Query", body: try body(names, entity, results), columns: results.columns,
                records: results.records, fields: [("plan", PlanTree(results.explanation).json)])
        }
    }

    // MARK: Asking

    private func results(_ entity: NSEntityDescription, _ context: NSManagedObjectContext) throws -> Results {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity.name ?? "")
        request.predicate = try query["where"].map { try NSPredicate.parse($0) }
        request.fetchLimit = try query.limit()
        let selected = try selection(request, entity)
        request.sortDescriptors = try SelectList.parts(query["sort"] ?? "").map { text in
            let key = text.hasPrefix("-") ? String(text.dropFirst()) : text
            if let item = selected?.item(key) {
                return NSSortDescriptor(key: item.name, ascending: !text.hasPrefix("-"))
            }
            let sort = try ObjectsPage.sorts(text, entity).first
            return NSSortDescriptor(key: sort?.key ?? key, ascending: sort?.isAscending ?? true)
        }
        request.timeLimit = deadline.left
        let explanation: FetchExplanation
        var records: [[Cell]] = []
        let columns: [String]
        if let selected {
            explanation = try context.explain(NSFetchRequest<NSDictionary>(converting: request))
            request.timeLimit = deadline.left
            for case let row as NSDictionary in try context.fetch(request) {
                records.append(
                    selected.items.map { item in
                        let value = row[item.name]
                        return Cell(value is NSNull ? nil : value, item.attribute)
                    })
            }
            columns = selected.items.map(\.title)
        } else {
            explanation = try context.explain(NSFetchRequest<NSManagedObject>(converting: request))
            request.timeLimit = deadline.left
            let shown = EntityColumns(entity)
            for case let object as NSManagedObject in try context.fetch(request) {
                records.append([Cell(object.objectID)] + shown.cells(object))
            }
            columns = ["uri"] + shown.names
        }
        return Results(columns: columns, records: records, explanation: explanation)
    }

    private func selection(
        _ request: NSFetchRequest<any NSFetchRequestResult>, _ entity: NSEntityDescription
    ) throws -> SelectList? {
        guard query["select"] != nil || query["group"] != nil else {
            if query["having"] != nil {
                throw InspectError(.badRequest, "a condition on groups needs something to group by")
            }
            return nil
        }
        request.resultType = .dictionaryResultType
        var list = SelectList(entity)
        var groups = SelectList(entity)
        if let group = query["group"] { try groups.add(group) }
        try list.add(query["select"] ?? (groups.items.map(\.title) + ["count(*)"]).joined(separator: ", "))
        request.propertiesToFetch = list.items.map(\.property)
        if query["group"] != nil {
            request.propertiesToGroupBy = groups.items.map { list.item($0.title)?.property ?? $0.property }
        } else if query["having"] != nil {
            throw InspectError(.badRequest, "a condition on groups needs something to group by")
        }
        request.havingPredicate = try query["having"].map { try NSPredicate.parse(SelectList.translated($0)) }
        return list
    }

    // MARK: Showing

    private func form(_ names: [String], _ columns: [String]?) -> Markup {
        """
        <form class="fields" action="/query" method="get">
        \(PageFrame.choice("entity", "Entity", names, query["entity"], none: "Choose…"))
        <label class="wide">Predicate<input name="where" value="\(query["where"] ?? "")" data-completes="predicate"
        placeholder="size > 10" autocomplete="off" spellcheck="false"></label>
        <label class="wide">Select<input name="select" value="\(query["select"] ?? "")" data-completes="list"
        placeholder="section.name, count(*) AS packages, sum(size)" autocomplete="off" spellcheck="false"></label>
        <label class="wide">Group by<input name="group" value="\(query["group"] ?? "")" data-completes="list"
        placeholder="section.name" autocomplete="off" spellcheck="false"></label>
        <label class="wide">Groups with<input name="having" value="\(query["having"] ?? "")" data-completes="list"
        placeholder="packages > 2" autocomplete="off" spellcheck="false"></label>
        <label class="wide">Sort<input name="sort" value="\(query["sort"] ?? "")" data-completes="list"
        placeholder="-packages" autocomplete="off" spellcheck="false"></label>
        \(PageFrame.field("limit", "Rows", query["limit"], hint: "\(Limits.defaultRows)", kind: "number"))
        \(PageFrame.choice("chart", "Chart of", columns ?? query["chart"].map { [$0] } ?? [], query["chart"], none: "none"))
        \(PageFrame.field("at", "At", query["at"], hint: "transaction or time"))<button>Run</button></form>
        """
    }

    private func body(_ names: [String], _ entity: NSEntityDescription, _ results: Results) throws -> Markup {
        var chart = Markup()
        if let name = query["chart"] {
            guard let column = results.columns.firstIndex(of: name) else {
                throw InspectError(.badRequest, "there is no column \(name) to draw")
            }
            chart = BarChart(results.columns, results.records, of: column).markup
        }
        let caption: Markup = "\(results.records.count) rows"
        return """
            \(form(names, results.columns))
            <section aria-labelledby="plan"><h2 id="plan">Plan</h2>\(PlanTree(results.explanation).markup)</section>
            \(chart)\(CellMarkup.table(results.columns, results.records, at: query["at"], caption: caption))
            """
    }
}
