import CoreData
import Foundation
import Testing

// The code of the README's quick start, as it is written there but for the store's place.

final class Book: NSManagedObject {
    private static let titleSlot = AttributeSlot<String>("title")

    var title: String {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
}

@Suite("README")
struct ReadmeTests {
    @Test("The quick start works")
    func quickStart() async throws {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType

        let entity = NSEntityDescription()
        entity.name = "Book"
        entity.managedObjectClassName = NSStringFromClass(Book.self)
        entity.properties = [title]

        let model = NSManagedObjectModel()
        model.entities = [entity]

        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        container.loadPersistentStores { description, error in
            if let error { Issue.record("cannot open \(description): \(error)") }
        }

        let context = container.newBackgroundContext()
        try await context.perform {
            let book = Book(context: context)
            book.title = "Walden"
            try context.save()  // durable when it returns

            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "title == %@", "Walden")
            #expect(try context.fetch(request).map(\.title) == ["Walden"])
        }
    }
}
