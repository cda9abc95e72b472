import CoreData
import Foundation
import Testing

/// A child's save gives transient values to the parent, too.
@Suite struct TransientValuesTests {
    private func family(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        let (parent, child) = (store.context(), NSManagedObjectContext(.privateQueue))
        child.parent = parent
        return (store, parent, child)
    }

    private func transactions(_ store: TestStore) throws -> Int {
        let context = store.context()
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.count ?? 0
        }
    }

    @Test(arguments: StoreKind.allCases) func insertedObjectsBringThem(_ kind: StoreKind) throws {
        let (store, parent, child) = try family(kind)
        let id = try child.performAndWait {
            let probe = Probe(context: child)
            (probe.name, probe.note) = ("new", "transient")
            try child.save()
            #expect(probe.note == "transient")
            return probe.objectID
        }
        try parent.performAndWait {
            let probe = try #require(parent.object(with: id) as? Probe)
            #expect(probe.name == "new" && probe.note == "transient")
            try parent.save()
            #expect(probe.note == "transient")
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func changesOfNothingElseReachTheParent(_ kind: StoreKind) throws {
        let (store, parent, child) = try family(kind)
        let probe = try parent.performAndWait {
            let probe = Probe(context: parent)
            try parent.save()
            return probe
        }
        let count = try transactions(store)
        try child.performAndWait {
            let copy = try #require(child.object(with: probe.objectID) as? Probe)
            copy.note = "transient"
            #expect(child.hasChanges)
            try child.save()
            #expect(!child.hasChanges && copy.note == "transient")
            copy.note = nil
            try child.save()
            copy.note = "again"
            try child.save()
        }
        try parent.performAndWait {
            #expect(parent.hasChanges && parent.updatedObjects == [probe] && probe.note == "again")
            #expect(probe.changedValues().isEmpty)
            try parent.save()
            #expect(!parent.hasChanges && probe.note == "again")
        }
        // The store has no place for it.
        #expect(try transactions(store) == count)
    }

    @Test(arguments: StoreKind.allCases) func theyGoUpTheWholeLine(_ kind: StoreKind) throws {
        let (store, parent, child) = try family(kind)
        let grandchild = NSManagedObjectContext(.privateQueue)
        grandchild.parent = child
        let probe = try parent.performAndWait {
            let probe = Probe(context: parent)
            try parent.save()
            return probe
        }
        try grandchild.performAndWait {
            let copy = try #require(grandchild.object(with: probe.objectID) as? Probe)
            (copy.count, copy.note) = (7, "from below")
            try grandchild.save()
        }
        try child.performAndWait {
            #expect(child.hasChanges)
            try child.save()
        }
        parent.performAndWait { #expect(probe.note == "from below" && probe.count == 7) }
        withExtendedLifetime(store) {}
    }
}
