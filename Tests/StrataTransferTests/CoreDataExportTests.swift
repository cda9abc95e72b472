import CoreData
import Foundation
import SystemPackage
import Testing

@testable import StrataTransfer

@Suite struct CoreDataExportTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try Company.makeStore(scratch.url("store"))
    }

    private func rows(_ sql: String, _ name: String = "out.sqlite") throws -> [[String]] {
        let statement = try SQLiteFile.reading(scratch.url(name)).prepare(sql)
        var rows: [[String]] = []
        while try statement.step() {
            rows.append((0..<statement.columnCount).map { statement.isNull($0) ? "NULL" : statement.shown($0) })
        }
        return rows
    }

    @Test func tablesAndColumnsAreCalledAsCoreDataCallsThem() throws {
        let report = try CoreDataExporter(scratch.url("store")).run(to: scratch.url("out.sqlite"))
        #expect(report.objects == 13)
        #expect(!report.hasVersionHashes)
        #expect(
            try rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1") == [
                ["1", "Note", "0", "2"], ["2", "Person", "0", "6"], ["3", "Boss", "2", "0"], ["4", "Clerk", "2", "0"],
                ["5", "Project", "0", "3"], ["6", "Team", "0", "3"],
            ])
        #expect(try rows("SELECT ZNAME, ZLEVEL, ZLEVEL1 FROM ZPERSON WHERE Z_ENT = 3") == [["Ünal", "7", "NULL"]])
        #expect(try rows("SELECT ZLEVEL, ZLEVEL1 FROM ZPERSON WHERE ZNAME = 'clerk 2'") == [["NULL", "L2"]])
        // A relationship to an entity that others inherit from says which one it leads to.
        #expect(try rows("SELECT ZABOUT, Z2_ABOUT FROM ZNOTE ORDER BY Z_PK").map { $0[1] } == ["3", "4"])
        #expect(
            try rows("SELECT ZNAME, Z_FOK_TEAM FROM ZPERSON WHERE ZTEAM = 1 ORDER BY 2") == [
                ["clerk 3", "1024"], ["Ünal", "2048"], ["clerk 0", "3072"], ["clerk 4", "4096"],
            ])
        #expect(
            try rows("SELECT Z_5PROJECTS, Z_FOK_5PROJECTS FROM Z_2PROJECTS ORDER BY 2").map { $0[1] } == [
                "1024", "2048",
            ])
        #expect(try rows("SELECT count(*) FROM Z_2FRIENDS") == [["6"]])
        #expect(try rows("SELECT hex(ZPHOTO) FROM ZPERSON WHERE Z_ENT = 3") == [["01010200FF"]])
        let uuid =
            try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: scratch.url("store"), options: nil)[NSStoreUUIDKey] as? String
        #expect(try rows("SELECT Z_UUID FROM Z_METADATA") == [[uuid ?? ""]])
    }

    @Test func whatIsExportedIsImportedAsItWas() throws {
        try CoreDataExporter(scratch.url("store")).run(to: scratch.url("out.sqlite"))
        let report = try CoreDataImporter(scratch.url("out.sqlite")).run(
            to: scratch.url("copy"), model: Company.model())
        #expect(report == CoreDataImporter.Report(objects: 13, links: 5, transactions: 0))
        func comparable(_ url: URL) throws -> [String] {
            // Places in an order have other numbers, and links other keys.
            try TextTransfer.lines(of: url, in: scratch).map { line in
                line.replacing(/"@order\.team":\d+/, with: "").replacing(/"order":\[[^\]]*\]/, with: "")
            }.sorted()
        }
        for (line, want) in zip(try comparable(scratch.url("copy")), try comparable(scratch.url("store"))) {
            #expect(line == want)
        }
        // And once more: now the orders are the same, too.
        try CoreDataExporter(scratch.url("copy")).run(to: scratch.url("again.sqlite"))
        for table in ["ZPERSON", "Z_2PROJECTS", "Z_2FRIENDS", "ZNOTE", "ZTEAM", "ZPROJECT", "Z_PRIMARYKEY"] {
            #expect(try rows("SELECT * FROM \(table)", "again.sqlite") == rows("SELECT * FROM \(table)"))
        }
    }

    /// What a history has, transaction by transaction.
    private func history(_ store: URL) throws -> [String] {
        let model = try NSManagedObjectModel(storedAt: store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store,
            options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(opened) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return try #require(result?.result as? [NSPersistentHistoryTransaction]).map { transaction in
                let changes = (transaction.changes ?? []).map {
                    "\($0.changeType.rawValue)\($0.changedObjectID.uriRepresentation().path)"
                }
                return "\(transaction.author ?? "-") \(transaction.contextName ?? "-") \(transaction.processID) "
                    + "\(transaction.bundleID) \(Int(transaction.timestamp.timeIntervalSince1970 * 1000)) "
                    + changes.sorted().joined(separator: " ")
            }
        }
    }

    @Test func theHistoryGoesOutAndComesBackWhenItIsAskedFor() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.url("store"), options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for (author, name) in [("it's \"me\"", "main"), ("", nil), ("it's \"me\"", "other")] as [(String, String?)]
            {
                context.transactionAuthor = author
                context.name = name
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("by \(author)", forKey: "text")
                for team in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) {
                    team.setValue("\(name ?? "")", forKey: "title")
                }
                try context.save()
            }
        }
        try coordinator.remove(store)
        try CoreDataExporter(scratch.url("store")).run(to: scratch.url("plain.sqlite"))
        #expect(try rows("SELECT name FROM sqlite_master WHERE name LIKE 'A%'", "plain.sqlite").isEmpty)
        let report = try CoreDataExporter(scratch.url("store")).run(to: scratch.url("out.sqlite"), history: true)
        #expect(report.transactions == 5)
        #expect(
            try rows("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16001") == [
                ["16002", "TRANSACTION", "5"], ["16003", "TRANSACTIONSTRING", "5"],
            ])
        let imported = try CoreDataImporter(scratch.url("out.sqlite")).run(
            to: scratch.url("copy"), model: Company.model())
        #expect(imported.transactions == 5)
        let (before, after) = (try history(scratch.url("store")), try history(scratch.url("copy")))
        #expect(after.count == 5)
        for (line, want) in zip(after, before) { #expect(line == want) }
    }

    /// As Core Data writes them.
    @Test func countsAreKeptRightByTriggers() throws {
        let (book, page, novel) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (book.name, page.name, novel.name) = ("Book", "Page", "GraphicNovel")
        book.subentities = [novel]
        let (pages, bookOf) = (NSRelationshipDescription(), NSRelationshipDescription())
        (pages.name, pages.destinationEntity, pages.inverseRelationship) = ("pages", page, bookOf)
        (bookOf.name, bookOf.destinationEntity, bookOf.inverseRelationship) = ("book", book, pages)
        bookOf.maxCount = 1
        let (count, title) = (NSDerivedAttributeDescription(), NSDerivedAttributeDescription())
        (count.name, count.attributeType) = ("pagesCount", .integer64AttributeType)
        count.derivationExpression = NSExpression(format: "pages.@count")
        let plain = NSAttributeDescription()
        (plain.name, plain.attributeType) = ("title", .stringAttributeType)
        (title.name, title.attributeType) = ("loud", .stringAttributeType)
        title.derivationExpression = NSExpression(format: "uppercase:(title)")
        (book.properties, page.properties) = ([plain, title, count, pages], [bookOf])
        let model = NSManagedObjectModel()
        model.entities = [book, page, novel]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.url("books"), options: nil)
        try coordinator.remove(store)
        try CoreDataExporter(scratch.url("books")).run(to: scratch.url("books.sqlite"))
        let found = try rows("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name", "books.sqlite")
        func told(_ function: String, _ key: String) -> String {
            "SELECT NSCoreDataDATrigger\(function)AffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) "
                + "FROM ZBOOK WHERE Z_PK = \(key); END"
        }
        func trigger(_ suffix: String, _ event: String, _ side: String, _ value: String) -> String {
            "CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_\(suffix) AFTER \(event) ON ZPAGE FOR EACH ROW WHEN "
                + "(\(side).ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = \(value) WHERE Z_PK = \(side).ZBOOK; "
                + told("Updated", "\(side).ZBOOK")
        }
        let expected = [
            "CREATE TRIGGER Z_DA_ZBOOK_Book_pagesCount_SOURCE_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW BEGIN UPDATE ZBOOK "
                + "SET ZPAGESCOUNT = (SELECT IFNULL(COUNT(ZBOOK), 0) FROM ZPAGE WHERE ZBOOK = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; "
                + told("InsertUpdated", "NEW.Z_PK"),
            trigger("DELETE", "DELETE", "OLD", "ZPAGESCOUNT - 1"),
            trigger("INSERT", "INSERT", "NEW", "IFNULL(ZPAGESCOUNT, 0) + 1"),
            trigger("UPDATE_DECREMENT", "UPDATE OF ZBOOK", "OLD", "ZPAGESCOUNT - 1"),
            trigger("UPDATE_INCREMENT", "UPDATE OF ZBOOK", "NEW", "ZPAGESCOUNT + 1"),
        ]
        #expect(found.map { $0[0].replacingOccurrences(of: "\"", with: "") } == expected)
    }

    @Test func anExportTakesThePlaceOfNothing() throws {
        try Data([1]).write(to: scratch.url("out.sqlite"))
        #expect(throws: TransferError.self) {
            try CoreDataExporter(scratch.url("store")).run(to: scratch.url("out.sqlite"))
        }
        #expect(try Data(contentsOf: scratch.url("out.sqlite")) == Data([1]))
        #expect(throws: (any Error).self) {
            _ = try CoreDataImporter(scratch.url("out.sqlite"))
        }
    }

    /// A killed export left its part behind, and everybody could read it who could get at the folder.
    @Test func anExportHasItsNameWhenItIsWholeAndIsTheOwnersAlone() throws {
        let folder = scratch.url("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let target = folder.appendingPathComponent("out.sqlite")
        let before = umask(0)
        defer { umask(before) }
        try CoreDataExporter(scratch.url("store")).run(to: target) { _, _ in
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == ["out.sqlite.strata-new"])
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: target.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out.sqlite"])
        try CoreDataImporter(target).run(to: scratch.url("again"), model: Company.model())
    }
}
