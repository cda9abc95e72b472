import CoreData
import Foundation
import Testing

/// `refreshAllObjects()` is `refresh(_:mergeChanges: true)` for each object, as Core Data's header says.
///
/// It dropped the transient values of objects without changes, which nothing can bring back.
@Suite struct RefreshAllTests {
    @Test(arguments: StoreKind.allCases) func transientValuesStay(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let (kept, plain, changed) = (Probe(context: context), Probe(context: context), Probe(context: context))
            (kept.name, plain.name, changed.name) = ("kept", "plain", "changed")
            kept.parent = plain
            try context.save()
            kept.note = "transient"
            changed.note = "too"
            try context.save()
            #expect(!kept.hasChanges)
            changed.count = 9
            let ids = [kept.objectID, plain.objectID, changed.objectID]
            try other.performAndWait {
                for id in ids { (other.object(with: id) as? Probe)?.name = "new" }
                try other.save()
            }
            context.refreshAllObjects()
            // What no row has stays; what a row has is the newest.
            #expect(kept.note == "transient" && kept.name == "new" && !kept.hasChanges)
            #expect(changed.note == "too" && changed.name == "new" && changed.count == 9 && changed.hasChanges)
            #expect(kept.parent === plain)
            // What has nothing of its own becomes a fault: that breaks circles of references.
            let read = try #require(context.object(with: plain.objectID) as? Probe)
            #expect(read === plain && plain.name == "new")
            context.refreshAllObjects()
            #expect(plain.isFault && kept.note == "transient")
            context.refresh(kept, mergeChanges: true)
            #expect(kept.note == "transient")
            context.refresh(kept, mergeChanges: false)
            #expect(kept.note == nil && kept.name == "new")
        }
    }

    @Test(arguments: StoreKind.allCases) func aChildKeepsThemToo(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let parent = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait {
            let probe = Probe(context: child)
            probe.name = "a"
            try child.save()
            probe.note = "transient"
            try child.save()
            child.refreshAllObjects()
            #expect(probe.note == "transient" && probe.name == "a")
        }
        withExtendedLifetime(store) {}
    }

    /// A fault is an object whose values are read when they are asked for. After `reset()` nothing will be read for an
    /// object that somebody still holds: Core Data's documentation calls it invalid, and it belongs to no context. It
    /// is no fault then, neither one that was nor one that had been read, and says the same before and after a value
    /// was asked for.
    @Test(arguments: StoreKind.allCases) func objectsOfAContextThatWasResetAreNoFaults(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let (context, other) = (store.context(), store.context())
        try context.performAndWait {
            let (saved, unsaved) = (Probe(context: context), Probe(context: context))
            saved.name = "saved"
            context.delete(unsaved)
            try context.save()
            let inserted = Probe(context: context)
            let unread = try other.performAndWait {
                let probe = Probe(context: other)
                try other.save()
                return probe.objectID
            }
            let fault = context.object(with: unread)
            #expect(fault.isFault)
            context.reset()
            for object in [saved, fault, inserted] {
                #expect(!object.isFault && object.faultingState == 0 && object.managedObjectContext == nil)
                #expect(object.value(forKey: "isFault") as? Bool == false)
                #expect(!object.description.contains("<fault>"))
            }
            #expect(saved.name == nil && fault.value(forKey: "name") == nil && !saved.isFault && !fault.isFault)
        }
    }
}
