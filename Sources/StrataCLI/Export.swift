import ArgumentParser
import Foundation
import StrataBrowsing
import StrataTransfer

/// Writes a store in a form that other programs read.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a store as a Core Data file, JSON Lines or CSV.",
        discussion: """
            With --core-data TARGET becomes a file of SQLite with the tables of Apple's Core Data. Core Data opens it \
            when it has the version hashes of the program's model: those are known of stores that were imported and \
            not migrated since; `versionHashes: 0` says that they are not. Needs libsqlite3.so.0.

            With --jsonl TARGET has the whole store with its model, or the entities named, or - prints it; with --csv it \
            is a directory with a file for each entity, or the file of the one entity that is named.

            Reads also beside a program that has the store open. The history is left out, but with --core-data --history.
            """)

    @Flag var form: TransferForm
    @OptionGroup var argument: StoreArgument
    @Argument(help: "What is made, which must not exist yet.", completion: .file())
    var target: String
    @Flag(help: "With --core-data: the persistent history, too.")
    var history = false
    @OptionGroup var text: TextOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try text.validate(with: form)
        if history, form != .coreData { throw ValidationError("--history goes with --core-data only.") }
    }

    func run() throws {
        let figures = try reporting { try save() }
        if target != "-" { output.write(figures) }
    }

    private func save() throws -> [(name: String, value: Cell)] {
        let bar = ProgressBar("exporting", .objects, besideOutput: target == "-")
        defer { bar.finish() }
        switch form {
        case .coreData:
            let report = try CoreDataExporter(argument.url).run(
                to: URL(fileURLWithPath: target), history: history
            ) { bar.update($0, of: $1) }
            return [("objects", .count(report.objects)), ("links", .count(report.links))]
                + (history ? [("transactions", .count(report.transactions))] : [])
                + [("versionHashes", .count(report.hasVersionHashes ? 1 : 0))]
        case .jsonl:
            let report = try transfer(bar).writeJSONLines(argument.url, to: target)
            return [("objects", .count(report.objects)), ("links", .count(report.links))]
        case .csv:
            let report = try transfer(bar).writeCSV(argument.url, to: target)
            return [("objects", .count(report.objects)), ("links", .count(report.links))]
        }
    }

    private func transfer(_ bar: ProgressBar) -> TextTransfer {
        var transfer = text.transfer
        transfer.onRecord = { bar.count() }
        return transfer
    }
}
