import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataTransfer

/// Makes a store of what another program, or `export`, wrote.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a store of a Core Data file, JSON Lines or CSV.",
        discussion: """
            With --core-data the rows of SOURCE, a file of SQLite that Apple's Core Data wrote, become a new store. A \
            write-ahead log beside it is read with it; SOURCE stays as it is, and the program that it belongs to must not \
            be running. Needs libsqlite3.so.0.

            With --jsonl SOURCE is what `export --jsonl` or `dump --jsonl` printed, or - for the standard input; with --csv \
            a directory that `export --csv` made, or the file of one entity.

            Objects keep their entities and primary keys, and the store its UUID, so that URIs from before lead to the \
            same objects. The model comes out of SOURCE, unless --model names a compiled one (.mom or .momd).
            """)

    @Flag var form: TransferForm
    @Argument(help: "What is imported.", completion: .file())
    var source: String
    @Argument(help: "The new store's directory, which must not exist yet.", completion: .directory)
    var store: String
    @Option(help: "The compiled model that the data is of.", completion: .file())
    var model: String?
    @Flag(help: "Leave out what of a Core Data file no property of the model has, and list it.")
    var partial = false
    @Flag(help: "With --jsonl and --csv: leave out references to objects that are not there, and say how many.")
    var dangling = false
    @OptionGroup var text: TextOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try text.validate(with: form)
        if !text.entity.isEmpty {
            // What is in the text says which entity it is of, but for one file of CSV.
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: source, isDirectory: &isDirectory)
            guard form == .csv, text.entity.count == 1, !isDirectory.boolValue else {
                throw ValidationError("--entity names the one entity of a file of CSV when something is imported.")
            }
        }
        if partial, form != .coreData { throw ValidationError("--partial goes with --core-data only.") }
        if dangling, form == .coreData { throw ValidationError("--dangling goes with --jsonl and --csv only.") }
    }

    func run() throws {
        output.write(try reporting { try load() })
    }

    private func load() throws -> [(name: String, value: Cell)] {
        let model = try model.map { try NSManagedObjectModel(compiledModelAt: URL(fileURLWithPath: $0)) }
        let target = URL(fileURLWithPath: store, isDirectory: true)
        let bar = ProgressBar("importing", .objects)
        defer { bar.finish() }
        var transfer = transfer
        transfer.onRecord = { bar.count() }
        switch form {
        case .coreData:
            let importer = try CoreDataImporter(URL(fileURLWithPath: source))
            let report = try importer.run(to: target, model: model, partial: partial) { bar.update($0, of: $1) }
            bar.finish()
            for omission in report.omissions { Terminal.messages.write("left out: \(omission)\n") }
            Terminal.messages.flush()
            return [
                ("objects", .count(report.objects)), ("links", .count(report.links)),
                ("transactions", .count(report.transactions)),
            ]
        case .jsonl: return figures(try transfer.readJSONLines(source, to: target, model: model))
        case .csv: return figures(try transfer.readCSV(source, to: target, model: model))
        }
    }

    private var transfer: TextTransfer {
        var transfer = text.transfer
        transfer.leavesOutDanglingReferences = dangling
        return transfer
    }

    private func figures(_ report: TextTransfer.Report) -> [(name: String, value: Cell)] {
        [("objects", .count(report.objects)), ("links", .count(report.links))]
            + (dangling ? [("dangling", .count(report.dangling))] : [])
    }
}
