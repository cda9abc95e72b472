import CoreData
import Foundation
import Testing

/// Statements of Core Data's reference on objects and contexts: a second reading, where the first left no test.
@Suite struct ObjectStatementTests {
    private func saved(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, Probe) {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let probe = try context.performAndWait { () throws in
            let probe = Probe(context: context)
            probe.name = "saved"
            probe.peers = [Probe(context: context)]
            try context.save()
            _ = probe.takeCalls()
            return probe
        }
        return (store, context, probe)
    }

    @Test func aClassGivesANewRequestEachTime() throws {
        let store = try TestStore(.memory)
        let (one, other) = (Employee.fetchRequest(), Employee.fetchRequest())
        one.fetchLimit = 1
        #expect(one !== other && other.fetchLimit == 0 && one.entityName == "Employee")
        withExtendedLifetime(store) {}
    }

    /// What a fault says of itself does not fire it.
    @Test(arguments: StoreKind.allCases) func aFaultIsDescribedWithoutItsValues(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        context.performAndWait {
            context.refresh(probe, mergeChanges: false)
            _ = ("\(probe)", probe.debugDescription, probe.hash, probe.hasChanges, probe.changedValues())
            _ = (probe.entity, probe.objectID, probe.isDeleted, probe.hasPersistentChangedValues, probe.faultingState)
            #expect(probe.isFault && probe.hasFault(forRelationshipNamed: "peers") && probe.takeCalls().count == 2)
            #expect("\(probe)".contains("fault"))
            probe.willAccessValue(forKey: nil)
            #expect(!probe.isFault)
            probe.didAccessValue(forKey: nil)
        }
        withExtendedLifetime(store) {}
    }

    /// Notices that enclose a change of a primitive value make it one, those of a set's members, too.
    @Test(arguments: StoreKind.allCases) func noticesMakeChanges(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            probe.willChangeValue(forKey: "name")
            probe.setPrimitiveValue("noticed", forKey: "name")
            probe.didChangeValue(forKey: "name")
            #expect(context.hasChanges && probe.changedValues()["name"] as? String == "noticed")
            try context.save()
            let peer = try #require(probe.peers.first)
            probe.willChangeValue(forKey: "peers", withSetMutation: .minus, using: [peer])
            probe.setPrimitiveValue(NSSet(), forKey: "peers")
            probe.didChangeValue(forKey: "peers", withSetMutation: .minus, using: [peer])
            #expect(probe.hasChanges && probe.peers.isEmpty && peer.peers.isEmpty)
            try context.save()
            #expect(try count("peers.@count > 0", store) == 0)
        }
    }

    private func count(_ format: String, _ store: TestStore) throws -> Int {
        let context = store.context()
        return try context.performAndWait { () throws in
            try fetchAll(Probe.self, "Probe", context, NSPredicate(format: format)).count
        }
    }

    /// Each object is in one of the three sets, and is deleted once.
    @Test(arguments: StoreKind.allCases) func theSetsShareNoObject(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            let new = Probe(context: context)
            new.name = "new"
            probe.name = "changed"
            #expect(context.insertedObjects == [new] && context.updatedObjects == [probe])
            context.processPendingChanges()
            new.name = "newer"
            context.delete(probe)
            context.delete(probe)
            #expect(context.insertedObjects == [new] && context.deletedObjects == [probe])
            #expect(!context.updatedObjects.contains(probe) && probe.isDeleted && !probe.isUpdated)
            context.processPendingChanges()
            context.delete(probe)
            #expect(probe.takeCalls() == ["prepareForDeletion"] && context.deletedObjects == [probe])
            try context.save()
            #expect(try count("TRUEPREDICATE", store) == 2)
        }
    }

    /// A save that fails changes nothing: neither store nor context.
    @Test(arguments: StoreKind.allCases, [false, true])
    func aFailedSaveKeepsEveryChange(_ kind: StoreKind, inChild: Bool) throws {
        let (store, parent, saved) = try saved(kind)
        let context = inChild ? NSManagedObjectContext(.privateQueue) : parent
        if inChild { context.parent = parent }
        try context.performAndWait { () throws in
            let probe = try #require(context.object(with: saved.objectID) as? Probe)
            let doomed = try #require(probe.peers.first)
            let new = Probe(context: context)
            probe.name = "changed"
            context.delete(doomed)
            new.handlers["validateForInsert"] = { _ in throw CocoaError(.validationMissingMandatoryProperty) }
            #expect(throws: (any Error).self) { try context.save() }
            #expect(context.insertedObjects == [new] && context.deletedObjects == [doomed])
            #expect(context.updatedObjects == [probe] && probe.name == "changed" && doomed.isDeleted)
            #expect(probe.committedValues(forKeys: ["name"])["name"] as? String == "saved")
            #expect(try count("name == 'changed'", store) == 0 && count("TRUEPREDICATE", store) == 2)
            new.handlers = [:]
            try context.save()
            #expect(!context.hasChanges)
        }
        if inChild { try parent.performAndWait { try parent.save() } }
        #expect(try count("name == 'changed'", store) == 1 && count("TRUEPREDICATE", store) == 2)
    }

    /// What `willSave` inserts and deletes belongs to the same save.
    @Test(arguments: StoreKind.allCases) func willSaveMayInsertAndDelete(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            let doomed = try #require(probe.peers.first)
            nonisolated(unsafe) var made: Probe?
            probe.handlers["willSave"] = { probe in
                guard made == nil, let context = probe.managedObjectContext else { return }
                made = Probe(context: context)
                context.delete(doomed)
            }
            probe.name = "changed"
            try context.save()
            let new = try #require(made)
            #expect(!context.hasChanges && !new.objectID.isTemporaryID && new.takeCalls().contains("willSave"))
            #expect(doomed.managedObjectContext == nil && doomed.takeCalls().contains("willSave"))
            #expect(try count("TRUEPREDICATE", store) == 2)
        }
    }

    /// A save without changes writes nothing, not even a transaction.
    @Test(arguments: StoreKind.allCases) func aSaveOfNothingIsNoTransaction(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            let before = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
            try context.save()
            probe.name = "changed"
            probe.name = "saved"
            try context.save()
            #expect(store.coordinator.currentPersistentHistoryToken(fromStores: []) == before && before != nil)
            #expect(!context.hasChanges && !probe.hasChanges)
        }
    }

    /// A rollback forgets the undo stack with the changes.
    @Test(arguments: StoreKind.allCases, [false, true])
    func rollbackRestoresObjectsAndRelationships(_ kind: StoreKind, inChild: Bool) throws {
        let (store, parent, saved) = try saved(kind)
        let context = inChild ? NSManagedObjectContext(.privateQueue) : parent
        if inChild { context.parent = parent }
        try context.performAndWait { () throws in
            let probe = try #require(context.object(with: saved.objectID) as? Probe)
            let peer = try #require(probe.peers.first)
            context.undoManager = UndoManager()
            let new = Probe(context: context)
            new.parent = probe
            probe.name = "changed"
            probe.peers = []
            context.delete(peer)
            context.processPendingChanges()
            context.rollback()
            #expect(!context.hasChanges && context.undoManager?.canUndo == false)
            #expect(probe.name == "saved" && probe.peers == [peer] && probe.children.isEmpty)
            #expect(!peer.isDeleted && new.managedObjectContext == nil && !new.isInserted)
        }
        withExtendedLifetime(store) {}
    }

    /// "If flag is NO, transient properties are disposed of"; with YES, what was changed here is applied again.
    @Test(arguments: StoreKind.allCases) func refreshingDisposesOrReapplies(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        let other = store.context()
        try context.performAndWait { () throws in
            probe.note = "transient"
            probe.name = "mine"
            try other.performAndWait { () throws in
                let theirs = try #require(other.existingObject(with: probe.objectID) as? Probe)
                theirs.name = "theirs"
                theirs.count = 8
                try other.save()
            }
            context.refresh(probe, mergeChanges: true)
            #expect(probe.name == "mine" && probe.count == 8 && probe.note == "transient")
            #expect(Set(probe.changedValues().keys) == ["name"] && probe.isUpdated)
            #expect(probe.committedValues(forKeys: ["name"])["name"] as? String == "theirs")
            context.refresh(probe, mergeChanges: false)
            #expect(probe.isFault && !probe.hasChanges && !context.hasChanges)
            #expect(probe.note == nil && probe.name == "theirs" && probe.changedValues().isEmpty)
        }
    }

    /// Unsaved objects have IDs that can be asked for, too; permanent ones are obtained once.
    @Test(arguments: StoreKind.allCases) func unsavedObjectsAreFoundByTheirIDs(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            let new = Probe(context: context)
            new.parent = probe
            #expect(probe.objectIDs(forRelationshipNamed: "children") == [new.objectID])
            #expect(context.registeredObject(for: new.objectID) === new && context.object(with: new.objectID) === new)
            try context.obtainPermanentIDs(for: [new, probe])
            let id = new.objectID
            try context.obtainPermanentIDs(for: [new])
            #expect(!id.isTemporaryID && new.objectID == id && new.isInserted)
            #expect(probe.objectIDs(forRelationshipNamed: "children") == [id])
            context.delete(probe)
            #expect(context.registeredObject(for: probe.objectID) === probe)
            #expect(context.registeredObjects.contains(probe))
            try context.save()
            #expect(context.registeredObject(for: probe.objectID) == nil)
        }
        withExtendedLifetime(store) {}
    }

    /// The notification of a context's own save changes nothing in it.
    @Test(arguments: StoreKind.allCases) func itsOwnSaveIsNothingToMerge(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            nonisolated(unsafe) var saved: Notification?
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: context, queue: nil
            ) { saved = $0 }
            defer { NotificationCenter.default.removeObserver(token) }
            probe.name = "changed"
            try context.save()
            probe.count = 77
            context.mergeChanges(fromContextDidSave: try #require(saved))
            #expect(probe.name == "changed" && probe.count == 77 && Set(probe.changedValues().keys) == ["count"])
            try context.save()
            #expect(try count("count == 77", store) == 1)
        }
    }

    /// Results are followed from the first fetch on.
    @Test(arguments: StoreKind.allCases) func aControllerThatHasNotFetchedTellsNothing(_ kind: StoreKind) throws {
        let (store, context, probe) = try saved(kind)
        try context.performAndWait { () throws in
            let request = NSFetchRequest<Probe>(entityName: "Probe")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            probe.name = "changed"
            context.processPendingChanges()
            #expect(recorder.takeCalls() == [] && results.fetchedObjects == nil && results.sections == nil)
            #expect(results.indexPath(forObject: probe) == nil && results.sectionIndexTitles == [])
        }
        withExtendedLifetime(store) {}
    }
}
