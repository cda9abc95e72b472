import CoreData
import Foundation
import Testing

/// A store that was written with all entities is opened with a configuration of some of them.
@Suite final class ConfigurationSubsetTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-subset-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    static let types: [NSPersistentStore.StoreType] = [.sqlite, .binary, .xml]

    /// Authors with books, and lone notes. "part" has the notes, "rest" the others.
    private func model(_ version: Int = 1) -> NSManagedObjectModel {
        func attribute(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = true
            return attribute
        }
        func relationship(_ name: String, _ maximum: Int) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.maxCount = maximum
            relationship.isOptional = true
            return relationship
        }
        let (author, book, note) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        let (books, writer) = (relationship("books", 0), relationship("author", 1))
        (books.destinationEntity, writer.destinationEntity) = (book, author)
        (books.inverseRelationship, writer.inverseRelationship) = (writer, books)
        (author.name, book.name, note.name) = ("Author", "Book", "Note")
        author.properties = [attribute("name"), books]
        book.properties = [attribute("name"), writer]
        note.properties = [attribute("name")]
        // Versions after the first change what lies outside of the configuration, or inside.
        if version == 2 { book.properties.append(attribute("subtitle")) }
        if version == 3 { note.properties.append(attribute("text")) }
        let model = NSManagedObjectModel()
        model.entities = version == 4 ? [author, book] : [author, book, note]
        model.setEntities([note].filter { _ in version != 4 }, forConfigurationName: "part")
        model.setEntities([author, book], forConfigurationName: "rest")
        return model
    }

    private func open(
        _ type: NSPersistentStore.StoreType, _ configuration: String?, _ version: Int = 1,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        try coordinator.addPersistentStore(
            type: type, configuration: configuration, at: directory.appendingPathComponent("store"), options: options)
        return coordinator
    }

    private static var migrating: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func with<R>(
        _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func insert(_ entity: String, _ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func names(_ entity: String, _ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let names = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        #expect(try context.count(for: request) == names.count)
        return names
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator) throws {
        try with(coordinator) { context in
            let author = insert("Author", "author", context)
            for name in ["one", "two"] { insert("Book", name, context).setValue(author, forKey: "author") }
            _ = insert("Note", "note", context)
            try context.save()
        }
    }

    private func checkWhole(
        _ type: NSPersistentStore.StoreType, _ version: Int = 1, notes: [String], options: [AnyHashable: Any]? = nil
    ) throws {
        let whole = try open(type, nil, version, options: options)
        try with(whole) { context in
            #expect(try names("Note", context) == notes && names("Book", context) == ["one", "two"])
            let author = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first)
            #expect((author.value(forKey: "books") as? NSSet)?.count == 2)
        }
        try close(whole)
    }

    @Test(arguments: types) func aPartOfTheStoreIsReadAndWritten(type: NSPersistentStore.StoreType) throws {
        let whole = try open(type, nil)
        try fill(whole)
        try close(whole)
        let part = try open(type, "part")
        let store = try #require(part.persistentStores.first)
        #expect(part.managedObjectModel.isConfiguration(withName: "part", compatibleWithStoreMetadata: store.metadata))
        try with(part) { context in
            #expect(try names("Note", context) == ["note"])
            #expect(try names("Book", context) == [] && names("Author", context) == [])
            _ = insert("Note", "more", context)
            try context.save()
            // What no store of the coordinator is for cannot be saved.
            let book = insert("Book", "lost", context)
            #expect(throws: CocoaError.self) { try context.save() }
            context.delete(book)
            try context.save()
        }
        try close(part)
        try checkWhole(type, notes: ["more", "note"])
        let rest = try open(type, "rest")
        #expect(try with(rest) { try names("Note", $0) } == [])
        #expect(try with(rest) { try names("Book", $0) } == ["one", "two"])
        try close(rest)
    }

    /// The store's other objects stay where they are; those of another store are not mistaken for them.
    @Test(arguments: types) func twoStoresDivideTheEntities(type: NSPersistentStore.StoreType) throws {
        let whole = try open(type, nil)
        try fill(whole)
        try close(whole)
        let both = try open(type, "part")
        let second = try both.addPersistentStore(
            type: type, configuration: "rest", at: directory.appendingPathComponent("second"))
        try with(both) { context in
            let book = insert("Book", "new", context)
            let note = insert("Note", "new", context)
            try context.save()
            #expect(book.objectID.persistentStore === second && note.objectID.persistentStore !== second)
            #expect(try names("Book", context) == ["new"] && names("Note", context) == ["new", "note"])
        }
        try close(both)
        try checkWhole(type, notes: ["new", "note"])
    }

    @Test(arguments: types) func whatTheConfigurationLeavesOutIsMigratedWithTheRest(
        type: NSPersistentStore.StoreType
    ) throws {
        let whole = try open(type, nil)
        try fill(whole)
        try close(whole)
        for version in [2, 3] {
            let error = #expect(throws: CocoaError.self) { try open(type, "part", version) }
            #expect(error?.code == .persistentStoreIncompatibleVersionHash)
            let what = version == 2 ? "Book.subtitle is new" : "Note.text is new"
            #expect(error?.localizedDescription.contains(what) == true, "\(error?.localizedDescription ?? "")")
        }
        for version in [2, 3] {
            let part = try open(type, "part", version, options: Self.migrating)
            #expect(try with(part) { try names("Note", $0) } == ["note"])
            #expect(try with(part) { try names("Book", $0) } == [])
            try close(part)
            try checkWhole(type, version, notes: ["note"], options: nil)
        }
    }

    /// What the model does not have at all still asks for a migration.
    @Test(arguments: types) func anEntityThatIsGoneFromTheModelIsADifference(
        type: NSPersistentStore.StoreType
    ) throws {
        let whole = try open(type, nil)
        try fill(whole)
        try close(whole)
        let error = #expect(throws: CocoaError.self) { try open(type, "rest", 4) }
        #expect(error?.localizedDescription.contains("What differs: Note is gone.") == true)
    }

    /// A store of a part is not one of the whole, and the error says what is missing.
    @Test(arguments: types) func aStoreOfAPartSaysWhatTheWholeHasBesides(type: NSPersistentStore.StoreType) throws {
        try close(try open(type, "part"))
        let error = #expect(throws: CocoaError.self) { try open(type, nil) }
        #expect(error?.localizedDescription.contains("What differs: Author is new; Book is new.") == true)
        let readOnly = #expect(throws: CocoaError.self) {
            try open(type, "rest", options: Self.migrating.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        }
        #expect(readOnly?.localizedDescription.contains("What differs: Author is new; Book is new") == true)
    }
}
