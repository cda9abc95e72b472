import ArgumentParser
import Foundation
import Strata

/// Objects of an entity that satisfy a predicate.
struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find objects by a predicate.",
        discussion: """
            The predicate is written as for NSPredicate, for example: strata query Store Employee \
            "age > 30 AND department.title BEGINSWITH[c] 'res'". Without one all objects are printed.
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The entity.")
    var entity: String
    @Argument(help: "The predicate.")
    var predicate: String?
    @Option(
        parsing: .unconditional,
        help: "Properties to sort by, separated by commas; a minus before one turns its order round.")
    var sort: String?
    @Option(help: "Print at most so many.")
    var limit: Int?
    @Flag(help: "Say how the objects are found instead of printing them.")
    var explain = false
    @Option(help: "A point of the past: a transaction number or a time.")
    var at: Point?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
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
        request.sortDescriptors = try sort?.split(separator: ",").map { try descriptor($0, description) }
        if explain {
            let explanation = try session.context.explain(
                NSFetchRequest<NSManagedObject>(converting: request))
            if output.format == .table {
                Terminal.output.write("\(explanation)\n")
                return Terminal.output.flush()
            }
            let writer = RecordWriter(
                output.format,
                columns: [
                    "path", "results", "blocks", "blocksPruned", "blocksCached", "rowsTested", "rowsInterpreted",
                ],
                isEndless: true)
            let figures = [
                explanation.results, explanation.blocks, explanation.blocksPruned, explanation.blocksCached,
                explanation.rowsTested, explanation.rowsInterpreted,
            ]
            writer.write([Cell.text(explanation.path.rawValue)] + figures.map { Cell.integer(Int64($0)) })
            return writer.finish()
        }
        let columns = ObjectColumns(description, withToMany: false)
        let writer = RecordWriter(output.format, columns: ["uri"] + columns.names)
        try session.forEach(request) { writer.write([ObjectColumns.uri($0)] + columns.cells($0)) }
        writer.finish()
    }

    private func descriptor(_ text: Substring, _ entity: NSEntityDescription) throws -> NSSortDescriptor {
        let key = text.hasPrefix("-") ? String(text.dropFirst()) : String(text)
        guard
            entity.attributesByName[key.split(separator: ".").first.map(String.init) ?? ""] != nil || key.contains(".")
        else { throw CommandError("\(entity.name ?? "") has no attribute \(key) to sort by") }
        return NSSortDescriptor(key: key, ascending: !text.hasPrefix("-"))
    }
}
