import StrataLog
import StrataSupport
import Synchronization

/// The part of a registry's table that the objects of a large save lie in while another core lets go of them.
///
/// An object that dies takes itself out of the table that it lies in. This one has a lock of its own, so that the core
/// that frees the objects and the context's queue, which inserts the next ones, do not wait for each other.
///
/// Objects in here are the registry's like all others: they are found, and whoever holds one keeps it. They have no
/// reference of their own to the registry, though, which two cores would count at the same time: all of them share one.
final class LeavingObjects: @unchecked Sendable {
    // Unchecked: the table and the number of saves are guarded by the lock.

    private let lock = AdaptiveMutex<Void>(())
    @exclusivity(unchecked) private var table = RefTable()
    /// How many saves' objects are still being let go of.
    private var saves = 0
    /// How many objects there are, for those who need not look then. It grows under the registry's lock only.
    private let count = Atomic<Int>(0)

    /// A larger table is given back when it is empty.
    private static let retainedCapacity = 1 << 16

    /// What becomes of the reference to the registry that the objects share.
    enum Removal {
        /// The object is not here: it has a reference of its own.
        case missing
        /// Others need the shared reference.
        case removed
        /// The caller gives up the shared reference.
        case last
    }

    /// Whether no object is here. Exact for whoever has the registry's lock and asks for an object that is alive.
    @inline(__always)
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    private func locked<Result>(_ body: (inout RefTable) -> Result) -> Result {
        lock.locked { body(&table) }
    }

    func object(_ ref: ObjectRef) -> UnsafeMutableRawPointer? {
        locked { $0.object(ref) }
    }

    /// Calls the body with a look-up, which holds the lock.
    func look(_ body: ((ObjectRef) -> UnsafeMutableRawPointer?) -> Void) {
        locked { table in body { table.object($0) } }
    }

    func forEach(_ body: (UnsafeMutableRawPointer) -> Void) {
        locked { $0.forEach(body) }
    }

    /// Begins to let go of so many objects of a save; ``end()`` follows.
    func begin(_ objectCount: Int) {
        locked { table in
            saves += 1
            table.reserve(objectCount)
        }
    }

    /// Ends what ``begin()`` began.
    ///
    /// - Returns: whether no other save's objects are being let go of.
    func end() -> Bool {
        locked { _ in
            saves -= 1
            return saves == 0
        }
    }

    /// Takes in those that the body is given a way to add, under the lock. Called under the registry's lock.
    ///
    /// - Returns: whether none were here before, and some are now.
    func add(_ body: ((ObjectRef, UnsafeMutableRawPointer) -> Void) -> Void) -> Bool {
        locked { table in
            let before = table.count
            body { ref, object in
                table.prefetchNext(ref)
                table.set(ref, object)
            }
            let added = table.count - before
            return added > 0 && count.add(added, ordering: .relaxed).oldValue == 0
        }
    }

    func remove(_ ref: ObjectRef, _ object: UnsafeMutableRawPointer) -> Removal {
        if isEmpty { return .missing }
        return locked { table in
            table.take(ref, object) ? subtract(1, &table) : .missing
        }
    }

    /// Calls the body with what takes an object out, and says whether it was here, without the lock for each.
    ///
    /// - Returns: what becomes of the shared reference; `missing` if none was taken out.
    func take(_ body: ((ObjectRef, UnsafeMutableRawPointer) -> Bool) -> Void) -> Removal {
        if isEmpty {
            body { _, _ in false }
            return .missing
        }
        return locked { table in
            var taken = 0
            body { ref, object in
                guard table.take(ref, object) else { return false }
                taken += 1
                return true
            }
            return taken == 0 ? .missing : subtract(taken, &table)
        }
    }

    /// Takes some objects out and hands each to the body, which runs under the lock, unless a save has begun meanwhile.
    ///
    /// - Returns: what becomes of the shared reference; `missing` when there is nothing more to do.
    func takeSome(_ limit: Int, from cursor: inout Int, _ body: (ObjectRef, UnsafeMutableRawPointer) -> Void) -> Removal
    {
        locked { table in
            if saves > 0 { return .missing }
            let taken = table.takeSome(limit, from: &cursor, body)
            return taken == 0 ? .missing : subtract(taken, &table)
        }
    }

    private func subtract(_ taken: Int, _ table: inout RefTable) -> Removal {
        if count.subtract(taken, ordering: .relaxed).newValue > 0 { return .removed }
        if table.capacity > Self.retainedCapacity { table = RefTable() }
        return .last
    }
}
