import StrataLog
import StrataSupport
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
    private let merged: UInt64
    /// Those of its own since then, in order. Nobody else writes for long stretches, so that there are few ranges.
    private var own: [ClosedRange<UInt64>] = []

    init(merged: UInt64 = 0) {
        self.merged = merged
    }

    /// Notes one of its own. Sequences grow.
    mutating func insert(_ sequence: UInt64) {
        if let last = own.last, sequence <= last.upperBound + 1 {
            own[own.count - 1] = last.lowerBound...max(sequence, last.upperBound)
        } else {
            own.append(sequence...sequence)
        }
    }

    /// - Complexity: O(log n) in the ranges.
    func contains(_ sequence: UInt64) -> Bool {
        if sequence <= merged { return true }
        var low = 0
        var high = own.count
        while low < high {
            let middle = (low + high) / 2
            if own[middle].upperBound < sequence { low = middle + 1 } else { high = middle }
        }
        return low < own.count && own[low].contains(sequence)
    }
}

/// What a context knows of its children, which keep it alive, not the other way round.
final class ContextChildren: @unchecked Sendable {
    // Unchecked: contexts are only asked to perform a block, or given the coordinator before they are used.

    private let lock = Mutex<Void>(())
    private var children = SweptList<ContextReference>()
    private weak var sharedIDs: PermanentIDs?

    /// The children that are alive.
    var all: [NSManagedObjectContext] {
        lock.locked { children.all }.compactMap(\.context)
    }

    var isEmpty: Bool { lock.locked { children.count(upTo: 1) } == 0 }

    var isOnlyOne: Bool { lock.locked { children.count(upTo: 2) } == 1 }

    func add(_ child: NSManagedObjectContext) {
        lock.locked { children.insert(child.reference) }
    }

    func remove(_ child: NSManagedObjectContext) {
        lock.locked { children.remove(child.reference.identity) }
    }

    /// The table of a root's descendants; nil when there are none.
    var permanentIDs: PermanentIDs? {
        lock.locked { sharedIDs }
    }

    /// The table of a root's descendants, made if there is none.
    func makePermanentIDs() -> PermanentIDs {
        lock.locked {
            if let sharedIDs { return sharedIDs }
            let new = PermanentIDs()
            sharedIDs = new
            return new
        }
    }
}
