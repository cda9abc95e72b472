import CoreData
import Foundation
import Testing

/// Who refers to an object that others have deleted, when only its deletion is merged.
@Suite struct MergedReferrerTests {
    enum Way: CaseIterable { case batch, save }

    /// Deletes objects behind the context's back, and tells it of nothing else.
    private func deleteElsewhere(
        _ objects: [NSManagedObject], _ store: TestStore, _ way: Way, _ context: NSManagedObjectContext
    ) throws {
        let ids = objects.map(\.objectID)
        let other = store.context()
        try other.performAndWait { () throws in
            switch way {
            case .batch: _ = try other.execute(NSBatchDeleteRequest(objectIDs: ids))
            case .save:
                for id in ids { other.delete(other.object(with: id)) }
                try other.save()
            }
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
    }

    private func filled(_ context: NSManagedObjectContext) throws -> (Department, [Employee]) {
        let department = try #require(insert("Department", context) as? Department)
        let employees = try (0..<4).map { number in
            let employee = try #require(insert("Employee", context) as? Employee)
            employee.name = "\(number)"
            employee.department = department
            return employee
        }
        try context.save()
        return (department, employees)
    }

    @Test(arguments: StoreKind.allCases, Way.allCases) func aToOneRelationshipIsEmpty(
        _ kind: StoreKind, _ way: Way
    ) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let (department, employees) = try filled(context)
            context.refresh(employees[1], mergeChanges: false)
            #expect(employees[1].department === department)
            employees[2].name = "mine"
            context.processPendingChanges()
            let recorder = SaveRecorder(.NSManagedObjectContextObjectsDidChange, context)
            try deleteElsewhere([department], store, way, context)
            #expect(department.isDeleted)
            #expect(employees.allSatisfy { $0.department == nil })
            #expect(recorder.infos.count == 1)
            #expect(recorder.infos.first?[NSRefreshedObjectsKey] as? Set<NSManagedObject> == Set(employees))
            #expect(employees[2].name == "mine" && employees[2].hasChanges && !employees[0].hasChanges)
            try context.save()
            #expect(employees[2].name == "mine" && context.registeredObject(for: department.objectID) == nil)
        }
    }

    /// The members were faults that nobody but the relationship held: they stayed in it, and read as empty.
    @Test(arguments: StoreKind.allCases, Way.allCases)
    func membersThatWereNeverReadLeaveTheirRelationship(_ kind: StoreKind, _ way: Way) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let (department, employees) = try filled(context)
            context.refreshAllObjects()
            #expect(department.employees.count == 4 && employees.allSatisfy(\.isFault))
            let mine = try #require(insert("Employee", context) as? Employee)
            mine.department = department
            context.processPendingChanges()
            try deleteElsewhere(Array(employees[1...2]), store, way, context)
            #expect(department.employees == [employees[0], employees[3], mine])
            #expect(employees[1].isDeleted && !employees[0].isDeleted)
            try context.save()
            #expect(department.employees == [employees[0], employees[3], mine])
        }
    }

    /// What a context has set itself is its own affair.
    @Test(arguments: StoreKind.allCases, Way.allCases)
    func unsavedReferencesToOthersStay(_ kind: StoreKind, _ way: Way) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let (department, employees) = try filled(context)
            let another = try #require(insert("Department", context) as? Department)
            employees[0].department = another
            context.processPendingChanges()
            try deleteElsewhere([department], store, way, context)
            #expect(employees[0].department === another && employees[1].department == nil)
            try context.save()
            #expect(another.employees == [employees[0]])
        }
    }

    /// A batch delete does not name what went by a cascade. That is deleted here all the same, whether it has been read
    /// or not, and reads as it was last seen.
    @Test(arguments: StoreKind.allCases, [false, true])
    func whatWentByACascadeIsDeleted(_ kind: StoreKind, deletesInaccessibleFaults: Bool) throws {
        let store = try TestStore(kind, GraphModel.company(employeesRule: .cascadeDeleteRule))
        let context = store.context()
        try context.performAndWait { () throws in
            context.shouldDeleteInaccessibleFaults = deletesInaccessibleFaults
            let (department, employees) = try filled(context)
            let other = try #require(insert("Department", context) as? Department)
            let stays = try #require(insert("Employee", context) as? Employee)
            (stays.name, stays.department) = ("stays", other)
            try context.save()
            employees[2].name = "mine"
            context.refresh(employees[3], mergeChanges: false)
            context.processPendingChanges()
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            child.automaticallyMergesChangesFromParent = true
            let (seen, kept) = try child.performAndWait {
                let seen = try #require(child.existingObject(with: employees[0].objectID) as? Employee)
                return (seen, try #require(child.existingObject(with: stays.objectID) as? Employee))
            }
            let recorder = SaveRecorder(.NSManagedObjectContextObjectsDidChange, context)
            try deleteElsewhere([department], store, .batch, context)
            #expect(try stored("Employee", store, sort: "name").count == 1)
            #expect(department.isDeleted && employees.allSatisfy { $0.isDeleted } && !stays.isDeleted)
            #expect(
                recorder.infos.first?[NSDeletedObjectsKey] as? Set<NSManagedObject> == Set(employees + [department]))
            #expect(employees[2].name == "mine" && employees[0].name == "0")
            child.performAndWait {
                #expect(seen.isDeleted && !kept.isDeleted && kept.name == "stays")
            }
            try context.save()
            #expect(try fetchAll(Employee.self, "Employee", context, sort: "name") == [stays])
        }
    }

    /// An object with a permanent ID has no row before it is saved.
    @Test(arguments: StoreKind.allCases) func whatWasNeverSavedIsNotDeleted(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.company(employeesRule: .cascadeDeleteRule))
        let context = store.context()
        try context.performAndWait { () throws in
            let (department, employees) = try filled(context)
            let mine = try #require(insert("Employee", context) as? Employee)
            mine.name = "mine"
            try context.obtainPermanentIDs(for: [mine])
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            let (inChild, seen) = try child.performAndWait {
                let inChild = try #require(insert("Employee", child) as? Employee)
                try child.obtainPermanentIDs(for: [inChild])
                return (inChild, try #require(child.existingObject(with: mine.objectID) as? Employee))
            }
            let other = try #require(insert("Department", context) as? Department)
            other.title = "other"
            context.delete(employees[0])
            try deleteElsewhere([department], store, .batch, context)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectsKey: [department.objectID]], into: [child])
            #expect(mine.isInserted && !mine.isDeleted && employees[1].isDeleted)
            child.performAndWait { #expect(inChild.isInserted && !inChild.isDeleted && !seen.isDeleted) }
            try child.performAndWait { try child.save() }
            try context.save()
            #expect(try fetchAll(Employee.self, "Employee", context, sort: "name").count == 2)
        }
    }

    /// The IDs of another coordinator may be of another model of the store.
    @Test func idsOfAnotherModelAreFollowedByTheirNames() throws {
        let store = try TestStore(.log, GraphModel.company(employeesRule: .cascadeDeleteRule))
        let context = store.context()
        try context.performAndWait { () throws in
            let (department, employees) = try filled(context)
            let uri = department.objectID.uriRepresentation()
            let second = NSPersistentStoreCoordinator(
                managedObjectModel: GraphModel.company(employeesRule: .cascadeDeleteRule))
            try second.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: store.coordinator.persistentStores[0].url)
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = second
            let id = try #require(second.managedObjectID(forURIRepresentation: uri))
            try other.performAndWait { _ = try other.execute(NSBatchDeleteRequest(objectIDs: [id])) }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [context])
            #expect(department.isDeleted && employees.allSatisfy(\.isDeleted))
        }
    }
}
