import CoreData
import Foundation
import Synchronization
import Testing

@testable import StrataTransfer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What is not exactly a value of its type is an error with line and column, in JSON Lines and in CSV.
@Suite struct TextRefusalTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func said(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch {
            return "\(error) \(error.localizedDescription)"
        }
    }

    private func expectNothing(_ name: String = "copy") {
        #expect(!FileManager.default.fileExists(atPath: scratch.url(name).path))
    }

    private func importJSON(_ text: String, _ transfer: TextTransfer = TextTransfer()) throws -> TextTransfer.Report {
        let file = scratch.url("\(UUID().uuidString).jsonl")
        try Data(text.utf8).write(to: file)
        return try transfer.readJSONLines(file.path, to: scratch.url("copy"), model: Company.model())
    }

    private func importCSV(_ bytes: Data, _ entity: String = "Boss") throws -> TextTransfer.Report {
        let file = scratch.url("\(entity).csv")
        try bytes.write(to: file)
        return try TextTransfer().readCSV(file.path, to: scratch.url("copy"), model: Company.model())
    }

    // MARK: Values

    @Test(arguments: [
        ("age", ["32768", "1.5", "true", "\"\"", "\"0x10\"", "\"1 \"", "\"1,5\"", "1e5", "18446744073709551617"]),
        ("steps", ["2147483648", "-2147483649", "\"1_0\"", "\"--1\""]),
        ("count", ["9223372036854775808", "18446744073709551615", "-9223372036854775809", "1e19", "0.1"]),
        ("height", ["1e39", "1e-60", "\"1.5f\"", "\"0x1p3\"", "\"infinity\"", "\"bits:0\"", "\"bits:ffffffffff\""]),
        ("weight", ["1e309", "1e-400", "\"1,5\"", "\"1.2.3\"", "\" 1\"", "false"]),
        (
            "pay",
            [
                "\"1,5\"", "\"1.5abc\"", "\"0x10\"", "\"1.2.3\"", "\"--1\"", "\"\"", "1e166", "1e-129",
                "1.234567890123456789012345678901234567890123",
            ]
        ),
        ("born", ["\"2026-02-30T00:00:00Z\"", "\"2026-01-01T25:00:00Z\"", "\"2026-01-01\"", "\"today\"", "true"]),
        ("isActive", ["2", "\"maybe\"", "\"\"", "1.0"]),
        ("id", ["\"C4637490-BD7F-4428-B093-63A1720E17D\"", "1", "\"\""]),
        ("page", ["\"a b\"", "\"\"", "1", "\"http://[\""]),
        ("photo", ["\"QQ=\"", "\"QR==\"", "\"Q Q==\"", "1", "\"QQ==QQ==\""]),
        ("name", ["1", "true", "12345678901234567890"]),
        ("team", ["1", "true", "\"\"", "\"x-coredata://u/Team/p01x\"", "\"x-coredata://u/Team/p+1\""]),
    ]) func whatIsNoValueOfItsTypeIsRefused(_ name: String, _ values: [String]) throws {
        for value in values {
            let error = said { _ = try importJSON("\n{\"entity\":\"Boss\",\"values\":{\"\(name)\":\(value)}}\n") }
            let column = 31 + name.count
            #expect(error.contains("line 2, column \(column): "), "\(name) \(value): \(error)")
            expectNothing()
            // In CSV a number is a text like others.
            guard name != "name", !(name == "page" && value == "1") else { continue }
            let text = value.hasPrefix("\"") ? value : "\"\(value)\""
            guard !(["isActive", "team"].contains(name) && text == "\"true\"") || name == "team" else { continue }
            let line = said { _ = try importCSV(Data("age,\(name)1\r\n".utf8)) }
            #expect(line == "nothing" || line.contains("no property"), "\(line)")
            try? FileManager.default.removeItem(at: scratch.url("copy"))
            let other = said { _ = try importCSV(Data("level,\(name)\r\n12,\(text)\r\n".utf8)) }
            #expect(other.contains("line 2, column 4: "), "\(name) \(value): \(other)")
            expectNothing()
        }
    }

    @Test func aNumberKeepsItsDigits() throws {
        let digits = "18446744073709551615"
        _ = try importJSON(
            "{\"entity\":\"Boss\",\"values\":{\"weight\":\(digits),\"pay\":\(digits)}}\n"
                + "{\"entity\":\"Boss\",\"values\":{\"weight\":-9223372036854775809,\"pay\":-9223372036854775808}}\n")
        let lines = try TextTransfer.lines(of: scratch.url("copy"), in: scratch)
        #expect(lines[0].contains("\"weight\":1.8446744073709552e+19"), "\(lines[0])")
        #expect(lines[0].contains("\"pay\":\"18446744073709551615\""), "\(lines[0])")
        #expect(lines[1].contains("\"pay\":\"-9223372036854775808\""), "\(lines[1])")
    }

    // MARK: Texts

    @Test func aTextKeepsItsFirstCharacter() throws {
        _ = try importJSON("\u{FEFF}{\"entity\":\"Project\",\"values\":{\"title\":\"\u{FEFF}bom\"}}\n")
        #expect(try TextTransfer.text(of: scratch.url("copy"), in: scratch).contains("\"title\":\"\u{FEFF}bom\""))
    }

    @Test func theMarkOfASpreadsheetIsPassedOver() throws {
        let report = try importCSV(Data("\u{FEFF}title\r\n\u{FEFF}one\r\n".utf8), "Project")
        #expect(report.objects == 1)
        #expect(try TextTransfer.text(of: scratch.url("copy"), in: scratch).contains("\"title\":\"\u{FEFF}one\""))
    }

    @Test func bytesThatAreNoUTF8AreRefused() throws {
        let csv = said { _ = try importCSV(Data("title\r\nab\r\nM".utf8) + [0xFC] + Data("ller\r\n".utf8), "Project") }
        #expect(csv.contains("line 3, column 1: a field is not in UTF-8"), "\(csv)")
        let file = scratch.url("latin.jsonl")
        try (Data("{\"entity\":\"Project\",\"values\":{\"title\":\"M".utf8) + [0xFC] + Data("ller\"}}".utf8)).write(
            to: file)
        let json = said {
            _ = try TextTransfer().readJSONLines(file.path, to: scratch.url("copy"), model: Company.model())
        }
        #expect(json.contains("line 1, column 39: a text is not in UTF-8"), "\(json)")
        expectNothing()
    }

    @Test(arguments: [
        (
            "{\"entity\":\"Project\",\"values\":{\"title\":\"a\",\"title\":\"b\"}}",
            "line 1, column 43: a name comes twice"
        ),
        ("{\"entity\":\"Project\",\"values\":{\"title\":\"\\ud800\"}}", "line 1, column 40: half a character"),
        ("{\"entity\":\"Project\",\"values\":{\"title\":\"a\tb\"}}", "line 1, column 41: a control character"),
        (
            "{\"entity\":\"Project\",\"values\":{\"title\":\"a\"},\"more\":1}",
            "line 1, column 44: such a line has no \"more\""
        ),
        ("{\"entity\":\"Project\",\"values\":{}} {}", "line 1, column 34: something follows"),
        ("{\"entity\":\"Boss\",\"values\":{\"age\":01}}", "line 1, column 34: it is no JSON value"),
        ("{\"entity\":\"Boss\",\"values\":{\"none\":null}}", "line 1, column 35: Boss has no property none"),
        ("{\"strata\":2}\n{\"entity\":\"Project\",\"values\":{}}", "cut off behind line 2"),
        (
            "{\"strata\":2}\n{\"end\":true,\"objects\":1,\"links\":0}",
            "has 0 objects and 0 links; its last line says 1 and 0"
        ),
        ("{\"strata\":2}\n{\"end\":false,\"objects\":0,\"links\":0}", "line 2, column 8: \"end\" is not true"),
        ("{\"strata\":2}\n{\"end\":1,\"objects\":0,\"links\":0}", "line 2, column 8: \"end\" is not true"),
        ("{\"strata\":2}\n{\"end\":null,\"objects\":0,\"links\":0}", "line 2, column 8: \"end\" is not true"),
        ("{\"strata\":0}", "no version 0"), ("{\"strata\":1,\"uuid\":\"x\"}", "line 1, column 20: it is no UUID"),
        ("{\"strata\":1,\"model\":\"x\"}", "line 1, column 21: \"model\" is no base64"),
        (
            "{\"end\":true,\"objects\":0,\"links\":0}\n{\"entity\":\"Project\",\"values\":{}}",
            "line 2: something follows the line"
        ),
        (String(repeating: "[", count: 100_000), "line 1, column 18: it is nested more than 16 deep"),
    ]) func whatIsNoLineOfAStoreIsRefused(_ text: String, _ expected: String) {
        let error = said { _ = try importJSON(text) }
        #expect(error.contains(expected), "\(error)")
        expectNothing()
    }

    @Test(arguments: [
        ("title,title\r\na,b\r\n", "line 1, column 7: the column title is there twice"),
        ("title,\r\na,b\r\n", "line 1, column 7: the column has no name"),
        ("title,uri,uri\r\n", "line 1, column 11: the column uri is there twice"),
        ("title\r\na,b\r\n", "line 2, column 3: 2 fields under 1 columns"),
        ("title\r\na\"b\r\n", "line 2, column 2: a quotation mark inside"),
        ("title\r\n\"a\"b\r\n", "line 2, column 4: text behind a quoted field"),
        ("title\r\n\"a\nb\r\n", "line 2, column 1: a quoted field has no end"), ("", "it has no line with columns"),
        ("title,none\r\na,\r\n", "line 2, column 3: Project has no property none"),
    ]) func whatIsNoTableOfAnEntityIsRefused(_ text: String, _ expected: String) {
        let error = said { _ = try importCSV(Data(text.utf8), "Project") }
        #expect(error.contains(expected), "\(error)")
        expectNothing()
    }

    // MARK: References

    private static let notes = """
        {"entity":"Note","uri":"x/Note/p1","values":{"about":"x/Boss/p1"}}
        {"entity":"Note","uri":"x/Note/p2","values":{"text":"b","about":"x/Boss/p2"}}
        {"entity":"Boss","uri":"x/Boss/p1","values":{"team":"x/Team/p9","@order.team":5,"friends":["x/Clerk/p7"]}}
        {"entity":"Clerk","uri":"x/Clerk/p2","values":{}}
        """

    @Test func whatIsReferredToHasToBeThere() throws {
        let error = said { _ = try importJSON(Self.notes) }
        #expect(error.contains("line 2, column 65: there is no object Boss/p2"), "\(error)")
        let csv = said { _ = try importCSV(Data("uri,team\r\nx/Boss/p1,x/Team/p3\r\n".utf8)) }
        #expect(csv.contains("line 2, column 11: there is no object Team/p3"), "\(csv)")
        let link = said {
            _ = try importJSON(
                "{\"entity\":\"Boss\",\"uri\":\"x/Boss/p1\",\"values\":{}}\n"
                    + "{\"link\":\"Person.projects\",\"owner\":\"x/Boss/p1\",\"member\":\"x/Project/p1\"}")
        }
        #expect(link.contains("line 2: there is no object Project/p1"), "\(link)")
        expectNothing()
    }

    @Test func whatLeadsNowhereIsLeftOutAndCountedOnRequest() throws {
        var transfer = TextTransfer()
        transfer.leavesOutDanglingReferences = true
        let report = try importJSON(Self.notes, transfer)
        #expect(report.objects == 4 && report.links == 0 && report.dangling == 3)
        let text = try TextTransfer.text(of: scratch.url("copy"), in: scratch)
        #expect(text.contains("\"about\":\"x-coredata"))
        #expect(
            text.contains("\"text\":\"b\",\"about\":null") || text.contains("\"about\":null,\"text\":\"b\""), "\(text)")
        #expect(text.contains("\"team\":null,\"@order.team\":null"), "\(text)")
        #expect(throws: (any Error).self) {
            try transfer.readJSONLines("-", to: scratch.url("other"), model: Company.model())
        }
    }

    /// A pipe is empty the second time. Every reference in it was left out, and the import reported success.
    @Test(arguments: ["jsonl", "csv"]) func whatIsReadTwiceIsAFile(_ form: String) throws {
        let pipe = Pipe()
        let text =
            form == "csv"
            ? "uri,name\r\nx/Boss/p1,a\r\n"
            : """
            {"entity":"Boss","uri":"x/Boss/p1","values":{}}
            {"entity":"Note","uri":"x/Note/p1","values":{"about":"x/Boss/p1"}}
            """
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        var transfer = TextTransfer()
        transfer.leavesOutDanglingReferences = true
        transfer.entities = form == "csv" ? ["Boss"] : []
        let error = said {
            if form == "csv" {
                _ = try transfer.readCSV(path, to: scratch.url("copy"), model: Company.model())
            } else {
                _ = try transfer.readJSONLines(path, to: scratch.url("copy"), model: Company.model())
            }
        }
        #expect(error.contains("a file that can be read twice"), "\(error)")
        expectNothing()
        transfer.leavesOutDanglingReferences = false
        guard form == "jsonl" else { return }
        #expect(try transfer.readJSONLines(path, to: scratch.url("copy"), model: Company.model()).objects == 2)
    }

    /// Looking for the line with a reference that leads nowhere, the import opened the pipe again and waited for good.
    @Test func aPipeIsOpenedOnce() throws {
        let path = scratch.url("pipe").path
        #expect(mkfifo(path, 0o600) == 0)
        let waitedInVain = Mutex(false)
        let isDone = DispatchSemaphore(value: 0)
        let text = Self.notes
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let writer = open(path, O_WRONLY)
            _ = write(writer, text, text.utf8.count)
            close(writer)
            if isDone.wait(timeout: .now() + 60) == .timedOut {
                waitedInVain.withLock { $0 = true }
                // Whoever waits for another writer gets one.
                close(open(path, O_WRONLY | O_NONBLOCK))
            }
            ended.signal()
        }
        let error = said {
            _ = try TextTransfer().readJSONLines(path, to: scratch.url("copy"), model: Company.model())
        }
        isDone.signal()
        ended.wait()
        #expect(error.contains("there is no object Boss/p2"), "\(error)")
        #expect(!waitedInVain.withLock { $0 })
    }

    /// A note about the one was stored as one about the other, whose name has other letters.
    @Test func textsThatNameObjectsAreThoseOfTheStore() throws {
        var transfer = TextTransfer()
        transfer.keys.attributes = ["Boss": "name"]
        let two = """
            {"entity":"Boss","values":{"name":"\\u00e9"}}
            {"entity":"Boss","values":{"name":"e\\u0301"}}
            """
        #expect(try importJSON(two, transfer).objects == 2)
        try FileManager.default.removeItem(at: scratch.url("copy"))
        let other = """
            {"entity":"Boss","values":{"name":"\\u00e9"}}
            {"entity":"Clerk","values":{"name":"c","friends":["e\\u0301"]}}
            """
        let error = said { _ = try importJSON(other, transfer) }
        #expect(error.contains("line 2"), "\(error)")
        expectNothing()
    }

    /// Of two names that a model does not tell apart the second was left out.
    @Test func aPropertyIsThereOnceHoweverItsNameIsWritten() throws {
        let error = said { _ = try importJSON(#"{"entity":"Boss","values":{"\u00e9":1,"e\u0301":2}}"#) }
        #expect(error.contains("line 1, column 39: a name comes twice"), "\(error)")
    }

    /// A folder of somebody else's had a link to a file of the user's, whose lines landed in the store.
    @Test(arguments: ["Boss.csv", "strata.json"], ["link", "pipe", "directory"])
    func aFolderIsReadWithoutLinks(_ name: String, _ kind: String) throws {
        let store = scratch.url("store")
        try Company.makeStore(store)
        let folder = scratch.url("out")
        let files = FileManager.default
        let whole = try TextTransfer().writeCSV(store, to: folder.path)
        let link = scratch.url("link")
        try files.createSymbolicLink(at: link, withDestinationURL: folder)
        #expect(try TextTransfer().readCSV(link.path, to: scratch.url("copy")) == whole)
        try files.removeItem(at: scratch.url("copy"))
        let file = folder.appendingPathComponent(name)
        try files.moveItem(at: file, to: scratch.url("mine"))
        switch kind {
        case "link": try files.createSymbolicLink(at: file, withDestinationURL: scratch.url("mine"))
        case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
        default: try files.createDirectory(at: file, withIntermediateDirectories: false)
        }
        let error = said { _ = try TextTransfer().readCSV(folder.path, to: scratch.url("copy")) }
        let problem = kind == "link" ? "is a link, and an import follows none" : "is no regular file"
        #expect(error.contains("\(name) \(problem)"), "\(error)")
        expectNothing()
    }

    @Test func aLinkIsThereOnce() throws {
        let objects = """
            {"entity":"Boss","uri":"x/Boss/p1","values":{}}
            {"entity":"Boss","uri":"x/Boss/p2","values":{"friends":["x/Boss/p1"]}}
            {"entity":"Project","uri":"x/Project/p1","values":{}}
            """
        let twice = "{\"link\":\"Person.projects\",\"owner\":\"x/Boss/p1\",\"member\":\"x/Project/p1\"}"
        let first = said { _ = try importJSON("\(objects)\n\(twice)\n\(twice)\n") }
        #expect(first.contains("line 5: the link is there twice"), "\(first)")
        // A relationship that is its own inverse has a link from either side.
        let other = said {
            _ = try importJSON(
                "\(objects)\n{\"link\":\"Person.friends\",\"owner\":\"x/Boss/p1\",\"member\":\"x/Boss/p2\"}")
        }
        #expect(other.contains("line 4: the link is there twice"), "\(other)")
        expectNothing()
    }

    // MARK: Files

    /// Files appear when they are whole, whatever the process's mask says, and what a killed export left is removed.
    @Test(arguments: ["jsonl", "csv", "csv of one", "sqlite"]) func anExportAppearsWhenItIsWhole(_ form: String) throws
    {
        let store = scratch.url("store")
        try Company.makeStore(store)
        let target = scratch.url("out")
        func export() throws {
            var transfer = TextTransfer()
            switch form {
            case "jsonl": _ = try transfer.writeJSONLines(store, to: target.path)
            case "csv": _ = try transfer.writeCSV(store, to: target.path)
            case "sqlite": try CoreDataExporter(store).run(to: target)
            default:
                transfer.entities = ["Team"]
                _ = try transfer.writeCSV(store, to: target.path)
            }
        }
        // As a killed export leaves it.
        let part = scratch.url("out.strata-new")
        if form == "csv" {
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
            try Data("{".utf8).write(to: part.appendingPathComponent("strata.json"))
            try Data("uri".utf8).write(to: part.appendingPathComponent("Team.csv"))
        } else {
            let beginning = ["jsonl": "{", "csv of one": "uri,", "sqlite": ""][form] ?? ""
            try Data(beginning.utf8).write(to: part)
        }
        try export()
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
        #expect(names.contains("out") && !names.contains { $0.contains("strata-new") }, "\(names)")
        let files =
            form == "csv"
            ? try FileManager.default.contentsOfDirectory(atPath: target.path).map { "out/\($0)" } : ["out"]
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.url(file).path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(file)")
        }
        // What is there stays as it is.
        let error = said { try export() }
        #expect(error.contains("is there already"), "\(error)")
    }

    /// Nothing of somebody's goes that lies where an export is made.
    @Test(arguments: ["strata.json", "letter", ""]) func somebodysFolderBesideAnExportStays(_ name: String) throws {
        let store = scratch.url("store")
        try Company.makeStore(store)
        let part = scratch.url("out.strata-new")
        if name.isEmpty {
            try Data("mine".utf8).write(to: part)
        } else {
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
            for name in [name, "letter"] { try Data("mine".utf8).write(to: part.appendingPathComponent(name)) }
        }
        let error = said { _ = try TextTransfer().writeCSV(store, to: scratch.url("out").path) }
        #expect(error.contains("is there already"), "\(error)")
        let kept = name.isEmpty ? part : part.appendingPathComponent("letter")
        #expect(try String(contentsOf: kept, encoding: .utf8) == "mine")
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out").path))
    }

    /// Whatever lay there was removed, as if a killed export had left it.
    @Test(arguments: ["jsonl", "csv of one", "sqlite"]) func somebodysFileBesideAnExportStays(_ form: String) throws {
        let store = scratch.url("store")
        try Company.makeStore(store)
        let part = scratch.url("out.strata-new")
        try Data("mine".utf8).write(to: part)
        let target = scratch.url("out")
        let error = said {
            var transfer = TextTransfer()
            switch form {
            case "jsonl": _ = try transfer.writeJSONLines(store, to: target.path)
            case "sqlite": try CoreDataExporter(store).run(to: target)
            default:
                transfer.entities = ["Team"]
                _ = try transfer.writeCSV(store, to: target.path)
            }
        }
        #expect(error.contains("is there already"), "\(error)")
        #expect(try String(contentsOf: part, encoding: .utf8) == "mine")
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    /// The directory above is another one by the time that the files are complete.
    @Test(arguments: [false, true]) func anExportStaysInTheDirectoryThatItWasMadeIn(fails: Bool) throws {
        let files = FileManager.default
        let (above, aside) = (scratch.url("above"), scratch.url("aside"))
        try files.createDirectory(at: above, withIntermediateDirectories: false)
        let target = above.appendingPathComponent("out").path
        let result = Result {
            try UnfinishedDirectory.make(target, last: "last", suffix: ".csv") { directory in
                try files.moveItem(at: above, to: aside)
                try files.createDirectory(
                    at: above.appendingPathComponent("out.strata-new"), withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: above.appendingPathComponent("out.strata-new/a.csv"))
                let writer = try directory.writer("a.csv")
                try writer.write("ours")
                try writer.finish()
                if fails { throw CancellationError() }
                return "end"
            }
        }
        #expect((try? result.get()) != nil || fails)
        #expect(try String(contentsOf: above.appendingPathComponent("out.strata-new/a.csv"), encoding: .utf8) == "mine")
        #expect(!files.fileExists(atPath: target))
        if !fails {
            #expect(try files.contentsOfDirectory(atPath: aside.path) == ["out"])
            #expect(try String(contentsOf: aside.appendingPathComponent("out/a.csv"), encoding: .utf8) == "ours")
        }
    }

    /// SQLite removes a log and a journal that lie beside an empty database.
    @Test(arguments: ["-wal", "-journal"]) func somebodysFileBesideAnExportedDatabaseStays(_ suffix: String) throws {
        let store = scratch.url("store")
        try Company.makeStore(store)
        let beside = scratch.url("out.strata-new\(suffix)")
        try Data("mine".utf8).write(to: beside)
        #expect(throws: TransferError.self) { try CoreDataExporter(store).run(to: scratch.url("out")) }
        #expect(try String(contentsOf: beside, encoding: .utf8) == "mine")
        for name in ["out", "out.strata-new"] {
            #expect(!FileManager.default.fileExists(atPath: scratch.url(name).path), "\(name)")
        }
    }

    @Test func filesOfEntitiesAreMappedInATable() throws {
        let model = NSManagedObjectModel()
        let names = ["../evil", "a/b", "A", "a", "nul\u{0}", ".", "strata"]
        model.entities = names.map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.url("store"), options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for entity in model.entities { _ = NSManagedObject(entity: entity, insertInto: context) }
            try context.save()
        }
        try coordinator.remove(store)
        let out = scratch.url("out")
        #expect(try TextTransfer().writeCSV(scratch.url("store"), to: out.path).objects == names.count)
        let files = try FileManager.default.contentsOfDirectory(atPath: out.path)
        #expect(files.count == names.count + 1 && files.contains("%2E%2E%2Fevil.csv"), "\(files)")
        #expect(Set(files.map { $0.lowercased() }).count == files.count)
        #expect(try TextTransfer().readCSV(out.path, to: scratch.url("copy")).objects == names.count)
        #expect(try StoreContents.of(scratch.url("copy")) == StoreContents.of(scratch.url("store")))
        // A file that the table does not know, and one that is gone.
        try Data("uri\r\n".utf8).write(to: out.appendingPathComponent("more.csv"))
        let more = said { _ = try TextTransfer().readCSV(out.path, to: scratch.url("other")) }
        #expect(more.contains("does not say what it has"), "\(more)")
        try FileManager.default.removeItem(at: out.appendingPathComponent("more.csv"))
        try FileManager.default.removeItem(at: out.appendingPathComponent("%2E%2E%2Fevil.csv"))
        let less = said { _ = try TextTransfer().readCSV(out.path, to: scratch.url("other")) }
        #expect(less.contains("lists %2E%2E%2Fevil.csv, which is not there"), "\(less)")
    }
}
