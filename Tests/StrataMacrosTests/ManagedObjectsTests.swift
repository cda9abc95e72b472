import CoreData
import StrataManaged
import Testing

enum Kind: Int16 {
    case novel, essay
}

@ManagedObject final class Shelf: NSManagedObject {
    var label: String
    var books: Set<Volume>
}

@ManagedObject class Volume: NSManagedObject {
    var title: String
    var subtitle: String?
    var pages: Int
    var price: Double
    var kind: Kind
    var printed: TimeInterval
    var shelf: Shelf?
    var tags: [String]?
    var notes = [String]()
    var isLong: Bool { pages > 500 }
}

/// Classes whose accessors `@Managed` makes, at work.
@Suite struct ManagedObjectsTests {
    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        let volume = NSEntityDescription()
        let shelf = NSEntityDescription()
        for (entity, type) in [(volume, Volume.self as NSManagedObject.Type), (shelf, Shelf.self)] {
            entity.name = "\(type)"
            entity.managedObjectClassName = NSStringFromClass(type)
        }
        let books = NSRelationshipDescription()
        books.name = "books"
        books.destinationEntity = volume
        let place = NSRelationshipDescription()
        place.name = "shelf"
        place.maxCount = 1
        place.destinationEntity = shelf
        books.inverseRelationship = place
        place.inverseRelationship = books
        volume.properties = [
            attribute("title", .stringAttributeType), attribute("subtitle", .stringAttributeType),
            attribute("pages", .integer16AttributeType), attribute("price", .doubleAttributeType),
            attribute("kind", .integer16AttributeType), attribute("printed", .dateAttributeType),
            attribute("tags", .transformableAttributeType), attribute("isbn", .stringAttributeType), place,
        ]
        shelf.properties = [attribute("label", .stringAttributeType), books]
        let model = NSManagedObjectModel()
        model.entities = [volume, shelf]
        return model
    }

    private static let shared = model()

    private func context() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.shared)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func valuesOfEveryKindAreKept() async throws {
        let context = try context()
        try await context.perform {
            let shelf = Shelf(context: context)
            shelf.label = "A"
            let volume = Volume(context: context)
            #expect(volume.title == "" && volume.subtitle == nil && volume.kind == .novel && volume.pages == 0)
            volume.title = "Essais"
            volume.subtitle = "livre premier"
            volume.pages = 501
            volume.price += 9.5
            volume.kind = .essay
            volume.printed = 3600
            volume.tags = ["old"]
            volume.shelf = shelf
            volume.isbn = "978"
            try context.save()
            context.refreshAllObjects()
            #expect(volume.title == "Essais" && volume.subtitle == "livre premier" && volume.isLong)
            #expect(volume.price == 9.5 && volume.kind == .essay && volume.printed == 3600 && volume.tags == ["old"])
            #expect(volume.value(forKey: "printed") as? Date == Date(timeIntervalSinceReferenceDate: 3600))
            #expect(volume.isbn == "978" && shelf.books == [volume] && volume.shelf === shelf)
            volume.subtitle = nil
            #expect(volume.changedValues().keys.sorted() == ["subtitle"])
        }
    }

    @Test func keyPathsOfAllPropertiesHaveNames() async throws {
        let context = try context()
        try await context.perform {
            for (title, kind) in [("b", Kind.essay), ("a", .essay), ("c", .novel)] {
                let volume = Volume(context: context)
                volume.title = title
                volume.kind = kind
            }
            try context.save()
            let request = NSFetchRequest<Volume>(entityName: "Volume")
            request.sortDescriptors = [
                NSSortDescriptor(keyPath: \Volume.kind, ascending: false),
                NSSortDescriptor(keyPath: \Volume.title, ascending: true),
            ]
            #expect(try context.fetch(request).map(\.title) == ["a", "b", "c"])
            #expect(NSExpression(forKeyPath: \Volume.shelf).keyPath == "shelf")
            #expect(NSExpression(forKeyPath: \Volume.price).keyPath == "price")
        }
    }
}

extension Volume {
    @Managed var isbn: String?
}
