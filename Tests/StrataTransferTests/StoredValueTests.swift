import CoreData
import Foundation
import Testing

@testable import StrataTransfer

/// Every value of an imported store is what SQLite shows of the file.
@Suite struct StoredValueTests {
    private let scratch: Scratch
    private var file: URL { scratch.url("Company.sqlite") }
    private static let largeName = "0D1BB6A5-7C0E-4D3C-9A5A-5E5D7E2D9E11"
    private static let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })

    init() throws {
        scratch = try Scratch()
    }

    private static let tables = [
        "CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZABOUT INTEGER, Z2_ABOUT INTEGER, "
            + "ZTEXT VARCHAR )",
        "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZCOUNT INTEGER, "
            + "ZISACTIVE INTEGER, ZSTEPS INTEGER, ZTEAM INTEGER, Z_FOK_TEAM INTEGER, ZLEVEL INTEGER, ZBORN TIMESTAMP, "
            + "ZHEIGHT FLOAT, ZWEIGHT FLOAT, ZPAY DECIMAL, ZNAME VARCHAR, ZPAGE VARCHAR, ZLEVEL1 VARCHAR, ZID BLOB, "
            + "ZPHOTO BLOB, ZTAGS BLOB )",
        "CREATE TABLE ZPROJECT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR )",
        "CREATE TABLE ZTEAM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR )",
        "CREATE TABLE Z_2FRIENDS ( REFLEXIVE INTEGER, Z_2FRIENDS INTEGER, PRIMARY KEY (REFLEXIVE, Z_2FRIENDS) )",
        "CREATE TABLE Z_2PROJECTS ( Z_2PEOPLE INTEGER, Z_5PROJECTS INTEGER, Z_FOK_5PROJECTS INTEGER, "
            + "PRIMARY KEY (Z_2PEOPLE, Z_5PROJECTS) )",
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Note', 0, 2), (2, 'Person', 0, 900000), (3, 'Boss', 2, 0), "
            + "(4, 'Clerk', 2, 0), (5, 'Project', 0, 3), (6, 'Team', 0, 2)",
        "INSERT INTO Z_METADATA VALUES (1, '753753D3-A961-4901-AB05-8CC48B1D3853', x'')",
    ]
    /// Greatest and least values, nulls, empty ones, signs, what is no number in binary, and large ones.
    private static let rows = [
        "INSERT INTO ZTEAM VALUES (1, 6, 1, 'red'), (2, 6, 1, NULL)",
        "INSERT INTO ZPROJECT VALUES (1, 5, 1, 'one'), (2, 5, 1, ''), (3, 5, 1, 'quote '' \" \\ ; 🚀')",
        "INSERT INTO ZPERSON VALUES (1, 3, 1, -32768, 9223372036854775807, 1, 2147483647, 1, 2048, 7, "
            + "1234.56789012, 1.7, 0.30000000000000004, 12345678901234.56, 'Ünal', 'https://example.org/a?b=c', NULL, "
            + "x'C4637490BD7F4428B09363A1720E17D2', x'01010200FF', x'62706C697374303000FF')",
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (2, 4, 1)",
        "INSERT INTO ZPERSON VALUES (700000, 4, 9, 32767, -9223372036854775807, 0, -2147483648, 1, 1024, NULL, "
            + "-978307200.125, -3.4e38, 1e-300, -0.5, '', 'file:///a%20b', 'L', "
            + "x'00000000000000000000000000000000', x'01', x'')",
        "INSERT INTO ZPERSON VALUES (899999, 4, 1, 0, 0, 5, 0, 1, 4096, NULL, 0, 0, -0.0, 3, 'line\n', NULL, '', NULL, "
            + "x'02\(Data(largeName.utf8).map { String(format: "%02x", $0) }.joined())00', NULL)",
        "INSERT INTO ZNOTE VALUES (1, 1, 1, 1, 3, 'about the boss'), (2, 1, 1, 899999, 4, NULL)",
        "INSERT INTO Z_2FRIENDS VALUES (1, 2), (2, 1), (2, 700000), (700000, 2), (1, 1)",
        "INSERT INTO Z_2PROJECTS VALUES (1, 3, 1024), (1, 1, 2048), (1, 2, 3072), (2, 2, 1024)",
    ]

    private func makeFile() throws {
        let database = try SQLiteFile.creating(file)
        for sql in Self.tables + Self.rows { try database.run(sql) }
        let folder = scratch.url(".Company_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.large.write(to: folder.appendingPathComponent(Self.largeName))
    }

    private var comparison: FileComparison {
        FileComparison(file: file, store: scratch.url("store"), columns: ["Clerk.level": "ZLEVEL1"])
    }

    @Test func aFileOfAllTypesIsImportedValueByValue() throws {
        try makeFile()
        let report = try CoreDataImporter(file).run(to: scratch.url("store"), model: Company.model())
        #expect(report == CoreDataImporter.Report(objects: 11, links: 7, transactions: 0))
        let (values, differences) = try comparison.run()
        #expect(differences == [])
        #expect(values == 4 * 18 + 2 * 2 + 3 * 2 + 2 * 2)
    }

    /// The comparison itself: it sees what has been changed since, of every type.
    @Test(arguments: [
        "ZAGE = 1", "ZCOUNT = 1", "ZISACTIVE = 0", "ZSTEPS = 1", "ZTEAM = 2", "ZLEVEL = 8", "ZBORN = 1",
        "ZHEIGHT = 1.75",
        "ZWEIGHT = 0.3", "ZPAY = 1", "ZNAME = 'Unal'", "ZPAGE = 'a:b'", "ZID = x'C4637490BD7F4428B09363A1720E17D3'",
        "ZPHOTO = x'01010200FE'", "ZTAGS = x'00'", "ZNAME = NULL",
    ]) func aDifferenceIsSeen(_ change: String) throws {
        try makeFile()
        try CoreDataImporter(file).run(to: scratch.url("store"), model: Company.model())
        try SQLiteFile.creating(file).run("UPDATE ZPERSON SET \(change) WHERE Z_PK = 1")
        #expect(try !comparison.run().differences.isEmpty)
    }
}

/// Stores that Apple's Core Data wrote, when the environment names a folder that has them in "stores".
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STRATA_CORPUS"] != nil)) struct CorpusValueTests {
    @Test func everyValueIsWhatSQLiteShows() throws {
        let path = try #require(ProcessInfo.processInfo.environment["STRATA_CORPUS"])
        let scratch = try Scratch()
        let folder = URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent("stores")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sqlite") }
        #expect(!files.isEmpty)
        for name in files.sorted() {
            let file = folder.appendingPathComponent(name)
            let store = scratch.url(name + ".strata")
            let report = try CoreDataImporter(file).run(to: store)
            let (values, differences) = try FileComparison(file: file, store: store).run()
            #expect(differences.prefix(10) == [], "\(name): \(differences.count) differences")
            print("| \(name) | \(report.objects) objects | \(values) values |")
        }
    }
}
