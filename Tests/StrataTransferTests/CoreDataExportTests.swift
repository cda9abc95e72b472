import CoreData
import Foundation
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
            rows.append((0..<statement.columnCount).map { statement.isNull($0) ? "NULL" : statement.string($0) })
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
}
