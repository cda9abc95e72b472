import CoreData
import Foundation
import Testing

@testable import StrataTransfer

/// Files whose keys are the last that there are, or lie behind them.
@Suite struct ExhaustedImportTests {
    private static let last = Int64(1) << 48 - 2
    private let scratch: Scratch
    private let file: URL
    private var store: URL { scratch.url("new") }

    init() throws {
        scratch = try Scratch()
        file = scratch.url("Library.sqlite")
        try Company.makeStore(scratch.url("origin"))
        try CoreDataExporter(scratch.url("origin")).run(to: file)
    }

    private func change(_ sql: String) throws { try SQLiteFile.creating(file).run(sql) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).sorted() }
    }

    @Test(arguments: [last + 1, last + 2, .max, 0, -1]) func aKeyThatNoObjectCanHaveIsNamed(_ key: Int64) throws {
        try change("UPDATE ZNOTE SET Z_PK = \(key) WHERE Z_PK = 1")
        let before = try names
        let error = #expect(throws: TransferError.self) {
            try CoreDataImporter(file).run(to: store, model: Company.model())
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("Library.sqlite: ZNOTE, row \(key): "), "\(text)")
        if key == Self.last + 1 { #expect(text.contains("no object of Note can have the primary key"), "\(text)") }
        #expect(try names == before)
    }

    /// The last key, of an object that is there or was there once: no further one is numbered.
    @Test(arguments: [
        "UPDATE ZNOTE SET Z_PK = \(last) WHERE Z_PK = 1",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(last) WHERE Z_NAME = 'Note'",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(last + 1) WHERE Z_NAME = 'Note'",
    ]) func behindTheLastKeyNoObjectIsNumbered(_ sql: String) throws {
        try change(sql)
        try CoreDataImporter(file).run(to: store, model: Company.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: nil)
        defer { try? coordinator.remove(opened) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let notes = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(try context.count(for: notes) == 2)
            _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .persistentStoreSave)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("No new object of Note can be numbered"), "\(text)")
            context.rollback()
            _ = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            try context.save()
            #expect(try context.count(for: notes) == 2)
        }
    }

    @Test(arguments: [last + 2, .max, -1]) func aGreatestKeyThatNoObjectCanHaveIsNamed(_ key: Int64) throws {
        try change("UPDATE Z_PRIMARYKEY SET Z_MAX = \(key) WHERE Z_NAME = 'Note'")
        let before = try names
        let error = #expect(throws: TransferError.self) {
            try CoreDataImporter(file).run(to: store, model: Company.model())
        }
        #expect(error.map { "\($0)" }?.contains("is the greatest key of Note, which is out of range") == true)
        #expect(try names == before)
    }

    @Test(arguments: [UInt64(last) + 1, UInt64(last) + 2]) func aKeyInATextIsNamed(_ key: UInt64) throws {
        let text = scratch.url("text.jsonl")
        try Data("{\"entity\":\"Note\",\"uri\":\"x/Note/p\(key)\",\"values\":{}}\n".utf8).write(to: text)
        let before = try names
        let error = #expect(throws: (any Error).self) {
            try TextTransfer().readJSONLines(text.path, to: store, model: Company.model())
        }
        let said = error.map { "\($0)" } ?? ""
        #expect(said.contains("line 1") && said.contains("\(key)"), "\(said)")
        #expect(try names == before)
    }
}
