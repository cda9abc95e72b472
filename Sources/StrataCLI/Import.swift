import ArgumentParser
import Foundation
import Strata
import StrataTransfer

/// Makes a store of what another program wrote.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a store of one that Apple's Core Data wrote.",
        discussion: """
            With --core-data FILE the rows of a Core Data store (a file of SQLite) become a new store at STORE. Objects \
            keep their entities and primary keys, and the store its UUID, so that URIs from before lead to the same \
            objects. A write-ahead log beside FILE is read with it; FILE stays as it is. Needs libsqlite3.so.0.

            The model comes out of FILE, unless --model names a compiled one (.mom or .momd).
            """)

    @Argument(help: "The new store's directory, which must not exist yet.", completion: .directory)
    var store: String
    @Option(help: "The file that Core Data wrote.", completion: .file())
    var coreData: String
    @Option(help: "The model that the file was written with, if the file does not keep it.", completion: .file())
    var model: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = try reporting { try load() }
        output.write([
            ("objects", report.objects), ("links", report.links), ("transactions", report.transactions),
        ])
    }

    private func load() throws -> CoreDataImporter.Report {
        let importer = try CoreDataImporter(URL(fileURLWithPath: coreData))
        let model = try model.map { try NSManagedObjectModel(compiledModelAt: URL(fileURLWithPath: $0)) }
        let bar = ProgressBar("importing")
        defer { bar.finish() }
        return try importer.run(to: URL(fileURLWithPath: store, isDirectory: true), model: model) {
            bar.update($0, of: $1)
        }
    }
}
