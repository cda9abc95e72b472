import CoreData
import Foundation
import Testing

/// `rollback()` takes objects back to what was last read or saved, without asking the store.
@Suite struct RollbackTests {
    private func pair(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        return (store, store.context(), store.context())
    }

    /// Saves a probe in the second context, and gives the first one's object of it.
    private func probe(_ here: NSManagedObjectContext, _ there: NSManagedObjectContext) throws -> (Probe, Probe) {
        let theirs = try there.performAndWait {
            let probe = Probe(context: there)
            (probe.name, probe.count) = ("old", 1)
            try there.save()
            return probe
        }
        let ours = try #require(here.performAndWait { here.object(with: theirs.objectID) as? Probe })
        return (ours, theirs)
    }

    @Test(arguments: StoreKind.allCases) func whatOthersSavedDoesNotAppear(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        let (ours, theirs) = try probe(here, there)
        here.performAndWait { #expect(ours.name == "old" && ours.count == 1) }
        try there.performAndWait {
            theirs.name = "theirs"
            theirs.count = 9
            try there.save()
        }
        here.performAndWait {
            ours.name = "ours"
            here.rollback()
            #expect(!ours.isFault && !here.hasChanges && ours.changedValues().isEmpty)
            #expect(ours.name == "old" && ours.count == 1)
            here.refresh(ours, mergeChanges: false)
            #expect(ours.name == "theirs" && ours.count == 9)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func whatWasSavedHereIsTheLastCommittedValue(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.performAndWait {
            let probe = Probe(context: here)
            (probe.name, probe.count) = ("first", 1)
            try here.save()
            probe.name = "second"
            try here.save()
            (probe.name, probe.count) = ("third", 3)
            here.rollback()
            #expect(!probe.isFault && probe.name == "second" && probe.count == 1)
            probe.count = 4
            try here.save()
            #expect(probe.name == "second" && probe.count == 4)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func bothEndsOfRelationshipsGoBack(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        let (parent, other, child, peer) = try here.performAndWait {
            let probes = (0..<4).map { _ in Probe(context: here) }
            probes[2].parent = probes[0]
            probes[0].peers = [probes[3]]
            probes[0].items = [probes[1], probes[2], probes[3]]
            try here.save()
            return (probes[0], probes[1], probes[2], probes[3])
        }
        try here.performAndWait {
            #expect(parent.children == [child] && other.children.isEmpty && parent.items.count == 3)
            // Another context adds a child, which this one has not been told of.
            try there.performAndWait {
                let added = Probe(context: there)
                added.parent = there.object(with: parent.objectID) as? Probe
                try there.save()
            }
            child.parent = other
            parent.peers = []
            parent.items = [peer, child]
            here.delete(peer)
            here.processPendingChanges()
            here.rollback()
            #expect(child.parent === parent && parent.children == [child] && other.children.isEmpty)
            #expect(parent.peers == [peer] && peer.peers == [parent] && !peer.isDeleted)
            #expect(parent.items == [other, child, peer])
            #expect(![parent, other, child, peer].contains { $0.isFault || $0.hasChanges })
            here.refreshAllObjects()
            #expect(parent.children.count == 2)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func faultsStayFaults(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        let (ours, _) = try probe(here, there)
        here.performAndWait {
            let new = Probe(context: here)
            new.parent = ours
            here.refresh(ours, mergeChanges: true)
            here.rollback()
            #expect(ours.children.isEmpty && !ours.hasChanges && ours.name == "old")
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func aChildGoesBackToWhatItReadOfItsParent(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        let (ours, _) = try probe(here, there)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = here
        try child.performAndWait {
            let probe = try #require(child.object(with: ours.objectID) as? Probe)
            #expect(probe.name == "old")
            here.performAndWait { ours.name = "in the parent" }
            probe.name = "in the child"
            child.rollback()
            #expect(!probe.isFault && probe.name == "old")
            child.refresh(probe, mergeChanges: false)
            #expect(probe.name == "in the parent")
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func defaultsOfTransientValuesStay(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.performAndWait {
            let probe = Probe(context: here)
            probe.note = "kept"
            try here.save()
            probe.name = "changed"
            here.rollback()
            #expect(probe.note == "kept" && probe.name == nil)
            probe.note = "given up"
            #expect(here.hasChanges)
            here.rollback()
            #expect(probe.note == nil && !here.hasChanges)
        }
        withExtendedLifetime(store) {}
    }

    /// An insertion that had been told of, and whose deletion had not, was not told of when it went: a results
    /// controller kept the object.
    @Test(arguments: StoreKind.allCases) func anInsertionThatIsDeletedAndGivenUpIsToldOf(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let employee = insert("Employee", context)
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let recorder = ResultsRecorder()
            results.delegate = recorder
            try results.performFetch()
            #expect(results.fetchedObjects == [employee])
            context.delete(employee)
            context.rollback()
            #expect(results.fetchedObjects == [])
        }
    }
}
