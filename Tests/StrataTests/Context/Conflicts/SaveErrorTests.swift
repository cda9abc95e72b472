import CoreData
import Foundation
import Testing

@Suite struct SaveErrorTests {
    /// Two entities, each in a configuration of its own.
    static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = ["One", "Two"].map { name in
            let entity = GraphModel.entity(name)
            entity.properties = [GraphModel.attribute("text", .stringAttributeType)]
            return entity
        }
        for entity in model.entities { model.setEntities([entity], forConfigurationName: entity.name ?? "") }
        return model
    }

    private static func coordinator() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        for name in ["One", "Two"] {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: name, at: nil, options: nil)
        }
        return coordinator
    }

    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// An object of the second store that the first context is to save, after the second has saved it.
    private static func conflicting(
        _ first: NSManagedObjectContext, _ second: NSManagedObjectContext
    ) throws -> NSManagedObject {
        let two = insert("Two", first).set(["text": "start"])
        try first.save()
        second.object(with: two.objectID).setValue("theirs", forKey: "text")
        try second.save()
        two.setValue("mine", forKey: "text")
        return two
    }

    /// Objects of a large save are put aside for another core; here none follows, as the save fails after they have
    /// been written. They are where all others are, and so is what the context saves later.
    @Test func oneStoreOfTwoFailsWithManyObjectsInTheOther() throws {
        let coordinator = try Self.coordinator()
        let (first, second) = (Self.context(coordinator), Self.context(coordinator))
        try first.performAndWait {
            _ = try Self.conflicting(first, second)
            let ones = (0..<2_000).map { insert("One", first).set(["text": "one \($0)"]) }
            #expect(saveError(first)?.code == .persistentStoreIncompleteSave)
            #expect(ones.allSatisfy { first.registeredObject(for: $0.objectID) === $0 && !$0.objectID.isTemporaryID })
            #expect(first.registeredObjects.count == 2_001)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
            _ = (0..<2_000).map { insert("One", first).set(["text": "later \($0)"]) }
            try first.save()
            #expect(try Set(fetchAll(NSManagedObject.self, "One", first)).isSuperset(of: ones))
            first.reset()
            #expect(first.registeredObjects.isEmpty && ones.allSatisfy { $0.managedObjectContext == nil })
        }
    }

    @Test func oneStoreOfTwoFails() throws {
        let coordinator = try Self.coordinator()
        let (first, second) = (Self.context(coordinator), Self.context(coordinator))
        try first.performAndWait {
            let two = try Self.conflicting(first, second)
            let one = insert("One", first).set(["text": "one"])
            let error = saveError(first)
            #expect(error?.code == .persistentStoreIncompleteSave)
            #expect(error?.affectedStores?.first === coordinator.persistentStores[1])
            #expect(error?.affectedObjects?.count == 1 && error?.affectedObjects?.first === two)
            let cause = error?.userInfo[NSUnderlyingErrorKey] as? CocoaError
            #expect(cause?.code == .managedObjectMerge && cause?.persistentStoreSaveConflicts?.count == 1)
            #expect(!one.hasChanges && !one.objectID.isTemporaryID && two.isUpdated && first.insertedObjects.isEmpty)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
            let fresh = Self.context(coordinator)
            #expect(try fetchAll(NSManagedObject.self, "One", fresh).map { $0.text("text") } == ["one"])
            #expect(try fetchAll(NSManagedObject.self, "Two", fresh).map { $0.text("text") } == ["mine"])
        }
    }

    /// The error said that no store held the entity.
    @Test(arguments: [false, true]) func aReadOnlyStoreIsNamed(isAssigned: Bool) throws {
        let store = try TestStore(.log)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: store.model)
        try store.coordinator.remove(store.store)
        let readOnly = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let context = Self.context(coordinator)
        context.performAndWait {
            let department = insert("Department", context)
            if isAssigned { context.assign(department, to: readOnly) }
            let error = saveError(context)
            #expect(error?.code == .fileWriteNoPermission && error?.affectedStores?.first === readOnly)
            #expect(department.isInserted)
        }
    }
}
