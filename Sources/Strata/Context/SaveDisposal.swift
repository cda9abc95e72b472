import CStrataSupport
import StrataLog

/// Lets go of the objects of a large save on another core.
///
/// Who imports holds none of the objects that were saved: they die with the save's lists, which takes a quarter of the
/// whole import, as their values have left the processor's caches by then. What nobody else holds is taken out of the
/// registry on the context's queue, at once: nobody can come by it any more, so it does not matter when its memory is
/// given back. All others only lose the lists' references.
final class SaveDisposal: @unchecked Sendable {
    // Unchecked: filled on the context's queue, then used by the thread alone that the work is given to.

    /// Fewer objects are freed faster than another thread is woken.
    private static let minimumCount = 1_024

    private var leftovers: ContiguousArray<NSManagedObject>
    private var changes: ObjectChanges
    /// The IDs that were made for the save's notification.
    private var ids: [SavedIDs]

    /// Nil for a small save.
    ///
    /// - Parameters:
    ///   - leftovers: the objects that had changed, each once.
    ///   - changes: the same by what happened to them.
    init?(_ leftovers: ContiguousArray<NSManagedObject>, _ changes: ObjectChanges, _ ids: [SavedIDs]) {
        guard leftovers.count >= Self.minimumCount else { return nil }
        self.leftovers = leftovers
        self.changes = changes
        self.ids = ids
    }

    /// - Precondition: nobody has lists of the objects any more, except for observers of the save.
    func start(_ registry: ObjectRegistry) {
        // Otherwise something has come or gone since the changes were sorted, and an object may be in fewer lists.
        if leftovers.count == changes.inserted.count + changes.updated.count + changes.deleted.count {
            if changes.insertedSet == nil {
                registry.forgetUnheld(changes.inserted, references: 2)
            } else if changes.insertedSet?.count == changes.inserted.count, !isSetShared {
                registry.forgetUnheld(changes.inserted, references: 3)
            }
        }
        HelperPool.shared.async { self.free() }
    }

    /// Whether an observer has kept the notification's set, and with it all objects: that adds to no object's references.
    private var isSetShared: Bool {
        // SAFETY: a Swift set without Objective-C is a reference to its storage, and nothing else. Read from where it lies,
        // it gets no further reference on the way.
        guard MemoryLayout<Set<NSManagedObject>?>.size == MemoryLayout<UnsafeMutableRawPointer?>.size else {
            return true
        }
        return withUnsafePointer(to: &changes.insertedSet) { set in
            guard let storage = UnsafeRawPointer(set).load(as: UnsafeMutableRawPointer?.self) else { return false }
            return !strata_is_held_only(storage, 1)
        }
    }

    private func free() {
        changes = ObjectChanges()
        ids = []
        // Last those in the order in which they were made, not that of a set: it is that of their addresses.
        leftovers = []
    }
}
