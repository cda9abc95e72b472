import CoreData
import Foundation
import Testing

@Suite struct IdentityTests {
    @Test(arguments: StoreKind.allCases) func temporaryAndPermanent(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let person = Employee(context: context)
            let temporary = person.objectID
            #expect(temporary.isTemporaryID && temporary.persistentStore == nil && temporary.entity.name == "Employee")
            #expect(temporary.uriRepresentation().absoluteString.hasPrefix("x-coredata:///Employee/t"))
            #expect(person.objectID == temporary && context.object(with: temporary) === person)
            #expect(store.coordinator.managedObjectID(forURIRepresentation: temporary.uriRepresentation()) == nil)
            try context.save()
            let permanent = person.objectID
            #expect(!permanent.isTemporaryID && permanent.persistentStore === store.store && temporary != permanent)
            #expect(
                permanent.uriRepresentation().absoluteString.hasPrefix(
                    "x-coredata://\(store.store.identifier!)/Employee/p"))
            let other = store.context()
            let same = other.object(with: permanent).objectID
            #expect(same == permanent && same.hash == permanent.hash && same.isEqual(permanent))
            #expect(Set([same, permanent]).count == 1)
            #expect((permanent.copy() as? NSManagedObjectID) === permanent)
        }
    }

    @Test(arguments: StoreKind.allCases) func obtainedBeforeTheSave(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let person = Employee(context: context)
            person.name = "early"
            try context.obtainPermanentIDs(for: [person])
            let id = person.objectID
            #expect(!id.isTemporaryID && person.isInserted && !person.isFault && person.name == "early")
            #expect(context.registeredObject(for: id) === person && context.insertedObjects == [person])
            #expect(throws: CocoaError.self) { try store.context().existingObject(with: id) }
            try context.save()
            #expect(person.objectID == id && !person.hasChanges)
            #expect(try store.context().existingObject(with: id).value(forKey: "name") as? String == "early")
        }
    }

    @Test func urisOutliveTheProcess() throws {
        let store = try TestStore(.log)
        let context = store.context()
        let uri = try context.performAndWait {
            let manager = Manager(context: context)
            manager.name = "Eve"
            try context.save()
            return manager.objectID.uriRepresentation()
        }
        let old = try #require(store.coordinator.managedObjectID(forURIRepresentation: uri))
        try store.reopen()
        let id = try #require(store.coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(id == old && id.hash == old.hash && id.entity.name == "Manager" && id.uriRepresentation() == uri)
        let again = store.context()
        try again.performAndWait {
            let found = try again.existingObject(with: id)
            #expect((found as? Manager)?.name == "Eve")
        }
        let text = uri.absoluteString
        let lower = try #require(URL(string: text.replacingOccurrences(of: uri.host!, with: uri.host!.lowercased())))
        #expect(store.coordinator.managedObjectID(forURIRepresentation: lower) == id)
        for wrong in [
            "https://example.com/Manager/p1", "x-coredata://\(UUID().uuidString)/Manager/p1",
            "x-coredata://\(uri.host!)/Nobody/p1", "x-coredata://\(uri.host!)/Manager/q1",
            "x-coredata://\(uri.host!)/Manager/p0", "x-coredata://\(uri.host!)/Manager",
        ] {
            let url = try #require(URL(string: wrong))
            #expect(store.coordinator.managedObjectID(forURIRepresentation: url) == nil, "\(wrong)")
        }
    }

    @Test func classesStandForTheirEntities() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            #expect(Manager.entity().name == "Manager" && Employee.entity().name == "Employee")
            #expect(Manager.fetchRequest().entityName == "Manager")
            let manager = Manager(context: context)
            let inserted = NSEntityDescription.insertNewObject(forEntityName: "Manager", into: context)
            #expect(inserted is Manager && manager.entity === inserted.entity)
            try context.save()
            let found = try context.fetch(Employee.fetchRequest())
            #expect(found.count == 2 && found.allSatisfy { $0 is Manager })
            #expect(manager.superclass == Employee.self && Manager.isSubclass(of: Employee.self))
            #expect(!Employee.isSubclass(of: Manager.self) && Manager.class() == Manager.self)
            #expect(manager.responds(to: Selector("bonus")) && !manager.responds(to: Selector("colour")))
            #expect(Manager.instancesRespond(to: Selector("name")))
            #expect(manager.isKind(of: Employee.self) && !manager.isMember(of: Employee.self) && !manager.isProxy())
            #expect(manager.`self`() === manager)
        }
    }

    @Test func idsCrossThreads() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let id = try await context.perform {
            let person = Employee(context: context)
            person.name = "sent"
            try context.save()
            return person.objectID
        }
        let name = await Task.detached {
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = id.persistentStore?.persistentStoreCoordinator
            return await other.perform { (other.object(with: id) as? Employee)?.name }
        }.value
        #expect(name == "sent")
        withExtendedLifetime(store) {}
    }

    @Test func aClassOfTwoEntitiesStandsForNone() async {
        await #expect(processExitsWith: .failure) {
            let model = GraphModel.company()
            model.entitiesByName["Badge"]?.managedObjectClassName = String(reflecting: Department.self)
            let store = try TestStore(.memory, model)
            let context = store.context()
            // Either by its name is all right.
            guard make("Badge", context) is Department, make("Department", context) is Department else { return }
            _ = Department(context: context)
        }
    }
}
