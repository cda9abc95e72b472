import StrataLog
import Synchronization

/// What a context that has a parent needs of it.
final class ParentLink {
    let parent: NSManagedObjectContext
    let permanentIDs: PermanentIDs
    /// The generation of `permanentIDs` that the context has taken in.
    var adoptedGeneration: Int

    init(_ parent: NSManagedObjectContext, _ permanentIDs: PermanentIDs) {
        self.parent = parent
        self.permanentIDs = permanentIDs
        adoptedGeneration = permanentIDs.generation.load(ordering: .acquiring)
    }
}

/// Which transactions of a store a context knows of: its own, and everything up to where it last merged.
struct KnownSequences {
    var merged: UInt64 = 0
    var own: Set<UInt64> = []

    func contains(_ sequence: UInt64) -> Bool { sequence <= merged || own.contains(sequence) }
}

/// What a context knows of its children, which keep it alive, not the other way round.
final class ContextChildren: @unchecked Sendable {
    // Unchecked: contexts are only asked to perform a block, or given the coordinator before they are used.

    private struct WeakContext {
        weak var context: NSManagedObjectContext?
    }

    private let lock = Mutex<Void>(())
    private var children: [WeakContext] = []
    private weak var sharedIDs: PermanentIDs?

    /// The children that are alive.
    var all: [NSManagedObjectContext] {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        return children.compactMap(\.context)
    }

    func add(_ child: NSManagedObjectContext) {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        children.removeAll { $0.context == nil }
        children.append(WeakContext(context: child))
    }

    func remove(_ child: NSManagedObjectContext) {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        children.removeAll { $0.context == nil || $0.context === child }
    }

    /// The table of a root's descendants; nil when there are none.
    var permanentIDs: PermanentIDs? {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        return sharedIDs
    }

    /// The table of a root's descendants, made if there is none.
    func makePermanentIDs() -> PermanentIDs {
        lock._unsafeLock()
        defer { lock._unsafeUnlock() }
        if let sharedIDs { return sharedIDs }
        let new = PermanentIDs()
        sharedIDs = new
        return new
    }
}
