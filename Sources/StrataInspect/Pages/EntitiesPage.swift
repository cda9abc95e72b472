import Foundation
import Strata
import StrataBrowsing
import StrataModelFile

/// The entities, with how many objects they have and what these take.
struct EntitiesPage {
    let inspector: Inspector
    let query: Query
    let session: Session
    let deadline: Deadline

    func content() throws -> PageContent {
        let isPast = query["at"] != nil
        return try inspector.read(session) { context in
            let survey = inspector.sizes.current()
            let entities = session.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
            var records: [[Cell]] = []
            var total = 0
            for entity in entities {
                let name = entity.name ?? ""
                let count = entity.isAbstract ? 0 : try count(name, context)
                total += count
                let size = !isPast ? survey.sizes?.byteCounts[name] : nil
                records.append([
                    .text(name), .count(count), size.map { .bytes($0) } ?? .absent,
                    entity.superentity?.name.map { .text($0) } ?? .absent, .count(entity.attributesByName.count),
                    .count(entity.relationshipsByName.count),
                ])
            }
            let columns = ["entity", "objects", "stored", "parent", "attributes", "relationships"]
            return PageContent(
                title: "Entities", body: body(records, columns, total, survey, isPast: isPast),
                columns: columns, records: records,
                fields: [
                    ("objects", "\(total)"), ("transaction", "\(session.newestTransaction())"),
                    ("store", QuotedText.of(inspector.url.lastPathComponent)),
                ])
        }
    }

    /// The store knows how many there are: no object is looked at.
    private func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = false
        request.timeLimit = deadline.left
        return try context.count(for: request)
    }

    private func body(
        _ records: [[Cell]], _ columns: [String], _ total: Int,
        _ survey: (sizes: SizeSurvey.Sizes?, failure: String?, isRunning: Bool), isPast: Bool
    ) -> Markup {
        let at = query["at"]
        let largest = survey.sizes?.byteCounts.values.max() ?? 0
        let rows = records.map { record -> Markup in
            let name = record[0].plainText
            var bar = Markup()
            if case .bytes(let size) = record[2], largest > 0 {
                let share = Double(size) / Double(largest) * 80
                bar = """
                    <svg class="bar" width="80" height="10" aria-hidden="true"><rect width="\(share)" height="10"/></svg>
                    """
            }
            let cells = record.dropFirst().enumerated().map { index, cell -> Markup in
                let kind: Markup = cell.isNumeric ? " class=\"number\"" : ""
                return "<td\(kind)>\(CellMarkup.short(cell, at: at))\(index == 1 ? bar : Markup())</td>"
            }
            return """
                <tr tabindex="-1"><th scope="row"><a href="\(Link("/objects", ["entity": name, "at": at]))">
                <bdi>\(Cell.visible(CellMarkup.cut(name, Limits.cellCharacters)))</bdi></a></th>\(cells)</tr>

                """
        }
        let note: Markup =
            if isPast {
                "Sizes are told of what is stored now only."
            } else if let failure = survey.failure {
                "Sizes cannot be told: \(failure)"
            } else if survey.isRunning, survey.sizes == nil {
                "Sizes are being measured: load the page again."
            } else {
                "Sizes are those at transaction \(survey.sizes?.sequence ?? 0), with large values; shared blocks count by the share that is live."
            }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Table"><table id="results">
            <caption>\(total) objects</caption>
            <thead><tr>\(columns.map { "<th scope=\"col\">\($0)</th>" as Markup })</tr></thead>
            <tbody>\(rows)</tbody></table></div><p class="note">\(note)</p>
            <form class="fields" action="/" method="get"><fieldset><legend>Another time</legend>
            \(PageFrame.field("at", "At", at, hint: "transaction or 2026-05-01T12:00"))<button>Show</button></fieldset></form>
            """
    }
}
