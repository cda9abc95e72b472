import StrataLog
import StrataSupport

/// Lets go of the objects of a large save on another core.
///
/// Who imports holds none of the objects that were saved: they die with the save's lists, which takes a quarter of the
/// whole import, as their values have left the processor's caches by then. Those that were inserted are put aside in
/// the registry meanwhile (``LeavingObjects``), so that dying ones do not make the context's queue wait. Objects that
/// somebody holds only lose the lists' references.
///
/// A context that is reset at once takes back what has not been freed yet (``takeUnheld(_:)``).
final class SaveDisposal: @unchecked Sendable {
    // Unchecked: what changes is guarded by the lock.

    /// Fewer objects are freed faster than another thread is woken.
    static let minimumCount = 1_024
    /// How many objects are freed while a context that is reset may wait.
    private static let freedAtOnce = 256

    private let lock = AdaptiveMutex<Void>(())
    @exclusivity(unchecked) private var unreleased: ContiguousArray<NSManagedObject>
    @exclusivity(unchecked) private var changes: ObjectChanges
    /// The IDs that were made for the save's notification.
    @exclusivity(unchecked) private var ids: [SavedIDs]

    /// Nil for a small save.
    ///
    /// - Parameters:
    ///   - unreleased: the objects that had changed, each once.
    ///   - changes: the same by what happened to them.
    init?(_ unreleased: ContiguousArray<NSManagedObject>, _ changes: ObjectChanges, _ ids: [SavedIDs]) {
        guard unreleased.count >= Self.minimumCount else { return nil }
        self.unreleased = unreleased
        self.changes = changes
        self.ids = ids
    }

    /// What lets go of objects that belong to no context any more.
    private init(_ objects: ContiguousArray<NSManagedObject>) {
        (unreleased, changes, ids) = (objects, ObjectChanges(), [])
    }

    func start(_ registry: ObjectRegistry) {
        registry.setAside(changes.inserted)
        registry.locked { _ in registry.disposals.append(self) }
        HelperPool.shared.async {
            self.free()
            registry.locked { _ in registry.disposals.removeAll { $0 === self } }
            registry.bringBack()
        }
    }

    /// Frees objects that belong to no context any more.
    static func free(_ objects: consuming ContiguousArray<NSManagedObject>) {
        guard objects.count >= minimumCount else { return }
        let disposal = SaveDisposal(objects)
        HelperPool.shared.async { disposal.free() }
    }

    private func free() {
        lock.locked { changes = ObjectChanges() }
        // The program's deinitialisers run without the lock.
        while let part = takeSome() { withExtendedLifetime(part) {} }
        ids = []
    }

    /// Some of the objects that are left, about in the order in which they were made: it is that of their addresses.
    private func takeSome() -> ContiguousArray<NSManagedObject>? {
        lock.locked {
            if unreleased.isEmpty { return nil }
            let part = ContiguousArray(unreleased.suffix(Self.freedAtOnce))
            unreleased.removeLast(part.count)
            return part
        }
    }

    /// Stops, and hands over the objects that have not been freed and that nobody else holds. They belong to no context
    /// any more. The others only lose this reference.
    ///
    /// Thread rule: on the context's queue.
    func takeUnheld(_ registry: ObjectRegistry) -> ContiguousArray<NSManagedObject> {
        var objects = lock.locked {
            changes = ObjectChanges()
            defer { unreleased = [] }
            return unreleased
        }
        let unheld = registry.forgetUnheld(&objects)
        objects.removeLast(objects.count - unheld)
        return objects
    }
}
