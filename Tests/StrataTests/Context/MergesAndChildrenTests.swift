import CoreData
import Foundation
import Testing

/// Parts of the object graph that meet: merges with undo, constraints with parents, several stores with parents.
@Suite struct MergesAndChildrenTests {
    // MARK: Merges

    /// What another context deletes while this one refers to it anew.
    @Test(arguments: StoreKind.allCases) func newReferencesToWhatAMergeDeletes(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let department = Department(context: context)
            let employee = Employee(context: context)
            try context.save()
            employee.department = department
            context.processPendingChanges()
            let merge = try deleting(department, in: other)
            context.mergeChanges(fromContextDidSave: merge)
            #expect(employee.department == nil)
            try context.save()
            let fresh = store.context()
            try fresh.performAndWait {
                let stored = try fetchAll(Employee.self, "Employee", fresh)
                #expect(stored.count == 1 && stored.first?.department == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func undoingAReferenceToWhatAMergeDeleted(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let department = Department(context: context)
            let employee = Employee(context: context)
            let badge = insert("Badge", context).set(["number": 3])
            employee.department = department
            employee.badge = badge
            try context.save()
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            employee.department = nil
            employee.badge = nil
            employee.name = "x"
            context.processPendingChanges()
            context.mergeChanges(fromContextDidSave: try deleting(department, in: other))
            context.mergeChanges(fromContextDidSave: try deleting(badge, in: other))
            context.undo()
            #expect(employee.department == nil && employee.badge == nil && employee.name == "")
            employee.name = "y"
            try context.save()
            let fresh = store.context()
            try fresh.performAndWait {
                let stored = try #require(try fetchAll(Employee.self, "Employee", fresh).first)
                #expect(stored.department == nil && stored.badge == nil && stored.name == "y")
            }
        }
    }

    private func deleting(_ object: NSManagedObject, in other: NSManagedObjectContext) throws -> Notification {
        let recorder = SaveRecorder(.NSManagedObjectContextDidSave, other)
        let id = object.objectID
        try other.performAndWait {
            other.delete(other.object(with: id))
            try other.save()
        }
        return Notification(name: .NSManagedObjectContextDidSave, object: other, userInfo: recorder.infos.last)
    }

    @Test(arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .rollbackMergePolicyType])
    func mergePoliciesTellObservers(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory)
        let (context, other) = (store.context(), store.context())
        context.mergePolicy = NSMergePolicy(merge: type)
        try context.performAndWait {
            let employee = Employee(context: context)
            employee.name = "a"
            try context.save()
            let id = employee.objectID
            try other.performAndWait {
                (other.object(with: id) as? Employee)?.name = "b"
                try other.save()
            }
            employee.age = 40
            context.processPendingChanges()
            let sent = Counter()
            let subscription = employee.objectWillChange.sink { _ in sent.count += 1 }
            try context.save()
            #expect(employee.name == "b" && sent.count > 0)
            subscription.cancel()
        }
    }

    private final class Counter: @unchecked Sendable {
        // Unchecked: used on one queue.
        var count = 0
    }

    // MARK: Constraints

    /// An inserted object that becomes a stored one keeps the name that children know it by.
    @Test(arguments: StoreKind.allCases) func aChildsObjectThatBecomesAStoredOne(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let elsewhere = store.context()
        try elsewhere.performAndWait {
            _ = item(elsewhere, ["code": "a", "name": "old"])
            try elsewhere.save()
        }
        let root = store.context()
        root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let child = ContextLine.child(of: root)
        try child.performAndWait {
            let object = item(child, ["code": "a", "name": "new"])
            try child.save()
            try root.performAndWait { try root.save() }
            #expect(!object.objectID.isTemporaryID)
            object.setValue("newer", forKey: "name")
            try child.save()
            try root.performAndWait { try root.save() }
        }
        #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["newer"])
    }

    /// An inserted object whose permanent ID has been asked for already.
    @Test(arguments: StoreKind.allCases) func anObjectWithAPermanentIDThatBecomesAStoredOne(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let elsewhere = store.context()
        try elsewhere.performAndWait {
            _ = item(elsewhere, ["code": "a", "name": "old"])
            try elsewhere.save()
        }
        let context = store.context()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            var before: NSManagedObjectID?
            do {
                let object = item(context, ["code": "a", "name": "new"])
                try context.obtainPermanentIDs(for: [object])
                before = object.objectID
                try context.save()
                #expect(object.objectID != before)
                #expect(try fetchAll(NSManagedObject.self, "Item", context) == [object])
                let id = try #require(before)
                #expect(context.registeredObject(for: id) == nil)
            }
        }
        #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["new"])
    }

    /// What a merge policy deletes is announced under its ID.
    @Test(arguments: StoreKind.allCases) func whatAPolicyDeletesIsAnnounced(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let (context, other) = (store.context(), store.context())
        other.automaticallyMergesChangesFromParent = true
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let (first, id) = try other.performAndWait {
            let first = item(other, ["code": "a"])
            _ = item(other, ["code": "b"])
            try other.save()
            return (first, first.objectID)
        }
        try context.performAndWait {
            let second = try fetchAll(NSManagedObject.self, "Item", context, NSPredicate(format: "code == 'b'"))[0]
            second.setValue("a", forKey: "code")
            let recorder = SaveRecorder(.NSManagedObjectContextDidSaveObjectIDs, context)
            try context.save()
            #expect(recorder.infos.last?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [id])
        }
        other.performAndWait { #expect(first.isDeleted && other.deletedObjects == [first]) }
    }

    // MARK: Undo in a line of contexts

    @Test(arguments: StoreKind.allCases, [true, false])
    func undoingADeletionThatTheParentHas(_ kind: StoreKind, _ isParentSaved: Bool) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        try child.performAndWait {
            let department = Department(context: child)
            let employee = Employee(context: child)
            employee.name = "x"
            employee.department = department
            try child.save()
            if isParentSaved { try root.performAndWait { try root.save() } }
            let manager = UndoManager()
            manager.groupsByEvent = false
            child.undoManager = manager
            child.delete(employee)
            child.processPendingChanges()
            try child.save()
            child.undo()
            #expect(employee.isInserted && employee.department === department)
            try child.save()
        }
        try line.saveAll()
        let fresh = line.store.context()
        try fresh.performAndWait {
            let employees = try fetchAll(Employee.self, "Employee", fresh)
            #expect(employees.map(\.name) == ["x"] && employees.first?.department != nil)
        }
    }

    // MARK: Several stores

    /// References of an object that is not saved yet stay in the store that it was assigned to.
    @Test func aChildsObjectOfASecondStore() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        let root = NSManagedObjectContext(.privateQueue)
        root.persistentStoreCoordinator = coordinator
        let ids = try root.performAndWait {
            let departments = stores.map { store in
                let department = Department(context: root)
                root.assign(department, to: store)
                department.title = store === stores[0] ? "first" : "second"
                return department
            }
            try root.save()
            return departments.map(\.objectID)
        }
        root.reset()
        let child = ContextLine.child(of: root)
        let grandchild = ContextLine.child(of: child)
        let id = try child.performAndWait {
            let employee = Employee(context: child)
            child.assign(employee, to: stores[1])
            employee.department = child.object(with: ids[1]) as? Department
            try child.save()
            try grandchild.performAndWait {
                let same = try #require(grandchild.existingObject(with: employee.objectID) as? Employee)
                #expect(same.department?.title == "second")
            }
            return employee.objectID
        }
        try root.performAndWait {
            let employee = try #require(root.registeredObject(for: id) as? Employee)
            #expect(employee.department?.title == "second")
            try root.save()
            #expect(employee.objectID.persistentStore === stores[1])
        }
    }

    // MARK: Fetched properties

    @Test func fetchedPropertiesOfObjectsThatCameBack() throws {
        let model = Probe.model()
        let fetched = NSFetchedPropertyDescription()
        fetched.name = "namesakes"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Probe")
        request.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name")
        fetched.fetchRequest = request
        model.entities[0].properties += [fetched]
        let store = try TestStore(.memory, model)
        let context = store.context()
        let manager = UndoManager()
        manager.groupsByEvent = false
        try context.performAndWait {
            let probe = Probe(context: context)
            let child = Probe(context: context)
            probe.name = "a"
            child.parent = probe
            child.name = "b"
            try context.save()
            #expect((probe.value(forKey: "namesakes") as? [NSManagedObject])?.count == 1)
            context.undoManager = manager
            context.delete(probe)
            try context.save()
            context.undo()
            try context.save()
            #expect((probe.value(forKey: "namesakes") as? [NSManagedObject])?.count == 1)
            #expect(probe.children == [child])
        }
    }

    // MARK: Partial failure

    /// What got into the first store is done and announced, although the second one refuses.
    @Test func whatIsWrittenBeforeAFailureIsDone() throws {
        let model = ConflictModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        func make() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let (context, other) = (make(), make())
        other.automaticallyMergesChangesFromParent = true
        try context.performAndWait {
            let first = item(context, ["code": "first"])
            let doomed = item(context, ["code": "doomed"])
            context.assign(first, to: stores[0])
            context.assign(doomed, to: stores[0])
            let taken = item(context, ["code": "taken"])
            context.assign(taken, to: stores[1])
            try context.save()
            let known = other.performAndWait { other.object(with: doomed.objectID) }
            first.setValue("changed", forKey: "name")
            context.delete(doomed)
            let new = item(context, ["code": "new"])
            context.assign(new, to: stores[0])
            let double = item(context, ["code": "taken"])
            context.assign(double, to: stores[1])
            let error = saveError(context)
            #expect(error?.code == .persistentStoreIncompleteSave)
            #expect(!first.hasChanges && !new.hasChanges && doomed.managedObjectContext == nil && double.isInserted)
            #expect(context.deletedObjects.isEmpty && context.registeredObject(for: doomed.objectID) == nil)
            other.performAndWait { #expect(known.isDeleted) }
            double.setValue("free", forKey: "code")
            try context.save()
        }
    }

    /// An inserted object that became one which both contexts know.
    @Test func aChildsObjectThatIsAbsorbed() throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let root = store.context()
        root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let child = ContextLine.child(of: root)
        let known = try root.performAndWait {
            let known = item(root, ["code": "a", "name": "old"])
            try root.save()
            return known
        }
        try child.performAndWait {
            let object = item(child, ["code": "a", "name": "new"])
            try child.save()
            try root.performAndWait { try root.save() }
            #expect(object.objectID == known.objectID)
            object.setValue("newer", forKey: "name")
            try child.save()
            try root.performAndWait { try root.save() }
        }
        #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["newer"])
    }

    @Test func aChildDetectsConflicts() throws {
        let line = try ContextLine(.memory)
        let (root, child) = (line.root, line.child)
        let id = try root.performAndWait {
            let employee = Employee(context: root)
            try root.save()
            return employee.objectID
        }
        root.performAndWait { root.reset() }
        let other = line.store.context()
        try child.performAndWait {
            let employee = try #require(child.object(with: id) as? Employee)
            child.detectConflicts(for: employee)
            try other.performAndWait {
                (other.object(with: id) as? Employee)?.age = 70
                try other.save()
            }
            try child.save()
            let error = root.performAndWait { saveError(root) }
            #expect(error?.code.rawValue == NSManagedObjectMergeError)
        }
    }
}
