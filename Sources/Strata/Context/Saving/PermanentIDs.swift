import StrataIO
import StrataLog
import StrataSupport
import Synchronization

/// An object's name as contexts of one family tell it each other: a reference, and the store that it counts in.
struct SharedRef: Sendable {
    var ref: ObjectRef
    /// Nil for a temporary reference.
    var handle: StoreHandle?
    var shape: EntityShape

    init(_ ref: ObjectRef, _ handle: StoreHandle?, _ shape: EntityShape) {
        self.ref = ref
        self.handle = handle
        self.shape = shape
    }
}

/// Which permanent references took the place of temporary ones, in the contexts that descend from one root.
///
/// The descendants hold it, the root does not: what nobody can have heard of under its temporary name need not be
/// noted. Only objects that were told to a descendant are in it. It is emptied when the only descendant is reset, which
/// then holds no temporary name any more: so importing through a child that is reset now and then takes no more and
/// more memory. Safe to use from any thread.
final class PermanentIDs: Sendable {
    struct Entry: Sendable {
        var ref: ObjectRef
        var handle: StoreHandle
    }

    private let entries = AdaptiveMutex<[UInt64: Entry]>([:])
    /// Grows with each addition.
    let generation = Atomic<Int>(0)

    /// What a temporary reference has become; nil while it is temporary.
    func entry(for ref: ObjectRef) -> Entry? {
        entries.withLock { $0[ref.rawValue] }
    }

    func add(_ new: [(temporary: ObjectRef, entry: Entry)]) {
        guard !new.isEmpty else { return }
        entries.withLock { entries in
            for (temporary, entry) in new { entries[temporary.rawValue] = entry }
        }
        generation.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Forgets what no descendant has heard of.
    func removeAll() {
        entries.withLock { $0 = [:] }
    }
}
