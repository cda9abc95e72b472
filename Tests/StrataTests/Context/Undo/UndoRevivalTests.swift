import CoreData
import Foundation
import Testing

/// Objects that undoing brings back after their deletion was saved.
@Suite struct UndoRevivalTests {
    @Test func whatWasNeverSavedComesBackAfterASave() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.undoContext()
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "never saved"
            context.processPendingChanges()
            context.delete(probe)
            try context.save()
            #expect(probe.managedObjectContext == nil)
            context.undo()
            #expect(probe.isInserted && probe.managedObjectContext === context && probe.name == "never saved")
            #expect(probe.objectID.isTemporaryID && context.insertedObjects == [probe])
            try context.save()
            let stored = try fetchAll(Probe.self, "Probe", store.context(), sort: "name")
            #expect(stored.map(\.name) == ["never saved"] && !probe.objectID.isTemporaryID)
        }
    }

    /// The child came back before its parent and asked the context for it, which made a second object for the parent's
    /// row. The child then referred to an object that nobody else had.
    @Test func objectsComeBackWithTheObjectsTheyReferredTo() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.undoContext()
        try context.performAndWait {
            let parent = Probe(context: context)
            let children = (0..<8).map { _ in Probe(context: context) }
            for child in children { child.parent = parent }
            try context.save()
            for child in children { context.delete(child) }
            context.delete(parent)
            context.processPendingChanges()
            context.refreshAllObjects()
            try context.save()
            context.undo()
            #expect(children.allSatisfy { $0.parent === parent } && parent.children == Set(children))
        }
    }
}
