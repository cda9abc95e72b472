import CoreData
import StrataTransfer
import Testing

/// The examples of the reference of StrataTransfer, run. `GuideDocumentTests` holds that it shows nothing else.
@Suite struct TransferExampleTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try Company.makeStore(scratch.url("store"))
        try export(scratch.url("store"), to: scratch.url("out.sqlite"))
    }

    private func export(_ store: URL, to appleFile: URL) throws {
        let exported = try CoreDataExporter(store).run(to: appleFile)
        print("\(exported.objects) objects")
        #expect(exported.objects == 13)
    }

    @Test func aFileOfCoreDataIsImported() throws {
        let appleFile = scratch.url("out.sqlite")
        let store = scratch.url("imported")
        // An exported file keeps no model.
        let model = Company.model()
        let importer = try CoreDataImporter(appleFile)
        let report = try importer.run(to: store, model: model)
        print("\(report.objects) objects, \(report.transactions) transactions")
        #expect(report.objects == 13)
    }

    @Test func aStoreIsCopiedAsText() throws {
        let store = scratch.url("store")
        let dump = scratch.url("dump.jsonl")
        let copy = scratch.url("copy")
        let transfer = TextTransfer()
        _ = try transfer.writeJSONLines(store, to: dump.path)
        _ = try transfer.readJSONLines(dump.path, to: copy)
        #expect(FileManager.default.fileExists(atPath: copy.path))
    }
}
