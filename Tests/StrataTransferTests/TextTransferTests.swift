import CoreData
import Foundation
import Testing

@testable import StrataTransfer

@Suite struct TextTransferTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try Company.makeStore(scratch.url("store"))
    }

    private func expectEqual(_ copy: URL) throws {
        let (lines, wanted) = (
            try TextTransfer.text(of: copy, in: scratch).split(separator: "\n"),
            try TextTransfer.text(of: scratch.url("store"), in: scratch).split(separator: "\n")
        )
        #expect(lines.count == wanted.count)
        for (line, want) in zip(lines, wanted) { #expect(line == want) }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: copy, options: nil)
        #expect(metadata["owner"] as? String == "tests")
    }

    @Test func jsonLinesMakeAnEqualStore() throws {
        let file = scratch.url("all.jsonl")
        let written = try TextTransfer().writeJSONLines(scratch.url("store"), to: file.path)
        let read = try TextTransfer().readJSONLines(file.path, to: scratch.url("copy"))
        #expect(written == read)
        #expect(read.objects == 13)
        #expect(read.links == 5)
        try expectEqual(scratch.url("copy"))
    }

    @Test func commaSeparatedValuesMakeAnEqualStore() throws {
        let directory = scratch.url("csv")
        let written = try TextTransfer().writeCSV(scratch.url("store"), to: directory.path)
        #expect(try TextTransfer().readCSV(directory.path, to: scratch.url("copy")) == written)
        try expectEqual(scratch.url("copy"))
    }

    @Test func aCopyGoesOnAfterTheOldKeys() throws {
        let file = scratch.url("all.jsonl")
        _ = try TextTransfer().writeJSONLines(scratch.url("store"), to: file.path)
        _ = try TextTransfer().readJSONLines(file.path, to: scratch.url("copy"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.url("copy"), options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            try context.save()
            #expect(team.objectID.uriRepresentation().lastPathComponent == "p4")
            let first = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Boss")).first)
            let members = (first.value(forKey: "team") as? NSManagedObject)?.value(forKey: "members") as? NSOrderedSet
            #expect(
                members?.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "" }
                    == ["clerk 3", "Ünal", "clerk 0", "clerk 4"])
        }
    }

    @Test(arguments: [true, false]) func anAttributeNamesObjects(_ isJSON: Bool) throws {
        var transfer = TextTransfer()
        transfer.keys.attributes = ["Person": "name", "Project": "title"]
        let place = scratch.url("named").path
        if isJSON {
            _ = try transfer.writeJSONLines(scratch.url("store"), to: place)
            #expect(try String(contentsOfFile: place, encoding: .utf8).contains("\"about\":\"Ünal\""))
            _ = try transfer.readJSONLines(place, to: scratch.url("copy"))
        } else {
            _ = try transfer.writeCSV(scratch.url("store"), to: place)
            _ = try transfer.readCSV(place, to: scratch.url("copy"))
        }
        try expectEqual(scratch.url("copy"))
    }

    @Test func oneEntityOfAPersonsHandIsRead() throws {
        let file = scratch.url("Project.csv")
        try "title\r\nfirst\r\n\"\"\r\n\"a, b\"\n".write(to: file, atomically: false, encoding: .utf8)
        let report = try TextTransfer().readCSV(file.path, to: scratch.url("copy"), model: Company.model())
        #expect(report.objects == 3)
        let lines = try TextTransfer.lines(of: scratch.url("copy"), in: scratch)
        #expect(lines.map { $0.contains("\"title\":\"first\"") } == [true, false, false])
        #expect(lines[1].contains("\"title\":\"\""))
        #expect(lines[2].contains("\"title\":\"a, b\""))
    }

    @Test(arguments: [
        ("{\"entity\":\"Nobody\",\"values\":{}}", "line 1: the model has no entity Nobody"),
        ("{\"entity\":\"Person\",\"values\":{}}", "abstract"),
        ("{\"entity\":\"Boss\",\"values\":{\"level\":70000}}", "no value of level"),
        ("{\"entity\":\"Boss\",\"values\":{\"nothing\":1}}", "no property nothing"),
        ("{\"entity\":\"Note\",\"values\":{\"about\":\"x-coredata://u/Team/p1\"}}", "is no Person"),
        ("{\"entity\":\"Team\",\"values\":{\"members\":[\"x-coredata://u/Boss/p1\"]}}", "kept at its other end"),
        ("{\"entity\":\"Boss\",\"uri\":\"p0\",\"values\":{}}", "is no object's URI"),
        (
            "{\"entity\":\"Team\",\"values\":{}}\n{\"entity\":\"Team\",\"uri\":\"x/Team/p1\",\"values\":{}}",
            "line 2: some"
        ),
        (
            "{\"entity\":\"Boss\",\"uri\":\"/Boss/p1\",\"values\":{}}\n{\"entity\":\"Clerk\",\"uri\":\"/Clerk/p1\",\"values\":{}}",
            "primary key 1"
        ),
        ("{\"strata\":99}", "later version"), ("[]", "no JSON object"), ("{\"a\":", "no JSON value"),
    ]) func whatIsWrongIsSaid(_ text: String, _ expected: String) throws {
        let file = scratch.url("bad.jsonl")
        try text.write(to: file, atomically: false, encoding: .utf8)
        let error = #expect(throws: (any Error).self) {
            _ = try TextTransfer().readJSONLines(file.path, to: scratch.url("copy"), model: Company.model())
        }
        let said = "\(error.map { "\($0)" } ?? "") \(error?.localizedDescription ?? "")"
        #expect(said.contains(expected), "\(said)")
        #expect(!FileManager.default.fileExists(atPath: scratch.url("copy").path))
    }
}
