import StrataLog

/// Lets go of the objects of a large save on another core.
///
/// Who imports holds none of the objects that were saved: they die with the save's lists, which takes a quarter of the
/// whole import, as their values have left the processor's caches by then. Those that were inserted are put aside in
/// the registry meanwhile (``LeavingObjects``), so that dying ones do not make the context's queue wait. Objects that
/// somebody holds only lose the lists' references.
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

    func start(_ registry: ObjectRegistry) {
        registry.setAside(changes.inserted)
        HelperPool.shared.async {
            self.free()
            registry.bringBack()
        }
    }

    private func free() {
        changes = ObjectChanges()
        ids = []
        // Last those in the order in which they were made, not that of a set: it is that of their addresses.
        leftovers = []
    }
}
