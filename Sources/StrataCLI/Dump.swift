import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataModelFile
import StrataTransfer

/// All objects of a store.
struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print all objects, entity by entity.",
        discussion: "With --format csv name one entity; its columns are the file's.")

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The entities to print; all if none is named.", completion: NameCompletion.entities)
    var entities: [String] = []
    @Option(help: "A point of the past: a transaction number or a time, such as 2026-05-01T12:00.")
    var at: Point?
    @Flag(help: "Print JSON Lines with everything in them, which `import --jsonl` makes an equal store of.")
    var jsonl = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if jsonl, at != nil { throw ValidationError("--jsonl prints the store as it is now: leave --at out.") }
        if output.format == .csv, entities.count != 1 {
            throw ValidationError("CSV has the columns of one entity: name one.")
        }
    }

    func run() throws {
        try reporting {
            if jsonl {
                var transfer = TextTransfer()
                transfer.entities = entities
                let bar = ProgressBar("dumping", .objects, besideOutput: true)
                defer { bar.finish() }
                transfer.onRecord = { bar.count() }
                _ = try transfer.writeJSONLines(argument.url, to: "-")
                return
            }
            let session = try argument.session(at: at)
            try session.context.performAndWait { try print(session) }
        }
    }

    private func print(_ session: Session) throws {
        let chosen =
            try entities.isEmpty
            ? session.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
            : entities.map { try session.entity($0) }
        var isFirst = true
        for entity in chosen where !entity.isAbstract || !entities.isEmpty {
            let columns = ObjectColumns(entity, withToMany: true)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity.name ?? "")
            request.includesSubentities = !entities.isEmpty && output.format == .csv
            if output.format.isJSON {
                try session.forEach(request) { object in
                    let values = RecordWriter.json(columns.names, columns.cells(object))
                    let record =
                        "{\"entity\":\(QuotedText.of(entity.name ?? "")),\"uri\":\(ObjectColumns.uri(object).json),"
                        + "\"values\":\(values)}"
                    if output.format == .ndjson { return Terminal.output.write(record + "\n") }
                    Terminal.output.write((isFirst ? "[" : ",\n") + record)
                    isFirst = false
                }
                continue
            }
            if output.format == .table {
                if !isFirst { Terminal.output.write("\n") }
                isFirst = false
                Terminal.output.write(Terminal.output.bold(entity.name ?? "") + "\n")
            }
            let writer = RecordWriter(output, columns: ["uri"] + columns.names)
            try session.forEach(request) { writer.write([ObjectColumns.uri($0)] + columns.cells($0)) }
            writer.finish()
        }
        if output.format == .json { Terminal.output.write(isFirst ? "[]\n" : "]\n") }
        Terminal.output.flush()
    }
}
