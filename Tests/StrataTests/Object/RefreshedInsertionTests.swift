import CoreData
import Foundation
import Testing

/// Inserted objects that are made faults, and what a reset says of them.
@Suite struct RefreshedInsertionTests {
    @Test(arguments: StoreKind.allCases) func theyAreRealizedWithTheirDefaults(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let (probe, parent) = (Probe(context: context), Probe(context: context))
            (probe.name, probe.count, probe.parent) = ("given up", 9, parent)
            context.refresh(probe, mergeChanges: true)
            #expect(!probe.isFault && probe.name == "given up")
            _ = probe.takeCalls()
            context.refresh(probe, mergeChanges: false)
            #expect(
                probe.isFault && probe.isInserted && probe.takeCalls() == ["willTurnIntoFault", "didTurnIntoFault"])
            #expect(parent.children.isEmpty)
            #expect(probe.name == nil && probe.count == 3 && probe.parent == nil && !probe.isFault)
            probe.name = "again"
            try context.save()
            context.refresh(probe, mergeChanges: false)
            #expect(probe.name == "again" && probe.count == 3)
        }
    }

    @Test(arguments: StoreKind.allCases) func faultsAreSavedWithTheirDefaults(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        for inserting in [context, child] {
            try inserting.performAndWait {
                let probe = Probe(context: inserting)
                (probe.name, probe.count) = ("given up", 9)
                inserting.refresh(probe, mergeChanges: false)
                try inserting.save()
                #expect(probe.count == 3 && probe.name == nil)
            }
        }
        try context.performAndWait { try context.save() }
        let stored = try fetchAll(Probe.self, "Probe", store.context())
        #expect(stored.count == 2 && stored.allSatisfy { $0.count == 3 && $0.name == nil })
    }

    @Test(arguments: StoreKind.allCases) func aResetInvalidatesInsertedObjectsToo(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let saved = Probe(context: context)
            try context.save()
            let inserted = Probe(context: context)
            let ids = [saved.objectID, inserted.objectID]
            nonisolated(unsafe) var seen: [NSManagedObjectID] = []
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { note in
                seen = note.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? []
            }
            context.reset()
            NotificationCenter.default.removeObserver(observer)
            #expect(Set(seen) == Set(ids))
        }
    }
}
