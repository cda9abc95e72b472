import CoreData
import Foundation
import Testing

/// `strata schema`, of a model with a bit of everything.
@Suite(.serialized) struct SchemaCommandTests {
    /// Names that end strings, begin comments and tags, or are words of a diagram's syntax.
    private static let hostile = ["a\"b", "%%x", "<b>&amp;", "back\\", "new\nline", "}; one", "#35;", "📚", "UK"]

    private static func model() -> NSManagedObjectModel {
        let (item, book, author) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (item.name, book.name, author.name) = ("Item", "Book", "Author \"the\" <first>")
        item.isAbstract = true
        item.subentities = [book]
        let title = CommandFixture.attribute("title", .stringAttributeType)
        title.isOptional = false
        title.defaultValue = "un\"titled"
        let pages = CommandFixture.attribute("pages", .integer32AttributeType)
        pages.defaultValue = 7
        let cache = CommandFixture.attribute("cache", .binaryDataAttributeType)
        cache.isTransient = true
        let upper = NSDerivedAttributeDescription()
        upper.name = "upper"
        upper.attributeType = .stringAttributeType
        upper.derivationExpression = NSExpression(format: "uppercase:(title)")
        item.properties = [title]
        let (books, authorOf) = (NSRelationshipDescription(), NSRelationshipDescription())
        (books.name, authorOf.name) = ("books", "author")
        (books.destinationEntity, authorOf.destinationEntity) = (book, author)
        (books.maxCount, authorOf.maxCount) = (0, 1)
        books.isOrdered = true
        books.deleteRule = .cascadeDeleteRule
        (books.inverseRelationship, authorOf.inverseRelationship) = (authorOf, books)
        book.properties = [pages, cache, upper, authorOf]
        author.properties = hostile.map { CommandFixture.attribute($0, .stringAttributeType) } + [books]
        let model = NSManagedObjectModel()
        model.entities = [item, book, author]
        book.indexes = [
            NSFetchIndexDescription(
                name: "byPages", elements: [NSFetchIndexElementDescription(property: pages, collationType: .binary)])
        ]
        item.uniquenessConstraints = [["title"]]
        return model
    }

    @Test func textNamesEverything() throws {
        let fixture = try CommandFixture(model: Self.model())
        let result = try fixture.run("schema")
        #expect(result.code == 0, "\(result.messages)")
        let lines = result.lines.map { $0.split(separator: " ").joined(separator: " ") }
        for line in [
            "Item (abstract)", "title String default \"un\\\"titled\"", "unique (title)", "Book: Item",
            "pages Integer 32 optional, default 7", "cache Binary optional, transient", "index byPages (pages)",
            "\"Author \\\"the\\\" <first>\"", "\"new\\nline\" String optional",
        ] { #expect(lines.contains(line), "\(line) in \(result.output)") }
        #expect(lines.contains { $0.hasPrefix("upper String optional, derived from uppercase(title)") }, "\(lines)")
        let books = try #require(lines.first { $0.hasPrefix("books ") })
        #expect(books.contains("→ Book (many, ordered) inverse Book.author, on delete cascade"), "\(books)")
        let author = try #require(lines.first { $0.hasPrefix("author ") })
        #expect(author.contains("(one) inverse \"Author \\\"the\\\" <first>\".books, on delete nullify"), "\(author)")
        let one = try fixture.run("schema", "book")
        #expect(one.lines.first == "Book: Item" && !one.output.contains("Item (abstract)"))
        #expect(try fixture.run("schema", "Nobody").code == 1)
    }

    /// A model with what no form says by itself comes back as it was.
    @Test func xcodeReadsItBack() throws {
        let fixture = try CommandFixture(model: Self.model())
        let result = try fixture.run("schema", "--format", "xcdatamodel")
        #expect(result.code == 0, "\(result.messages)")
        let document = try XMLReader.names(result.output)
        #expect(Set(document.entities) == ["Item", "Book", "Author \"the\" <first>"])
        // Attributes of XML cannot have line ends, other than as numbers.
        for name in Self.hostile { #expect(document.attributes.contains(name), "\(name)") }
        #expect(try fixture.run("schema", "Book", "--format", "xcdatamodel").code == 64)
    }

    /// Each line is of one of the forms that the diagram has; whatever a name is, it ends nothing.
    @Test func mermaidQuotesNames() throws {
        let fixture = try CommandFixture(model: Self.model())
        let result = try fixture.run("schema", "--format", "mermaid")
        #expect(result.code == 0, "\(result.messages)")
        // As the lexer of Mermaid has them: names without quotation marks, percent signs and backslashes.
        let name = #""[^"%\\\n]+""#
        let forms = [
            #"erDiagram"#, #"    \#(name) \{"#, #"    \}"#,
            #"        [A-Za-z_][A-Za-z0-9_]* [A-Za-z_][A-Za-z0-9_]*( UK)?( \#(name))?"#,
            #"    \#(name) [|}][|o](--|\.\.)[|o][|{] \#(name) : \#(name)"#,
        ]
        for line in result.lines {
            #expect(
                forms.contains { line.range(of: "^\($0)$", options: .regularExpression) != nil }, "\(line)")
        }
        #expect(result.output.contains("\"Author #34;the#34; #60;first#62;\" {"))
        #expect(result.output.contains("\"Author #34;the#34; #60;first#62;\" |o--o{ \"Book\" : \"books / author\""))
        #expect(result.output.contains("\"Book\" |o..|| \"Item\" : \"is a\""))
        #expect(result.output.contains("String UK_ \"UK, optional\""))
        #expect(result.output.contains("String title UK\n"))
        // No relationship twice.
        #expect(result.lines.filter { $0.contains("--") }.count == 1)
    }

    @Test func graphvizQuotesNames() throws {
        let fixture = try CommandFixture(model: Self.model())
        let result = try fixture.run("schema", "--format", "graphviz")
        #expect(result.code == 0, "\(result.messages)")
        for line in result.lines where line.contains("label=<") {
            let label = try #require(line.range(of: "(?<=label=<).*(?=>\\])", options: .regularExpression))
            // Markup is balanced, so that the label ends where it should.
            #expect(XMLReader.isWellFormed("<x>\(line[label])</x>"), "\(line)")
        }
        #expect(result.lines.filter { $0.contains("label=<<table") }.count == 3)
        #expect(result.output.contains("&lt;b&gt;&amp;amp;") && result.output.contains("a&quot;b"))
        #expect(result.lines.filter { $0.contains(" -> ") }.count == 2)
        #expect(result.lines.first == "digraph model {" && result.lines.last == "}")
        guard let dot = ["/usr/bin/dot", "/usr/local/bin/dot"].first(where: FileManager.default.isExecutableFile) else {
            // CI installs it.
            print("test-command: THE GRAPH IS NOT READ BY GRAPHVIZ: there is no dot")
            #expect(ProcessInfo.processInfo.environment["STRATA_GRAPHVIZ_REQUIRED"] == nil, "there is no dot")
            return
        }
        let source = fixture.directory.appendingPathComponent("model.dot")
        try result.output.write(to: source, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: dot)
        process.arguments = ["-Tsvg", "-o", "/dev/null", source.path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func thePastHasItsOwnModel() throws {
        let fixture = try CommandFixture()
        try fixture.save { fixture.insert("Person", ["name": "Ann"], $0) }
        fixture.close()
        let url = fixture.store
        let newer = try NSManagedObjectModel(storedAt: url)
        let person = try #require(newer.entitiesByName["Person"])
        person.properties.append(CommandFixture.attribute("nickname", .stringAttributeType))
        for entity in newer.entities { entity.managedObjectClassName = "NSManagedObject" }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(
                "B", forKey: "nickname")
            try context.save()
        }
        try coordinator.remove(store)
        #expect(try fixture.run("schema", "Person").output.contains("nickname"))
        let past = try fixture.run("schema", "Person", "--at", "1")
        #expect(past.code == 0 && past.output.contains("name") && !past.output.contains("nickname"), "\(past)")
    }
}
