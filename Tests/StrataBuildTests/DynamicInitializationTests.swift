import CoreData
import Foundation
import Synchronization
import Testing

/// Something whose life is counted.
private final class Counted: Sendable {
    static let live = Atomic<Int>(0)

    init() { Self.live.wrappingAdd(1, ordering: .relaxed) }
    deinit { Self.live.wrappingSubtract(1, ordering: .relaxed) }
}

/// Inherits the initialiser.
private class Inheriting: NSManagedObject {
    let counted = Counted()
}

/// Overrides it.
private final class Overriding: NSManagedObject {
    let counted: Counted

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        counted = Counted()
        super.init(entity: entity, insertInto: context)
    }
}

/// A store that is made by name, with values that have references.
private final class DynamicStore: NSIncrementalStore, @unchecked Sendable {
    let counted = Counted()

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: "DynamicStore"]
    }
}

/// Objects and stores of classes that are only known when the program runs, made by initialisers that are not required:
/// each argument and result is counted as often as it is held.
@Suite(.serialized) struct DynamicInitializationTests {
    private static func model() -> NSManagedObjectModel {
        let inheriting = GraphModel.entity("DynamicInheriting", Inheriting.self)
        let overriding = GraphModel.entity("DynamicOverriding", Overriding.self)
        ManagedObjectClasses.register(Inheriting.self, Overriding.self)
        inheriting.properties = [GraphModel.attribute("number", .integer64AttributeType, default: 0)]
        overriding.properties = [GraphModel.attribute("number", .integer64AttributeType, default: 0)]
        let model = NSManagedObjectModel()
        model.entities = [inheriting, overriding]
        return model
    }

    /// Tutorials and older code name NSManagedObject itself, and cast.
    @Test(arguments: StoreKind.allCases) func aPlainObjectIsOneOfTheEntitysClass(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let entity = try #require(store.coordinator.managedObjectModel.entitiesByName["Department"])
            let object = NSManagedObject(entity: entity, insertInto: context)
            let department = try #require(object as? Department)
            department.title = "Physics"
            #expect(type(of: object) == Department.self && object.entity == entity && object.isInserted)
            let employee = try #require(make("Employee", context) as? Employee)
            employee.department = department
            #expect(department.employees == [employee])
            #expect(try context.fetch(NSFetchRequest<Department>(entityName: "Department")) == [department])
            try context.save()
            let outside = NSManagedObject(entity: entity, insertInto: nil)
            #expect(outside is Department && outside.managedObjectContext == nil)
            let found = try context.fetch(NSFetchRequest<Department>(entityName: "Department"))
            #expect(found.map(\.title) == ["Physics"])
        }
    }

    @Test func objectsThatTookTheirEntitysClassAreFreed() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        weak var weakly: NSManagedObject?
        try context.performAndWait {
            let entity = try #require(store.coordinator.managedObjectModel.entitiesByName["Department"])
            for _ in 0..<100 {
                let object = NSManagedObject(entity: entity, insertInto: context)
                object.setValue("A title that does not fit into a string's two words", forKey: "title")
                weakly = object
            }
            context.reset()
        }
        #expect(weakly == nil)
    }

    /// A class with stored properties has to be named. Taken for an object of the entity's class, it was
    /// read beyond its end.
    @Test func aPlainObjectIsNotTakenForOneOfTheEntitysClass() throws {
        let model = Self.model()
        let entity = try #require(model.entitiesByName["DynamicInheriting"])
        let store = try TestStore(.memory, model)
        let context = store.context()
        try context.performAndWait {
            let plain = NSManagedObject(entity: entity, insertInto: context)
            plain.setValue(5, forKey: "number")
            let typed = NSFetchRequest<Inheriting>(entityName: "DynamicInheriting")
            #expect(throws: CocoaError.self) { try context.fetch(typed).count }
            let untyped = NSFetchRequest<NSManagedObject>(entityName: "DynamicInheriting")
            #expect(try context.fetch(untyped) == [plain])
            try context.save()
            context.reset()
            #expect(try context.fetch(typed).map { $0.value(forKey: "number") as? Int } == [5])
        }
    }

    @Test func objectsAreMadeAndFreed() throws {
        let before = Counted.live.load(ordering: .relaxed)
        try autoreleasepool {
            let store = try TestStore(.memory, Self.model())
            let context = store.context()
            try context.performAndWait {
                let types: [NSManagedObject.Type] = [Inheriting.self, Overriding.self, Inheriting.self]
                for (number, type) in types.enumerated() {
                    let object = type.init(context: context)
                    #expect(Swift.type(of: object) == type && object.managedObjectContext === context)
                    object.setValue(number, forKey: "number")
                }
                try context.save()
            }
            for entity in ["DynamicInheriting", "DynamicOverriding"] {
                let other = store.shortLivedContext()
                try other.performAndWait {
                    let objects = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                    #expect(objects.allSatisfy { "\(Swift.type(of: $0))" == entity.dropFirst(7) })
                    #expect(objects.count == (entity == "DynamicOverriding" ? 1 : 2))
                }
            }
        }
        #expect(Counted.live.load(ordering: .relaxed) == before)
    }

    @Test func contextsAndEntitiesAreCountedOnce() throws {
        let model = Self.model()
        let entity = try #require(model.entitiesByName["DynamicOverriding"])
        let store = try TestStore(.memory, model)
        weak var context: NSManagedObjectContext?
        do {
            let short = store.shortLivedContext()
            context = short
            short.performAndWait {
                for _ in 0..<100 {
                    _ = (Overriding.self as NSManagedObject.Type).init(entity: entity, insertInto: short)
                }
                short.reset()
            }
        }
        // A queue may hold its context for a moment after the last block.
        for _ in 0..<1_000 where context != nil { usleep(1_000) }
        #expect(context == nil)
        #expect(entity.name == "DynamicOverriding")
    }

    @Test func storesAreMadeAndFreed() throws {
        let before = Counted.live.load(ordering: .relaxed)
        NSPersistentStoreCoordinator.registerStoreClass(DynamicStore.self, forStoreType: "DynamicStore")
        defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "DynamicStore") }
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            let url = URL(fileURLWithPath: "/tmp/strata-dynamic-\(UUID().uuidString)")
            let store = try coordinator.addPersistentStore(
                ofType: "DynamicStore", configurationName: nil, at: url, options: ["key": "value"])
            #expect(store is DynamicStore && store.url == url && store.options?["key"] as? String == "value")
            #expect(Counted.live.load(ordering: .relaxed) == before + 1)
            try coordinator.remove(store)
        }
        #expect(Counted.live.load(ordering: .relaxed) == before)
    }
}
