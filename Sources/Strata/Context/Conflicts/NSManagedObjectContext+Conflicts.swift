import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The next save looks whether the object's row is still as it was read.
    final func require(_ object: NSManagedObject) {
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
