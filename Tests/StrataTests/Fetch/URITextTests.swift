import CoreData
import Foundation
import Testing

/// Operators for texts on attributes of the type URI, which Core Data's stores keep as texts.
@Suite struct URITextTests {
    private static func filled(_ kind: StoreKind) throws -> TestStore {
        let (page, shelf) = (GraphModel.entity("Page"), GraphModel.entity("Shelf"))
        let (shelfOf, pages) = (
            GraphModel.relationship("shelf", to: shelf), GraphModel.relationship("pages", to: page, toMany: true)
        )
        GraphModel.link(shelfOf, pages)
        page.properties = [
            GraphModel.attribute("url", .URIAttributeType), GraphModel.attribute("name", .stringAttributeType), shelfOf,
        ]
        shelf.properties = [pages]
        let model = NSManagedObjectModel()
        model.entities = [page, shelf]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let one = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
            for (name, url) in [
                ("a", "kiwix://x/1"), ("b", "https://example.org/Kiwix"), ("c", "KIWIX://y/2"), ("d", nil),
            ] {
                let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
                page.setValue(name, forKey: "name")
                page.setValue(url.flatMap { URL(string: $0) }, forKey: "url")
                page.setValue(one, forKey: "shelf")
            }
            try context.save()
        }
        return store
    }

    static let cases: [(String, String)] = [
        ("url BEGINSWITH 'kiwix://'", "a"), ("url BEGINSWITH[cd] 'kiwix://'", "ac"),
        ("NOT url BEGINSWITH[c] 'kiwix://'", "b"), ("url ENDSWITH '2'", "c"), ("url CONTAINS 'example'", "b"),
        ("url CONTAINS[c] 'KIWIX'", "abc"), ("url LIKE '*://?/*'", "ac"), ("url MATCHES '.*/[0-9]'", "ac"),
        ("name == 'b' OR url BEGINSWITH 'kiwix'", "ab"), ("url.absoluteString CONTAINS 'example'", "b"),
        ("SUBQUERY(shelf.pages, $p, $p.url BEGINSWITH 'https' AND $p.name == 'b').@count == 1", "abcd"),
    ]

    @Test(arguments: StoreKind.allCases, cases) func theTextIsCompared(
        _ kind: StoreKind, _ asked: (String, String)
    ) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        for context in [context, child] {
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Page")
                request.predicate = NSPredicate(format: asked.0)
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let found = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.joined()
                #expect(found == asked.1)
                #expect(try context.count(for: request) == asked.1.count)
                // What is in memory only is asked the same.
                let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
                page.setValue(URL(string: "ftp://none"), forKey: "url")
                #expect(try context.fetch(request).count == asked.1.count + (asked.0.hasPrefix("NOT") ? 1 : 0))
                context.delete(page)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func batchRequestsCompareIt(_ kind: StoreKind) throws {
        let store = try Self.filled(kind)
        let context = store.context()
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Page")
            update.predicate = NSPredicate(format: "url BEGINSWITH[c] %@", "kiwix")
            update.propertiesToUpdate = ["name": "z"]
            update.resultType = .updatedObjectsCountResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            #expect(result?.result as? Int == 2)
        }
    }
}
