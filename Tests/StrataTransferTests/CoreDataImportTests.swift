import CoreData
import Foundation
import StrataTestKit
import Testing

@testable import StrataTransfer

/// Files in Core Data's layout, which these tests write themselves.
@Suite struct CoreDataImportTests {
    private let scratch: Scratch
    private var file: URL { scratch.url("Team.sqlite") }

    init() throws {
        scratch = try Scratch()
    }

    private static let uuid = "753753D3-A961-4901-AB05-8CC48B1D3853"
    private static let tables = [
        "CREATE TABLE ZTEAM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR )",
        "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZTEAM INTEGER, "
            + "Z_FOK_TEAM INTEGER, ZNAME VARCHAR, ZSINCE TIMESTAMP )",
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
        "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Person', 0, 40), (2, 'Leader', 1, 0), (3, 'Team', 0, 2)",
    ]
    private static let rows = [
        "INSERT INTO ZTEAM VALUES (1, 3, 1, 'red'), (2, 3, 4, NULL)",
        "INSERT INTO ZPERSON VALUES (1, 1, 1, 30, 1, 2048, 'Ann', NULL), (7, 2, 2, NULL, 1, 1024, 'Abe', 1234.5), "
            + "(9, 1, 1, -5, NULL, NULL, 'Äda', NULL)",
    ]

    private func write(_ database: SQLiteFile, _ more: [String]) throws {
        for sql in Self.tables { try database.run(sql) }
        let metadata: [String: Any] = ["NSStoreType": "SQLite", "own": "entry", "_NSAutoVacuumLevel": "2"]
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let statement = try database.prepare("INSERT INTO Z_METADATA VALUES (1, ?, ?)")
        try statement.bind(0, Self.uuid)
        try list.withUnsafeBytes { try statement.bind(1, blob: $0) }
        try statement.execute()
        let cache = try database.prepare("INSERT INTO Z_MODELCACHE VALUES (?)")
        try Deflated.stored(AppleArchive.model(inheritedToo: true)).withUnsafeBytes { try cache.bind(0, blob: $0) }
        try cache.execute()
        for sql in more { try database.run(sql) }
    }

    private func makeFile(_ more: [String] = rows) throws { try write(try SQLiteFile.creating(file), more) }

    private func open(_ name: String = "store") throws -> NSManagedObjectContext {
        let model = try NSManagedObjectModel(storedAt: scratch.url(name))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.url(name), options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func expectRows() throws {
        let context = try open()
        try context.performAndWait {
            let coordinator = try #require(context.persistentStoreCoordinator)
            func object(_ end: String) throws -> NSManagedObject {
                let url = try #require(URL(string: "x-coredata://\(Self.uuid)/\(end)"))
                return try context.existingObject(
                    with: try #require(coordinator.managedObjectID(forURIRepresentation: url)))
            }
            let (red, ann, abe) = (try object("Team/p1"), try object("Person/p1"), try object("Leader/p7"))
            #expect(red.value(forKey: "title") as? String == "red")
            #expect(try object("Team/p2").value(forKey: "title") == nil)
            #expect((red.value(forKey: "members") as? NSOrderedSet)?.array as? [NSManagedObject] == [abe, ann])
            #expect(abe.value(forKey: "since") as? Date == Date(timeIntervalSinceReferenceDate: 1234.5))
            #expect(abe.value(forKey: "age") == nil)
            #expect(try object("Person/p9").value(forKey: "age") as? Int == -5)
            #expect(try object("Person/p9").value(forKey: "name") as? String == "Äda")
            #expect(coordinator.persistentStores.first?.metadata?["own"] as? String == "entry")
            let new = NSEntityDescription.insertNewObject(forEntityName: "Leader", into: context)
            new.setValue("Aaron", forKey: "name")
            try context.save()
            // Keys that were given out once are not given out again.
            #expect(new.objectID.uriRepresentation().lastPathComponent == "p41")
        }
    }

    @Test func rowsBecomeObjectsWithTheirURIs() throws {
        try makeFile()
        let before = try Data(contentsOf: file)
        let report = try CoreDataImporter(file).run(to: scratch.url("store"))
        #expect(report == CoreDataImporter.Report(objects: 5, links: 0, transactions: 0))
        #expect(try Data(contentsOf: file) == before)
        try expectRows()
    }

    @Test func aWriteAheadLogIsReadAndLeftAlone() throws {
        let place = scratch.url("open.sqlite")
        let database = try SQLiteFile.creating(place)
        try database.run("PRAGMA journal_mode = WAL")
        try database.run("PRAGMA wal_autocheckpoint = 0")
        try write(database, Self.rows)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: place.path + suffix, toPath: file.path + suffix)
        }
        let before = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) }
        #expect(before[1].count > before[0].count)
        try CoreDataImporter(file).run(to: scratch.url("store"))
        #expect(try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) } == before)
        #expect(!FileManager.default.fileExists(atPath: file.path + "-shm"))
        try expectRows()
    }

    @Test func theHistoryComesAlong() throws {
        try makeFile(
            Self.rows + [
                "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
                    + "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZCONTEXTNAME VARCHAR )",
                "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
                "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
                    + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
                "INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'importer')",
                "INSERT INTO ATRANSACTION VALUES (4, 16002, 1, 1, 700000000.5, NULL, 'main'), "
                    + "(5, 16002, 1, NULL, 700000001, 'old', NULL), (6, 16002, 1, NULL, 700000002, NULL, NULL)",
                "INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, 1, 1, 4, NULL), (2, 16001, 1, 0, 3, 1, 4, NULL), "
                    + "(3, 16001, 1, 0, 1, 8, 4, NULL), (4, 16001, 1, 1, 1, 1, 5, NULL), (5, 16001, 1, 2, 1, 8, 6, NULL), "
                    + "(6, 16001, 1, 2, 3, 30, 6, NULL)",
            ])
        let report = try CoreDataImporter(file).run(to: scratch.url("store"))
        #expect(report.objects == 5)
        #expect(report.transactions == 3)
        try expectHistory()
        try expectRows()
    }

    private static let historyTables = [
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT )",
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
            + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
    ]

    /// What SQLite's machine does, in steps, while a history of so many transactions is imported.
    private func steps(ofTransactions count: Int) throws -> Int {
        typealias Handler = @convention(c) (UnsafeMutableRawPointer?) -> Int32
        typealias SetHandler = @convention(c) (OpaquePointer?, Int32, Handler?, UnsafeMutableRawPointer?) -> Void
        let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
        let place = scratch.url("history \(count).sqlite")
        // Each inserts a person that stays and one that the next deletes, changes what the last has inserted, and
        // deletes a team of before the history.
        let changes = [
            (0, 1, "100 + i"), (1, 1, "99 + i"), (0, 1, "100000 + i"), (2, 1, "99999 + i"), (2, 3, "900 + i"),
        ]
        try write(
            try SQLiteFile.creating(place),
            Self.historyTables + [
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 1000000",
                numbers + "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 100 + i, 1, 1, 'name ' || i FROM n",
                numbers + "INSERT INTO ATRANSACTION SELECT i, 16002, 1, 700000000 + i FROM n",
            ]
                + changes.map { kind, entity, key in
                    numbers + "INSERT INTO ACHANGE SELECT NULL, 16001, 1, \(kind), \(entity), \(key), i, NULL FROM n "
                        + "WHERE i > 1 OR \(kind) = 0"
                })
        let importer = try CoreDataImporter(place)
        let library = try #require(dlopen("libsqlite3.so.0", RTLD_NOW))
        let setHandler = unsafeBitCast(
            try #require(dlsym(library, "sqlite3_progress_handler")), to: SetHandler.self)
        let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        counter.initialize(to: 0)
        defer { counter.deallocate() }
        setHandler(
            importer.file.database.database, 10,
            { counter in
                counter?.assumingMemoryBound(to: Int.self).pointee += 10
                return 0
            }, counter)
        let report = try importer.run(to: scratch.url("history \(count)"))
        setHandler(importer.file.database.database, 0, nil, nil)
        #expect(report.transactions == count)
        #expect(report.objects == count)
        return counter.pointee
    }

    /// Each transaction looked through the whole history for its changes: twice as many took four times as long, and a
    /// file of some years hours.
    @Test func aLongHistoryTakesTimeByItsLength() throws {
        let steps = try [200, 400, 800].map { try self.steps(ofTransactions: $0) }
        #expect(steps[1] * 10 < steps[0] * 25 && steps[2] * 10 < steps[1] * 25, "\(steps)")
    }

    private func expectHistory() throws {
        let context = try open()
        try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let history = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(history.map { $0.author } == ["importer", "old", nil])
            #expect(history.map { $0.contextName } == ["main", nil, nil])
            #expect(history.first?.timestamp == Date(timeIntervalSinceReferenceDate: 700_000_000.5))
            let changes = history.map { transaction in
                (transaction.changes ?? []).map { change in
                    let type = change.changeType == .insert ? "+" : (change.changeType == .update ? "~" : "-")
                    return type + change.changedObjectID.uriRepresentation().path
                }.sorted()
            }
            #expect(
                changes == [
                    ["+/Person/p1", "+/Person/p8", "+/Team/p1"], ["~/Person/p1"], ["-/Person/p8", "-/Team/p30"],
                ])
        }
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
    }

    @Test(arguments: [
        (["UPDATE ZPERSON SET Z_ENT = 3, ZTEAM = NULL WHERE Z_PK = 1"], "its entity is 3"),
        (["UPDATE ZPERSON SET ZAGE = 70000 WHERE Z_PK = 1"], "more than 16 bits"),
        (["UPDATE ZPERSON SET ZTEAM = -1 WHERE Z_PK = 1"], "leads to the key -1"),
        (
            ["UPDATE ZPERSON SET ZTEAM = 77 WHERE Z_PK = 1"],
            "ZTEAM (Person.team): references to objects that are not there"
        ),
        (["UPDATE ZPERSON SET ZAGE = 'many' WHERE Z_PK = 7"], "ZPERSON, row 7: ZAGE (Leader.age) is no integer"),
        (["UPDATE ZPERSON SET ZAGE = 1e300 WHERE Z_PK = 7"], "ZPERSON, row 7: ZAGE (Leader.age) is no integer"),
        (["UPDATE ZPERSON SET ZAGE = 1.5 WHERE Z_PK = 7"], "ZPERSON, row 7: ZAGE (Leader.age) is no integer"),
        (["UPDATE ZPERSON SET ZSINCE = 'soon' WHERE Z_PK = 7"], "ZPERSON, row 7: ZSINCE (Leader.since) is no number"),
        (
            ["UPDATE ZTEAM SET ZTITLE = CAST(x'61FF62' AS TEXT)"],
            "ZTEAM, row 1: ZTITLE (Team.title) is no text in UTF-8"
        ),
        (["UPDATE ZTEAM SET ZTITLE = x'6162' WHERE Z_PK = 2"], "ZTEAM, row 2: ZTITLE (Team.title) is no text in UTF-8"),
        (["UPDATE ZPERSON SET Z_FOK_TEAM = 'x' WHERE Z_PK = 1"], "row 1: Z_FOK_TEAM (Person.team) is no integer"),
        (["UPDATE ZPERSON SET Z_ENT = 'x' WHERE Z_PK = 1"], "ZPERSON, row 1: Z_PK or Z_ENT is no integer"),
        (["UPDATE Z_PRIMARYKEY SET Z_MAX = 'x' WHERE Z_ENT = 3"], "Z_SUPER or Z_MAX that is no integer"),
        (
            ["UPDATE ZPERSON SET ZSINCE = 5 WHERE Z_PK = 1"],
            "ZPERSON.ZSINCE: values of no property of the model, such as row 1"
        ),
        (
            ["ALTER TABLE ZTEAM ADD COLUMN ZMORE VARCHAR", "UPDATE ZTEAM SET ZMORE = '' WHERE Z_PK = 2"],
            "ZTEAM.ZMORE: values of no property of the model, such as row 2"
        ),
        (
            ["CREATE TABLE ZOTHER (Z_PK INTEGER)", "INSERT INTO ZOTHER VALUES (1)"],
            "the table ZOTHER: rows of no entity"
        ),
        (["INSERT INTO Z_METADATA VALUES (2, NULL, NULL)"], "the table Z_METADATA: further rows"),
        (["INSERT INTO ZTEAM VALUES (-4, 3, 1, '')"], "out of range"),
        (["DROP TABLE ZTEAM"], "no table ZTEAM"),
        (["DROP TABLE ZTEAM", "CREATE VIEW ZTEAM AS SELECT 1 Z_PK, 3 Z_ENT, 'x' ZTITLE"], "no table ZTEAM"),
        (["ALTER TABLE ZTEAM RENAME COLUMN ZTITLE TO ZNAME"], "no column ZTITLE"),
        (["DROP TABLE Z_METADATA"], "no store of Core Data's"),
        (["INSERT INTO Z_PRIMARYKEY VALUES (9, 'Other', 0, 0)"], "entity Other"),
        (["UPDATE Z_PRIMARYKEY SET Z_SUPER = 2 WHERE Z_ENT = 1"], "Z_PRIMARYKEY says that Person inherits from itself"),
        (["UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 WHERE Z_ENT = 3"], "Z_PRIMARYKEY says that Team inherits from itself"),
        (
            ["UPDATE Z_PRIMARYKEY SET Z_SUPER = 77 WHERE Z_ENT = 3"],
            "Team inherits from the entity 77, which there is not"
        ),
        (
            ["UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_ENT = 2"],
            "Leader inherits from the entity 0, which is not Person"
        ),
        (["UPDATE Z_PRIMARYKEY SET Z_NAME = 'Team' WHERE Z_ENT = 2"], "has the entity Team (3) twice"),
        (["UPDATE Z_PRIMARYKEY SET Z_MAX = -1 WHERE Z_ENT = 3"], "-1 is the greatest key of Team"),
        (["UPDATE Z_PRIMARYKEY SET Z_MAX = 281474976710656 WHERE Z_ENT = 3"], "the greatest key of Team"),
        (["UPDATE Z_PRIMARYKEY SET Z_NAME = 'Nobody' WHERE Z_ENT = 3"], "entity Nobody"),
        (["DELETE FROM Z_METADATA"], "Z_METADATA is empty"),
        (
            ["UPDATE Z_METADATA SET Z_UUID = 'x'"],
            "Z_METADATA.Z_UUID: what is no UUID; objects get other URIs, such as x"
        ),
        (["UPDATE Z_METADATA SET Z_PLIST = x'62706C697374'"], "metadata cannot be read"),
        (["UPDATE ZPERSON SET Z_PK = -1 WHERE Z_PK = 1"], "ZPERSON, row -1: its key is out of range"),
        (["UPDATE Z_MODELCACHE SET Z_CONTENT = x'05FF'"], "compressed model is damaged"),
        (["UPDATE Z_MODELCACHE SET Z_CONTENT = x'010300FCFF616263'"], "cannot be read"),
        (["DELETE FROM Z_MODELCACHE"], "does not keep its model"),
        (
            [
                "DROP TABLE ZTEAM", "CREATE TABLE ZTEAM (Z_PK INTEGER, Z_ENT INTEGER, ZTITLE VARCHAR)",
                "INSERT INTO ZTEAM VALUES (1, 3, 'a'), (1, 3, 'b')",
            ], "Z_PK of ZTEAM is not its primary key"
        ),
    ]) func whatIsWrongIsSaidAndNothingIsLeft(_ statements: [String], _ expected: String) throws {
        try makeFile(Self.rows + statements)
        let error = #expect(throws: (any Error).self) {
            _ = try CoreDataImporter(file).run(to: scratch.url("store"))
        }
        let text = "\(error.map { "\($0)" } ?? "") \(error?.localizedDescription ?? "")"
        #expect(text.contains(expected), "\(text)")
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
        #expect(left.filter { !$0.hasPrefix("Team.sqlite") && !$0.hasPrefix(".store") } == [])
    }

    @Test func aPartialImportListsWhatItLeavesOut() throws {
        try makeFile(
            Self.rows + [
                "ALTER TABLE ZTEAM ADD COLUMN ZMORE VARCHAR", "ALTER TABLE ZTEAM ADD COLUMN ZEMPTY VARCHAR",
                "UPDATE ZTEAM SET ZMORE = 'x'", "CREATE TABLE ZOTHER (Z_PK INTEGER)", "INSERT INTO ZOTHER VALUES (1)",
                "CREATE TABLE ZNOBODY (Z_PK INTEGER)", "INSERT INTO ZPERSON VALUES (3, 1, 1, 0, 77, 0, 'x', NULL)",
            ])
        #expect(throws: TransferError.self) { try CoreDataImporter(file).run(to: scratch.url("store")) }
        let report = try CoreDataImporter(file).run(to: scratch.url("store"), partial: true)
        #expect(
            report.omissions == [
                "ZPERSON.ZTEAM (Person.team): references to objects that are not there (1)",
                "ZTEAM.ZMORE: values of no property of the model (2)",
                "the table ZOTHER: rows of no entity of the model (1)",
            ])
        #expect(report.objects == 6)
    }

    /// Numbers that a column has made whole are the numbers that they were.
    @Test func wholeNumbersAreTakenHoweverTheyAreStored() throws {
        try makeFile(
            Self.rows + [
                "UPDATE ZPERSON SET ZSINCE = 7 WHERE Z_PK = 7", "UPDATE ZPERSON SET ZAGE = 8.0 WHERE Z_PK = 7",
            ])
        try CoreDataImporter(file).run(to: scratch.url("store"))
        let context = try open()
        try context.performAndWait {
            let leader = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Leader")).first)
            #expect(leader.value(forKey: "since") as? Date == Date(timeIntervalSinceReferenceDate: 7))
            #expect(leader.value(forKey: "age") as? Int == 8)
        }
    }

    /// What is cut off or overwritten is an error that names the file, or does not matter; nothing is left of the
    /// store.
    @Test func aFileInPiecesIsAnErrorOrWhole() throws {
        try makeFile()
        let whole = try Data(contentsOf: file)
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var failures = 0
        for round in 0..<60 {
            var bytes = whole
            if round % 2 == 0 {
                bytes.removeLast(Int.random(in: 1..<whole.count, using: &random))
            } else {
                for _ in 0..<20 {
                    bytes[Int.random(in: 100..<whole.count, using: &random)] = UInt8(random.next() & 255)
                }
            }
            try bytes.write(to: file)
            do {
                try CoreDataImporter(file).run(to: scratch.url("store"))
                try FileManager.default.removeItem(at: scratch.url("store"))
            } catch {
                failures += 1
                let text = "\(error) \((error as NSError).localizedDescription)"
                #expect(text.contains(scratch.directory.path), "seed \(seed), round \(round): \(text)")
                let left = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
                #expect(left.filter { $0.hasPrefix("store") } == [], "seed \(seed), round \(round)")
            }
        }
        #expect(failures > 20)
    }

    @Test func aFileOfApplesWhereAStoreIsLookedForNamesTheCommand() throws {
        try makeFile()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
        }
        #expect(
            error?.userInfo[NSLocalizedDescriptionKey].map { "\($0)" }?.contains("strata import --core-data") == true)
    }

    @Test func anImportTakesThePlaceOfNothing() throws {
        try makeFile()
        try CoreDataImporter(file).run(to: scratch.url("store"))
        #expect(throws: CocoaError.self) { try CoreDataImporter(file).run(to: scratch.url("store")) }
        try expectRows()
    }
}
