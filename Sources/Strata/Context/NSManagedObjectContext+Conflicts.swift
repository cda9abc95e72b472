import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// Makes the next save fail, or ask the merge policy, if the object's row has been changed or deleted in the store
    /// since this context read it, even if the object has no changes. For changed and deleted objects that is always
    /// so.
    ///
    /// A save that succeeds ends it. Fires the object's fault.
    public final func detectConflicts(for object: NSManagedObject) {
        guard object.registry === registry, object.storeIndex != 0 else { return }
        object.realize()
        required.insert(object)
    }

    /// Whether ``detectConflicts(for:)`` has been called for the object.
    final func isRequired(_ object: NSManagedObject) -> Bool {
        !required.isEmpty && required.contains(object)
    }

    /// Reports objects that left the context because a conflict showed that their rows are gone.
    final func reportDropped() {
        guard !droppedBySave.isEmpty else { return }
        var changes = ObjectChanges()
        changes.deleted = droppedBySave
        droppedBySave = []
        changes.post(.NSManagedObjectContextObjectsDidChange, from: self)
    }
}

extension NSManagedObject {
    /// Whether ``NSManagedObjectContext/detectConflicts(for:)`` has anything to look at: a row that was read and is not
    /// to be written anyway.
    final var isWatched: Bool { !hasChanges && !isFault && registry != nil && !flags.contains(.gone) }
}
