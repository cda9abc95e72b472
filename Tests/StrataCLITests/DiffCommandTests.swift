import CoreData
import Foundation
import Testing

/// What changed: `strata diff`, of points and of stores, and `strata history --last`.
@Suite(.serialized) struct DiffCommandTests {
    private func filled() throws -> CommandFixture {
        let fixture = try CommandFixture()
        try fixture.fill()
        return fixture
    }

    /// By the end of its URI, what became of an object and of its properties.
    private func changes(_ result: CommandResult) -> [String: (change: String, values: [String: [String: Any]])] {
        var changes: [String: (change: String, values: [String: [String: Any]])] = [:]
        for line in result.lines {
            guard let record = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any],
                let uri = record["uri"] as? String, let change = record["change"] as? String
            else { continue }
            changes[uri.split(separator: "/").suffix(2).joined(separator: "/")] =
                (change, record["values"] as? [String: [String: Any]] ?? [:])
        }
        return changes
    }

    @Test func twoPointsOfAStore() throws {
        let fixture = try filled()
        let result = try fixture.run("diff", "1", "-f", "ndjson")
        #expect(result.code == 0, "\(result.messages)")
        let found = changes(result)
        #expect(found.count == 3 && result.lines.count == 3)
        #expect(found["Person/p1"]?.change == "update")
        #expect(found["Person/p1"]?.values["age"] as? [String: Int] == ["from": 30, "to": 31])
        #expect(found["Person/p1"]?.values.count == 1)
        #expect(found["Person/p2"]?.change == "delete")
        #expect(found["Person/p2"]?.values["age"]?["from"] as? Int == 40)
        #expect(found["Boss/p3"]?.change == "insert")
        #expect(found["Boss/p3"]?.values["name"]?["to"] as? String == "Cleo")
        // The way back.
        let back = changes(try fixture.run("diff", "3", "1", "-f", "ndjson"))
        #expect(back["Person/p1"]?.values["age"] as? [String: Int] == ["from": 31, "to": 30])
        #expect(back["Person/p2"]?.change == "insert" && back["Boss/p3"]?.change == "delete")
        #expect(try fixture.run("diff", "2", "2", "-f", "ndjson").output.isEmpty)
        #expect(changes(try fixture.run("diff", "1", "2", "-f", "ndjson")).keys.sorted() == ["Person/p1"])
        let bosses = try fixture.run("diff", "1", "--entity", "boss", "-f", "ndjson")
        #expect(changes(bosses).keys.sorted() == ["Boss/p3"])
    }

    @Test func textAndCountsAreForReading() throws {
        let fixture = try filled()
        let text = try fixture.run("diff", "1")
        #expect(text.code == 0)
        #expect(text.output.contains("~ Person/p1\n    age: 30 → 31\n"), "\(text.output)")
        #expect(text.output.contains("- Person/p2\n") && text.output.contains("    name: \"Cleo\"\n"))
        #expect(text.lines.last?.split(separator: " ") == ["Person", "0", "1", "1"])
        let summary = try fixture.run("diff", "0", "--summary", "-f", "csv")
        #expect(summary.lines == ["entity,inserted,updated,deleted", "Boss,1,0,0", "Person,1,0,0", "Team,1,0,0"])
        #expect(try fixture.run("diff", "3").output == "no differences\n")
        #expect(try fixture.run("diff", "7").code == 1)
        #expect(try fixture.run("diff", "yesterday").code == 64)
    }

    @Test func aStoreAndItsCopy() throws {
        let fixture = try filled()
        let copy = fixture.directory.appendingPathComponent("copy")
        #expect(try fixture.run("backup", copy.path).code == 0)
        #expect(try fixture.run("diff", copy.path).output == "no differences\n")
        try fixture.save { context in
            try fixture.find("Ann", context).setValue(nil, forKey: "team")
            try fixture.find("Ann", context).setValue(Data([9]), forKey: "photo")
            context.delete(try fixture.find("Cleo", context))
            fixture.insert("Person", ["name": "Dan"], context)
        }
        let result = try fixture.run("diff", copy.path, "-f", "ndjson")
        #expect(result.code == 0, "\(result.messages)")
        let found = changes(result)
        // From the store to the copy, which is the older one.
        #expect(found.keys.sorted() == ["Boss/p3", "Person/p1", "Person/p4"])
        #expect(found["Boss/p3"]?.change == "insert" && found["Person/p4"]?.change == "delete")
        #expect(found["Person/p1"]?.values.keys.sorted() == ["photo", "team"])
        #expect(found["Person/p1"]?.values["photo"] as? [String: String] == ["from": "CQ==", "to": "AQID"])
        #expect((found["Person/p1"]?.values["team"]?["to"] as? String)?.hasSuffix("/Team/p1") == true)
        #expect(found["Person/p1"]?.values["team"]?["from"] is NSNull)
        #expect(try fixture.run("diff", copy.path, "2").code == 64)
        let other = try CommandFixture(model: Self.otherModel())
        try other.save { other.insert("Person", ["name": "x"], $0) }
        let refused = try fixture.run("diff", other.store.path)
        #expect(refused.code == 1 && refused.messages.contains("differ in") && refused.messages.contains("Person"))
    }

    private static func otherModel() -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = [CommandFixture.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    @Test func membersOfManyToManyRelationships() throws {
        let (post, tag) = (NSEntityDescription(), NSEntityDescription())
        (post.name, tag.name) = ("Post", "Tag")
        let (tags, posts) = (NSRelationshipDescription(), NSRelationshipDescription())
        (tags.name, posts.name) = ("tags", "posts")
        (tags.destinationEntity, posts.destinationEntity) = (tag, post)
        (tags.inverseRelationship, posts.inverseRelationship) = (posts, tags)
        (tags.maxCount, posts.maxCount) = (0, 0)
        post.properties = [tags]
        tag.properties = [CommandFixture.attribute("name", .stringAttributeType), posts]
        let model = NSManagedObjectModel()
        model.entities = [post, tag]
        let fixture = try CommandFixture(model: model)
        try fixture.save { context in
            let tag = fixture.insert("Tag", ["name": "a"], context)
            fixture.insert("Tag", ["name": "b"], context)
            fixture.insert("Post", ["tags": Set([tag])], context)
        }
        let copy = fixture.directory.appendingPathComponent("copy")
        #expect(try fixture.run("backup", copy.path).code == 0)
        try fixture.save { context in
            let post = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Post")).first)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            request.predicate = NSPredicate(format: "name == 'b'")
            post.setValue(Set(try context.fetch(request)), forKey: "tags")
        }
        let points = try fixture.run("diff", "1", "-f", "ndjson")
        #expect(points.lines.count == 2, "\(points)")
        #expect(points.output.contains("\"removed\":") && points.output.contains("\"added\":"))
        let text = try fixture.run("diff", "1").output
        #expect(text.contains(": +") && text.contains(": -"), "\(text)")
        let stores = changes(try fixture.run("diff", copy.path, "-f", "ndjson"))
        #expect((stores["Post/p1"]?.values["tags"]?["from"] as? [String])?.count == 1, "\(stores)")
    }

    @Test func theLastTransactions() throws {
        let fixture = try filled()
        func numbers(_ arguments: String...) throws -> [Int?] {
            let result = try fixture.run("history", arguments + ["-f", "json"])
            #expect(result.code == 0, "\(result.messages)")
            return result.records.map { $0["transaction"] as? Int }
        }
        #expect(try numbers("--last", "1") == [3, 3])
        #expect(try numbers("--last", "2") == [2, 3, 3])
        #expect(try numbers("--last", "99") == [1, 1, 1, 2, 3, 3])
        #expect(try numbers("--last", "1", "--author", "setup") == [1, 1, 1])
        #expect(try numbers("--last", "2", "--entity", "Person") == [2, 3, 3])
        #expect(try numbers("--last", "1", "--author", "nobody") == [])
        for _ in 0..<30 { try fixture.save(author: "noise") { fixture.insert("Team", [:], $0) } }
        #expect(try numbers("--last", "2", "--entity", "Person") == [2, 3, 3])
        #expect(try fixture.run("history", "--last", "0").code == 64)
        #expect(try fixture.run("history", "--last", "2", "--after", "1").code == 64)
    }
}
