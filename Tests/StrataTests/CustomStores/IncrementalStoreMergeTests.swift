import CoreData
import Foundation
import Testing

/// What an incremental store is asked when other contexts' changes are merged, and when there is nothing to save.
@Suite(.serialized) struct IncrementalStoreMergeTests {
    enum Way: CaseIterable, Sendable {
        case notification, remote, automatic, child
    }

    private static func service() -> Service {
        let service = Service()
        service.rows["D"] = Service.Row(
            entity: "Department", values: ["title": "Research", "budget": 100], toMany: ["employees": ["E1", "E2"]])
        for name in ["E1", "E2"] {
            service.rows[name] = Service.Row(
                entity: "Employee", values: ["name": name, "age": 36], toOne: ["department": "D"])
        }
        return service
    }

    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.retainsRegisteredObjects = true
        return context
    }

    /// Merging a deletion fired the fault of what was deleted: the store was asked for a row that it no longer had.
    @Test(arguments: Way.allCases) func aMergedDeletionIsNotAskedFor(_ way: Way) throws {
        let service = Self.service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let (here, there) = (Self.context(coordinator), Self.context(coordinator))
        let child = NSManagedObjectContext(.privateQueue)
        child.retainsRegisteredObjects = true
        child.automaticallyMergesChangesFromParent = true
        here.automaticallyMergesChangesFromParent = way == .automatic || way == .child
        let notifications = SaveNotifications(there)
        let watcher = way == .child ? child : here
        if way == .child { child.parent = here }
        try watcher.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", watcher)
            #expect(people.count == 2)
            for object in people { watcher.refresh(object, mergeChanges: false) }
        }
        here.performAndWait { here.refreshAllObjects() }
        service.calls = []
        var deleted: NSManagedObjectID?
        try there.performAndWait {
            let person = try #require(fetchAll(Employee.self, "Employee", there, sort: "name").first)
            deleted = person.objectID
            there.delete(person)
            try there.save()
            service.calls = []
        }
        switch way {
        case .notification:
            here.performAndWait {
                for note in notifications.all { here.mergeChanges(fromContextDidSave: note) }
            }
        case .remote:
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectsKey: [try #require(deleted)]], into: [here])
        case .automatic, .child: here.performAndWait {}
        }
        watcher.performAndWait {
            #expect(deleted.flatMap { watcher.registeredObject(for: $0) }?.isDeleted != false)
        }
        #expect(service.calls.filter { $0.hasSuffix("E1") } == [])
    }

    /// A deletion that was merged leaves nothing to be saved, and the store was sent a request without any objects.
    @Test func nothingIsSavedOfAMergedDeletion() throws {
        let service = Self.service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let (here, there) = (Self.context(coordinator), Self.context(coordinator))
        let notifications = SaveNotifications(there)
        try here.performAndWait { _ = try fetchAll(Employee.self, "Employee", here).map(\.name) }
        try there.performAndWait {
            try fetchAll(Employee.self, "Employee", there).forEach(there.delete)
            try there.save()
        }
        service.calls = []
        try here.performAndWait {
            for note in notifications.all { here.mergeChanges(fromContextDidSave: note) }
            try here.save()
            #expect(!here.hasChanges)
        }
        #expect(service.calls.filter { $0.hasPrefix("save") } == [])
    }

    /// Once a merge policy has taken all changes back, nothing is left for the store.
    @Test func nothingIsSavedOfWhatWasTakenBack() throws {
        let service = Self.service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let (here, there) = (Self.context(coordinator), Self.context(coordinator))
        here.mergePolicy = NSMergePolicy.rollback
        try here.performAndWait {
            let person = try #require(fetchAll(Employee.self, "Employee", here, sort: "name").first)
            #expect(person.age == 36)
            try there.performAndWait {
                try fetchAll(Employee.self, "Employee", there).forEach { $0.age = 40 }
                try there.save()
            }
            service.calls = []
            person.age = 50
            try here.save()
            #expect(person.age == 40)
        }
        #expect(service.calls.filter { $0.hasPrefix("save") } == [])
    }
}
