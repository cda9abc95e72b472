import CoreData
import Foundation
import Testing

/// Derived and composite attributes.
@Suite struct FetchDerivedTests {
    private static func derived(
        _ name: String, _ type: NSAttributeType, _ expression: String
    ) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpression = NSExpression(format: expression)
        return attribute
    }

    private static func composite(
        _ name: String, _ elements: [NSAttributeDescription]
    ) -> NSCompositeAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.elements = elements
        return composite
    }

    static func library() -> NSManagedObjectModel {
        let author = GraphModel.entity("Author")
        let book = GraphModel.entity("Book")
        let books = GraphModel.relationship("books", to: book, toMany: true)
        let writer = GraphModel.relationship("author", to: author)
        GraphModel.link(books, writer)
        let place = composite(
            "geo",
            [GraphModel.attribute("lat", .doubleAttributeType), GraphModel.attribute("lon", .doubleAttributeType)])
        author.properties = [
            GraphModel.attribute("name", .stringAttributeType), books,
            composite(
                "address",
                [
                    GraphModel.attribute("street", .stringAttributeType),
                    GraphModel.attribute("zip", .integer32AttributeType), place,
                ]),
            derived("canonicalName", .stringAttributeType, "canonical:(name)"),
            derived("bookCount", .integer64AttributeType, "books.@count"),
            derived("pageCount", .integer64AttributeType, "books.@sum.pages"),
            derived("longest", .integer32AttributeType, "max:(books.pages)"),
            derived("changed", .dateAttributeType, "now()"),
        ]
        book.properties = [
            GraphModel.attribute("title", .stringAttributeType), GraphModel.attribute("pages", .integer32AttributeType),
            writer, derived("authorName", .stringAttributeType, "author.name"),
            derived("siblings", .integer64AttributeType, "author.bookCount"),
        ]
        let model = NSManagedObjectModel()
        model.entities = [author, book]
        return model
    }

    private func book(
        _ title: String, _ pages: Int, _ author: NSManagedObject?, _ context: NSManagedObjectContext
    )
        -> NSManagedObject
    {
        let book = insert("Book", context)
        book.setValue(title, forKey: "title")
        book.setValue(pages, forKey: "pages")
        book.setValue(author, forKey: "author")
        return book
    }

    @Test(arguments: StoreKind.allCases) func derivedAttributesFollowTheirSources(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.library())
        let context = store.context()
        try context.performAndWait {
            let author = insert("Author", context)
            author.setValue("Émile", forKey: "name")
            let first = book("A", 100, author, context)
            _ = book("B", 100, author, context)
            let before = Date()
            try context.save()
            func check(_ count: Int, _ pages: Int, _ longest: Int?, line: Int = #line) {
                let at = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
                #expect(author.value(forKey: "bookCount") as? Int == count, sourceLocation: at)
                #expect(author.value(forKey: "pageCount") as? Int == pages, sourceLocation: at)
                #expect(author.value(forKey: "longest") as? Int == longest, sourceLocation: at)
            }
            check(2, 200, 100)
            #expect(author.value(forKey: "canonicalName") as? String == "emile")
            let time = try #require(author.value(forKey: "changed") as? Date)
            #expect(time >= before && time <= Date())
            #expect(first.value(forKey: "authorName") as? String == "Émile")
            #expect(first.value(forKey: "siblings") as? Int == 2)
            // A change at the other end of a relationship, in either direction.
            first.setValue(250, forKey: "pages")
            author.setValue("Zoë", forKey: "name")
            try context.save()
            check(2, 350, 250)
            #expect(first.value(forKey: "authorName") as? String == "Zoë")
            context.delete(first)
            try context.save()
            check(1, 100, 100)
            #expect(!context.hasChanges)
        }
        // What is stored is what was shown, and it can be fetched by.
        let other = store.context()
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "bookCount == 1 AND pageCount == 100 AND canonicalName == 'zoe'")
            #expect(try other.count(for: request) == 1)
            // Only the book changes here; the author is not even in memory.
            let books = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
            books[0].setValue(7, forKey: "pages")
            try other.save()
            request.predicate = NSPredicate(format: "pageCount == 7 AND longest == 7")
            #expect(try other.count(for: request) == 1)
            books[0].setValue(nil, forKey: "author")
            try other.save()
            #expect(books[0].value(forKey: "authorName") == nil)
            request.predicate = NSPredicate(format: "pageCount == 0 AND longest == nil AND bookCount == 0")
            #expect(try other.count(for: request) == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func derivedCountsAreNoConflict(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.library())
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let author = insert("Author", context)
            author.setValue("X", forKey: "name")
            try context.save()
            _ = author.value(forKey: "books")
            try other.performAndWait {
                let same = other.object(with: author.objectID)
                _ = book("theirs", 10, same, other)
                try other.save()
                #expect(same.value(forKey: "bookCount") as? Int == 1)
            }
            _ = book("mine", 5, author, context)
            try context.save()
            #expect(author.value(forKey: "bookCount") as? Int == 2)
            #expect(author.value(forKey: "pageCount") as? Int == 15)
        }
    }

    @Test(arguments: StoreKind.allCases) func compositesAreDictionariesAndPaths(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.library())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<4 {
                let author = insert("Author", context)
                author.setValue("A\(number)", forKey: "name")
                if number == 3 { continue }
                author.setValue(
                    ["street": "S\(3 - number)", "zip": 100 + number, "geo": ["lat": Double(number)]],
                    forKey: "address")
            }
            try context.save()
        }
        try store.reopen()
        let second = store.context()
        try second.performAndWait {
            let all = try fetchAll(NSManagedObject.self, "Author", second, sort: "name")
            let address = try #require(all[1].value(forKey: "address") as? [String: Any])
            #expect(address["street"] as? String == "S2" && address["zip"] as? Int == 101)
            #expect((address["geo"] as? [String: Any])?["lat"] as? Double == 1)
            #expect((address["geo"] as? [String: Any])?["lon"] == nil)
            #expect(all[3].value(forKey: "address") == nil)
            #expect(all[2].value(forKeyPath: "address.geo.lat") as? Double == 2)
            let found = try fetchAll(
                NSManagedObject.self, "Author", second,
                NSPredicate(format: "address.zip >= 101 AND address.geo.lat < 2"))
            #expect(found == [all[1]])
            let sorted = try fetchAll(NSManagedObject.self, "Author", second, sort: "address.street")
            #expect(sorted == [all[3], all[2], all[1], all[0]])
            #expect(throws: CocoaError.self) {
                try fetchAll(NSManagedObject.self, "Author", second, NSPredicate(format: "address.city == 'x'"))
            }
            // One element at a time, and all at once.
            all[1].setValue("New", forKeyPath: "address.street")
            #expect((all[1].value(forKey: "address") as? [String: Any])?["zip"] as? Int == 101)
            #expect((all[1].changedValues()["address"] as? [String: Any])?["street"] as? String == "New")
            #expect(all[1].changedValues().count == 1)
            let committed = all[1].committedValues(forKeys: ["address"])["address"] as? [String: Any]
            #expect(committed?["street"] as? String == "S2")
            all[2].setValue(["zip": 7], forKey: "address")
            all[0].setValue(nil, forKey: "address")
            try second.save()
            #expect(all[2].value(forKeyPath: "address.street") == nil && all[0].value(forKey: "address") == nil)
            let request = NSFetchRequest<NSDictionary>(entityName: "Author")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["address", "address.zip"]
            request.predicate = NSPredicate(format: "address.zip == 7")
            let row = try #require(try second.fetch(request).first)
            #expect(row["address.zip"] as? Int == 7 && (row["address"] as? [String: Any])?["zip"] as? Int == 7)
        }
    }
}
