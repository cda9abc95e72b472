import ArgumentParser
import Foundation
import Strata
import StrataBrowsing

/// Objects of an entity that satisfy a predicate, or what is computed of them.
struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find objects by a predicate, and compute values of them.",
        discussion: """
            The predicate is written as for NSPredicate, for example: strata query Store Employee \
            "age > 30 AND department.title BEGINSWITH[c] 'res'". Without one all objects are printed.

            --select prints values instead of objects: key paths through to-one relationships, expressions, and the \
            aggregates count, sum, avg, min and max, each with a name if AS follows. As in SQL, with --group-by \
            there is a row for each group, and --having chooses among groups: strata query Store Book \
            --group-by author.name --select 'author.name, count(*) AS books, sum(pages)' --having 'books > 2' --sort=-books
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The entity.", completion: NameCompletion.entities)
    var entity: String
    @Argument(help: "The predicate.")
    var predicate: String?
    @Option(
        help: "What to print of each object or group, separated by commas, instead of the objects.",
        completion: NameCompletion.properties)
    var select: String?
    @Option(
        help: "Key paths or expressions, separated by commas, that the objects of a group agree in.",
        completion: NameCompletion.properties)
    var groupBy: String?
    @Option(help: "A predicate for groups: about aggregates, names of --select and what is grouped by.")
    var having: String?
    @Flag(help: "With --select: print equal rows once.")
    var distinct = false
    @Option(
        parsing: .unconditional,
        help: "What to sort by, separated by commas; a minus before a part turns its order round.",
        completion: NameCompletion.properties)
    var sort: String?
    @Option(help: "Print at most so many.")
    var limit: Int?
    @Option(help: "Leave out so many at the beginning.")
    var offset: Int?
    @Flag(help: "Say how the results are found instead of printing them.")
    var explain = false
    @Option(help: "A point of the past: a transaction number or a time, such as 2026-05-01T12:00.")
    var at: Point?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
        if let offset, offset < 0 { throw ValidationError("--offset is at least 0.") }
        if having != nil, groupBy == nil { throw ValidationError("--having goes with --group-by only.") }
        if distinct, select == nil { throw ValidationError("--distinct goes with --select only.") }
    }

    func run() throws {
        try reporting {
            let session = try argument.session(at: at)
            try session.context.performAndWait { try print(session) }
        }
    }

    private func print(_ session: Session) throws {
        let description = try session.entity(entity)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: description.name ?? "")
        if let predicate { request.predicate = try NSPredicate.parse(predicate) }
        if let limit { request.fetchLimit = limit }
        if let offset { request.fetchOffset = offset }
        let selected = try selection(request, description)
        request.sortDescriptors = try sort.map { text in
            try SelectList.parts(text).map { try descriptor($0, selected, description) }
        }
        if explain { return try printExplanation(session, request) }
        if let selected { return try print(selected, session, request) }
        let columns = ObjectColumns(description, withToMany: false)
        let writer = RecordWriter(output, columns: ["uri"] + columns.names)
        try session.forEach(request) { writer.write([ObjectColumns.uri($0)] + columns.cells($0)) }
        writer.finish()
    }

    // MARK: Values

    /// What is printed instead of objects, and makes the request ask for it.
    private func selection(
        _ request: NSFetchRequest<any NSFetchRequestResult>, _ entity: NSEntityDescription
    ) throws -> SelectList? {
        guard select != nil || groupBy != nil else { return nil }
        request.resultType = .dictionaryResultType
        var list = SelectList(entity)
        var groups = SelectList(entity)
        if let groupBy { try groups.add(groupBy) }
        try list.add(select ?? (groups.items.map(\.title) + ["count(*)"]).joined(separator: ", "))
        request.propertiesToFetch = list.items.map(\.property)
        if groupBy != nil {
            // An expression that is printed, too, is the same one.
            request.propertiesToGroupBy = groups.items.map { group in list.item(group.title)?.property ?? group.property
            }
        }
        request.havingPredicate = try having.map { try NSPredicate.parse(SelectList.translated($0)) }
        request.returnsDistinctResults = distinct
        return list
    }

    private func print(
        _ list: SelectList, _ session: Session, _ request: NSFetchRequest<any NSFetchRequestResult>
    ) throws {
        let rows = try session.context.fetch(request)
        let writer = RecordWriter(output, columns: list.items.map(\.title))
        for case let row as NSDictionary in rows {
            writer.write(
                list.items.map { item in
                    let value = row[item.name]
                    return Cell(value is NSNull ? nil : value, item.attribute)
                })
        }
        writer.finish()
    }

    private func descriptor(
        _ text: String, _ selected: SelectList?, _ entity: NSEntityDescription
    ) throws -> NSSortDescriptor {
        let key = text.hasPrefix("-") ? String(text.dropFirst()) : text
        if let item = selected?.item(key) { return NSSortDescriptor(key: item.name, ascending: !text.hasPrefix("-")) }
        guard
            entity.attributesByName[key.split(separator: ".").first.map(String.init) ?? ""] != nil || key.contains(".")
        else {
            let names = (selected?.items.map(\.title) ?? []) + entity.attributesByName.keys.sorted()
            throw CommandError(
                "\(entity.name ?? "") has no attribute \(key) to sort by; it has \(names.joined(separator: ", "))")
        }
        return NSSortDescriptor(key: key, ascending: !text.hasPrefix("-"))
    }

    // MARK: Plans

    private func printExplanation(
        _ session: Session, _ request: NSFetchRequest<any NSFetchRequestResult>
    ) throws {
        let explanation =
            request.resultType == .dictionaryResultType
            ? try session.context.explain(NSFetchRequest<NSDictionary>(converting: request))
            : try session.context.explain(NSFetchRequest<NSManagedObject>(converting: request))
        if output.format == .table {
            Terminal.output.write("\(explanation)\n")
            return Terminal.output.flush()
        }
        let writer = RecordWriter(
            output,
            columns: ["path", "results", "blocks", "blocksPruned", "blocksCached", "rowsTested", "rowsInterpreted"],
            isEndless: true)
        let figures = [
            explanation.results, explanation.blocks, explanation.blocksPruned, explanation.blocksCached,
            explanation.rowsTested, explanation.rowsInterpreted,
        ]
        writer.write([Cell.text(explanation.path.rawValue)] + figures.map { Cell.count($0) })
        writer.finish()
    }
}
