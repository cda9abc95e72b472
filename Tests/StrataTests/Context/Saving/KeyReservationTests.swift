import CoreData
import Foundation
import Testing

/// Which store a new object gets to, and that its key there is its own.
@Suite struct KeyReservationTests {
    /// A coordinator with a store of some employees that can only be read, and a larger one that can be written.
    private struct TwoStores {
        let model = GraphModel.company()
        let readable: TestStore
        let coordinator: NSPersistentStoreCoordinator
        let readOnly: NSPersistentStore
        let writable: NSPersistentStore
        let context: NSManagedObjectContext

        init() throws {
            readable = try TestStore(.log)
            try Self.fill(readable.context(), 3)
            let url = readable.url
            try readable.coordinator.remove(readable.store)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            readOnly = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSReadOnlyPersistentStoreOption: true])
            writable = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try Self.fill(context, 10)
        }

        static func fill(_ context: NSManagedObjectContext, _ count: Int) throws {
            try context.performAndWait {
                for index in 0..<count { Employee(context: context).name = "stored \(index)" }
                try context.save()
                context.reset()
            }
        }
    }

    private func names(_ context: NSManagedObjectContext, _ store: NSPersistentStore) throws -> Set<String> {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.affectedStores = [store]
        return Set(try context.fetch(request).compactMap(\.name))
    }

    private let stored = Set((0..<10).map { "stored \($0)" })

    /// The first store had reserved a key that the second one has given to another object.
    @Test func anObjectIsAssignedToAnotherStoreAfterASaveThatFailed() throws {
        let stores = try TwoStores()
        let context = stores.context
        try context.performAndWait {
            let employee = Employee(context: context)
            employee.name = "new"
            context.assign(employee, to: stores.readOnly)
            #expect(throws: CocoaError.self) { try context.save() }
            context.assign(employee, to: stores.writable)
            try context.save()
            #expect(employee.objectID.persistentStore === stores.writable)
            context.reset()
            #expect(try names(context, stores.writable) == stored.union(["new"]))
        }
    }

    @Test func anObjectIsTakenIntoAnotherContextAfterASaveThatFailed() throws {
        let stores = try TwoStores()
        let first = stores.context
        let employee = first.performAndWait {
            let employee = Employee(context: first)
            employee.name = "new"
            first.assign(employee, to: stores.readOnly)
            #expect(throws: CocoaError.self) { try first.save() }
            first.rollback()
            return employee
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stores.model)
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let second = NSManagedObjectContext(.privateQueue)
        second.persistentStoreCoordinator = coordinator
        try TwoStores.fill(second, 10)
        try second.performAndWait {
            second.insert(employee)
            employee.name = "new"
            try second.save()
            second.reset()
            #expect(try names(second, store) == stored.union(["new"]))
        }
    }

    /// An object may be assigned before it is inserted.
    @Test func anAssignmentOutlivesASaveWithoutChanges() throws {
        let model = GraphModel.company()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let entity = try #require(model.entitiesByName["Employee"])
            let employee = Employee(entity: entity, insertInto: nil)
            context.assign(employee, to: stores[1])
            try context.save()
            context.insert(employee)
            try context.save()
            #expect(employee.objectID.persistentStore === stores[1])
        }
    }
}
