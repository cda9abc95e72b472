import CoreData
import Foundation
import Testing

/// What objects and contexts say of changes, in the corners.
@Suite final class ChangeTrackingTests {
    private var stores: [TestStore] = []

    private func makeContext(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        stores.append(store)
        return (store, store.context())
    }

    private func savedProbe(_ context: NSManagedObjectContext) throws -> Probe {
        let probe = Probe(context: context)
        probe.name = "saved"
        try context.save()
        return probe
    }

    @Test(arguments: StoreKind.allCases) func settingTheSameValue(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = try savedProbe(context)
            #expect(!probe.hasChanges && probe.changedValues().isEmpty && !probe.hasPersistentChangedValues)
            probe.name = "saved"
            #expect(probe.isUpdated && probe.hasChanges && context.hasChanges && context.updatedObjects == [probe])
            #expect(!probe.hasPersistentChangedValues && probe.changedValues().isEmpty)
            probe.name = "other"
            #expect(probe.hasPersistentChangedValues && probe.changedValues()["name"] as? String == "other")
            probe.name = "saved"
            #expect(!probe.hasPersistentChangedValues && probe.isUpdated)
            try context.save()
            #expect(!probe.isUpdated && !context.hasChanges)
        }
    }

    @Test(arguments: StoreKind.allCases) func valuesOfTheCurrentEvent(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = try savedProbe(context)
            let child = Probe(context: context)
            try context.save()
            #expect(probe.changedValuesForCurrentEvent().isEmpty)
            probe.name = "new"
            probe.children = [child]
            let values = probe.changedValuesForCurrentEvent()
            #expect(values.keys.sorted() == ["children", "name"])
            #expect(values["name"] as? String == "saved" && (values["children"] as? Set<Probe>)?.isEmpty == true)
            #expect(child.changedValuesForCurrentEvent()["parent"] is NSNull)
            context.processPendingChanges()
            #expect(probe.changedValuesForCurrentEvent().isEmpty && probe.changedValues().count == 2)
            probe.count = 9
            #expect(probe.changedValuesForCurrentEvent() as? [String: Int] == ["count": 3])
            #expect(probe.changedValues().keys.sorted() == ["children", "count", "name"])
            let inserted = Probe(context: context)
            inserted.count = 5
            #expect(inserted.changedValuesForCurrentEvent()["count"] as? Int == 3)
        }
    }

    /// "Old values of properties that have changed since the last posting of the notification", not since the last
    /// save.
    @Test(arguments: StoreKind.allCases, [false, true])
    func eachEventHasOldValuesOfItsOwn(_ kind: StoreKind, withUndoManager: Bool) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = try savedProbe(context)
            let (a, b) = (Probe(context: context), Probe(context: context))
            try context.save()
            if withUndoManager { context.undoManager = UndoManager() }
            probe.name = "second"
            probe.children = [a]
            probe.items = [a, b]
            context.processPendingChanges()
            probe.name = "third"
            probe.children = [a, b]
            probe.items = [b, a]
            let values = probe.changedValuesForCurrentEvent()
            #expect(values["name"] as? String == "second" && values["children"] as? Set<Probe> == [a])
            #expect((values["items"] as? NSOrderedSet)?.array as? [Probe] == [a, b])
            context.processPendingChanges()
            probe.name = nil
            probe.count = 8
            probe.children = []
            probe.items = [b]
            let third = probe.changedValuesForCurrentEvent()
            #expect(third["name"] as? String == "third" && third["count"] as? Int == 3)
            #expect(third["children"] as? Set<Probe> == [a, b])
            #expect((third["items"] as? NSOrderedSet)?.array as? [Probe] == [b, a])
            #expect((a.changedValuesForCurrentEvent()["parent"] as? Probe) === probe)
            context.processPendingChanges()
            probe.name = "fourth"
            #expect(probe.changedValuesForCurrentEvent()["name"] is NSNull)
            try context.save()
            probe.name = "fifth"
            #expect(probe.changedValuesForCurrentEvent() as? [String: String] == ["name": "fourth"])
            context.rollback()
            #expect(probe.changedValuesForCurrentEvent().isEmpty)
            probe.count = 9
            #expect(probe.changedValuesForCurrentEvent() as? [String: Int] == ["count": 8])
        }
    }

    /// An object that was never saved has what the event before gave it.
    @Test(arguments: StoreKind.allCases) func insertedObjectsHaveValuesBeforeAnEvent(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        context.performAndWait {
            let (probe, a) = (Probe(context: context), Probe(context: context))
            probe.name = "first"
            probe.items = [a]
            context.processPendingChanges()
            probe.name = "second"
            probe.count = 4
            let b = Probe(context: context)
            probe.items = [b, a]
            let values = probe.changedValuesForCurrentEvent()
            #expect(values["name"] as? String == "first" && values["count"] as? Int == 3)
            #expect((values["items"] as? NSOrderedSet)?.array as? [Probe] == [a])
            context.delete(a)
            context.processPendingChanges()
            #expect(probe.items == [b])
        }
    }

    @Test func observersSeeWhatTheEventChanged() throws {
        let (_, context) = try makeContext(.memory)
        struct Box: @unchecked Sendable { let probe: Probe }
        try context.performAndWait {
            let box = Box(probe: try savedProbe(context))
            let seen = UndoManagerTests.Log()
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { _ in
                for (key, value) in box.probe.changedValuesForCurrentEvent() { seen.add("\(key) was \(value)") }
            }
            defer { NotificationCenter.default.removeObserver(token) }
            box.probe.name = "new"
            context.processPendingChanges()
            #expect(seen.take() == ["name was saved"])
            box.probe.count = 1
            context.processPendingChanges()
            #expect(seen.take() == ["count was 3"])
        }
    }

    @Test(arguments: StoreKind.allCases) func committedValues(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = try savedProbe(context)
            let (a, b) = (Probe(context: context), Probe(context: context))
            #expect(a.committedValues(forKeys: nil).isEmpty)
            probe.items = [b, a]
            try context.save()
            probe.name = nil
            probe.items = [a]
            probe.note = "transient"
            let all = probe.committedValues(forKeys: nil)
            #expect(all["name"] as? String == "saved" && all["count"] as? Int == 3 && all["parent"] is NSNull)
            #expect((all["items"] as? NSOrderedSet)?.array as? [Probe] == [b, a] && all["note"] == nil)
            #expect(probe.committedValues(forKeys: ["name", "nothing"]).keys.sorted() == ["name"])
            context.delete(probe)
            #expect(probe.committedValues(forKeys: ["name"])["name"] as? String == "saved")
        }
    }

    @Test(arguments: StoreKind.allCases) func transientChangesWriteNothing(_ kind: StoreKind) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = try savedProbe(context)
            let other = store.context()
            let same = try #require(other.object(with: probe.objectID) as? Probe)
            #expect(same.name == "saved")
            same.name = "newer"
            probe.note = "only here"
            #expect(probe.isUpdated && probe.hasChanges && context.hasChanges && !probe.hasPersistentChangedValues)
            #expect(probe.changedValues().isEmpty)
            try other.save()
            // Nothing is written, so there is no conflict either.
            try context.save()
            #expect(!probe.hasChanges && probe.note == "only here" && probe.takeCalls().last == "didSave")
            context.refresh(probe, mergeChanges: true)
            #expect(probe.note == "only here" && probe.name == "newer")
            probe.note = "again"
            context.refresh(probe, mergeChanges: true)
            #expect(probe.note == "again")
            context.refresh(probe, mergeChanges: false)
            #expect(probe.note == nil && !probe.hasChanges)
        }
    }

    @Test func insertedThenDeletedThenInsertedAgain() throws {
        let (store, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            context.delete(probe)
            #expect(probe.isDeleted && !probe.isInserted && !context.hasChanges)
            context.insert(probe)
            #expect(!probe.isDeleted && probe.isInserted && context.insertedObjects == [probe])
            try context.save()
            context.delete(probe)
            #expect(context.deletedObjects == [probe] && context.hasChanges)
            context.insert(probe)
            #expect(!probe.isDeleted && context.deletedObjects.isEmpty)
            try context.save()
            #expect(try fetchAll(Probe.self, "Probe", store.context()).count == 1)
        }
    }

    @Test func deletingKeepsWhatWasChanged() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = try savedProbe(context)
            probe.name = "changed"
            context.delete(probe)
            #expect(probe.isDeleted && !probe.isUpdated && !probe.isInserted && probe.hasChanges)
            #expect(context.updatedObjects.isEmpty && probe.name == "changed")
            context.refresh(probe, mergeChanges: false)
            #expect(!probe.isDeleted && !context.hasChanges && probe.name == "saved")
        }
    }

    @Test func faultsChangeNothingByBeingLookedAt() throws {
        let (store, context) = try makeContext(.memory)
        try context.performAndWait { _ = try savedProbe(context) }
        let other = store.context()
        try other.performAndWait {
            let probe = try #require(try fetchAll(Probe.self, "Probe", other).first)
            #expect(probe.isFault && probe.faultingState != 0)
            #expect(!probe.isInserted && !probe.isUpdated && !probe.isDeleted && !probe.hasChanges)
            #expect(probe.objectID == probe.objectID && probe.managedObjectContext === other)
            #expect(probe.changedValues().isEmpty && !probe.hasPersistentChangedValues && probe.isFault)
            _ = probe.name
            #expect(!probe.isFault && probe.faultingState == 0 && !other.hasChanges)
            #expect(other.registeredObjects == [probe])
        }
    }

    @Test func refreshingAnUnsavedObjectWithAPermanentIDTakesItsValues() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "new"
            try context.obtainPermanentIDs(for: [probe])
            context.refreshAllObjects()
            #expect(probe.name == "new" && probe.isInserted)
            context.refresh(probe, mergeChanges: false)
            #expect(probe.isFault && probe.isInserted)
            #expect(probe.name == nil && !probe.isFault && probe.isInserted)
        }
    }

    @Test func unmodeledPropertiesAreNoChange() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = try savedProbe(context)
            probe.willChangeValue(forKey: "unmodeled")
            probe.unmodeled = 5
            probe.didChangeValue(forKey: "unmodeled")
            #expect(!probe.hasChanges && Probe.contextShouldIgnoreUnmodeledPropertyChanges)
            context.refresh(probe, mergeChanges: false)
            #expect(probe.unmodeled == 5)
        }
    }

    @Test func defaultsAndPrimitives() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            #expect(probe.count == 3 && probe.primitiveValue(forKey: "count") as? Int == 3 && probe.name == nil)
            #expect(probe.changedValues().isEmpty)
            probe.setPrimitiveValue(4, forKey: "count")
            probe.setPrimitiveValue("n", forKey: "note")
            #expect(probe.count == 4 && probe.note == "n")
            try context.save()
            #expect(probe.primitiveValue(forKey: "note") as? String == "n")
        }
    }

    @Test func rollbackLeavesNothing() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = try savedProbe(context)
            let inserted = Probe(context: context)
            inserted.parent = probe
            context.delete(probe)
            context.processPendingChanges()
            context.rollback()
            #expect(!context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
            #expect(!inserted.isInserted && !inserted.isDeleted && inserted.managedObjectContext == nil)
            #expect(probe.children.isEmpty && !probe.isDeleted)
        }
    }
}
