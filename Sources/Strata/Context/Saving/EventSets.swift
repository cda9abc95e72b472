import Foundation

/// The sets of an event's inserted and deleted objects for the notification that reports them, filled on another core
/// while the event goes on.
///
/// Filling one takes an eighth of an import and a quarter of a large cascade. Nobody sees a set before the event is
/// over; then what it was filled with is compared with what the event turned out to be, and if that is something else,
/// because an object was inserted and deleted again for instance, the set is dropped. Used on the context's queue.
final class EventSets {
    /// The objects are handed on by so many; a power of two. Fewer are put into a set faster than another thread is
    /// woken.
    static let step = 2_048

    private var inserted: SetFilling?
    private var deleted: SetFilling?
    /// The first object of the event that has not been looked at.
    private var next = 0
    /// Whether some object's class has an idea of its own of what is equal: that is asked on the context's queue only.
    private var isRefused = false

    deinit {
        inserted?.cancel()
        deleted?.cancel()
    }

    /// Hands on the objects of the event before one that have not been yet.
    func add(_ event: ContiguousArray<NSManagedObject>, upTo end: Int) {
        guard next < end, !isRefused else { return }
        var (newInserted, newDeleted) = (SetFilling.Part(), SetFilling.Part())
        event.forEachUnretained(next..<end) { object in
            if object.overrides.contains(.equality) { isRefused = true }
            if object.isMarkedDeleted {
                if object.flags.isReportedWhenDeleted { newDeleted.append(.passRetained(object)) }
            } else if object.flags.isReportedAsInserted {
                newInserted.append(.passRetained(object))
            }
        }
        next = end
        if isRefused {
            SetFilling.release(newInserted)
            SetFilling.release(newDeleted)
            return
        }
        Self.add(newInserted, to: &inserted)
        Self.add(newDeleted, to: &deleted)
    }

    private static func add(_ part: SetFilling.Part, to filling: inout SetFilling?) {
        if part.isEmpty { return }
        let current = filling ?? SetFilling()
        filling = current
        current.add(part)
    }

    /// Gives the changes those sets that are of their objects.
    func give(to changes: inout ObjectChanges) {
        if isRefused { return }
        changes.insertedSet = Self.set(inserted, of: changes.inserted)
        changes.deletedSet = Self.set(deleted, of: changes.deleted)
    }

    private static func set(
        _ filling: SetFilling?, of objects: ContiguousArray<NSManagedObject>
    ) -> Set<NSManagedObject>? {
        guard let filling, filling.isFilled(with: objects) else { return nil }
        return filling.finish()
    }
}

extension ObjectFlags {
    /// Whether the next notification tells of the insertion, if the object is not deleted.
    @inline(__always)
    var isReportedAsInserted: Bool { contains(.inserted) && !contains(.insertReported) }

    /// Whether it tells of the deletion, if the object is deleted: what came and went between two notifications was
    /// never there.
    @inline(__always)
    var isReportedWhenDeleted: Bool { !contains(.inserted) || contains(.insertReported) }
}
