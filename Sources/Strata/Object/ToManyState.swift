import Foundation
import StrataLog

/// What a context knows of one to-many relationship of one object.
///
/// Until the members are asked for, only the differences from the store are kept, so that an object can be added to a
/// relationship with a million members without reading them.
final class ToManyState {
    /// Whether `members` (and `order`) hold the members.
    @exclusivity(unchecked) var isLoaded = false
    var members: Set<NSManagedObject> = []
    /// The members in order; only of an ordered relationship.
    var order: [NSManagedObject] = []
    /// Members the store does not know of yet, and members it still has.
    @exclusivity(unchecked) var added = IdentitySet()
    @exclusivity(unchecked) var removed = IdentitySet()
    var isOrderChanged = false
    /// Whether a member came or left since pending changes were last processed.
    @exclusivity(unchecked) var isChangedInEvent = false
    /// The order that was set, while the members are unloaded; laid over the stored one at the next use.
    private(set) var pendingOrder: [NSManagedObject] = []
    /// What `mutableOrderedSetValue(forKey:)` handed out, as long as somebody has it.
    weak var proxy: ManagedOrderedSet?
    /// Where the stored members' links lie (relationships kept by links), or what position they have (ordered ones).
    var links: [ObjectIdentifier: ObjectRef] = [:]
    var positions: [ObjectIdentifier: Int64] = [:]

    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || isOrderChanged }

    /// Records that the object came in; at the end of an ordered relationship.
    func insert(_ object: NSManagedObject, isOrdered: Bool) {
        isChangedInEvent = true
        if !removed.remove(object) { added.insert(object) }
        guard isLoaded else { return }
        guard members.insert(object).inserted, isOrdered else { return }
        order.append(object)
        isOrderChanged = true
        proxy?.mirrorAppend(object)
    }

    func remove(_ object: NSManagedObject, isOrdered: Bool) {
        isChangedInEvent = true
        if !added.remove(object) { removed.insert(object) }
        guard isLoaded else { return }
        members.remove(object)
        guard isOrdered, let index = order.firstIndex(where: { $0 === object }) else { return }
        order.remove(at: index)
        proxy?.mirrorRemove(at: index)
    }

    /// Puts the members into another order.
    func setOrder(_ objects: [NSManagedObject]) {
        order = objects
        isOrderChanged = true
        isChangedInEvent = true
        proxy?.mirror(order)
    }

    /// The stored order with the order that was set laid over it: members that came into the store meanwhile stay
    /// behind the one that they follow there.
    func mergePendingOrder() {
        defer { proxy?.mirror(order) }
        guard !pendingOrder.isEmpty else { return }
        var merged = pendingOrder.filter { members.contains($0) }
        let known = Set(merged)
        var previous: NSManagedObject?
        for object in order {
            if !known.contains(object) {
                let index = previous.flatMap { before in merged.firstIndex { $0 === before } }
                merged.insert(object, at: index.map { $0 + 1 } ?? 0)
            }
            previous = object
        }
        order = merged
        pendingOrder = []
    }

    /// Forgets everything that can be read again; keeps the changes, of which the order is one.
    func unload() {
        if isLoaded { pendingOrder = isOrderChanged ? order : [] }
        isLoaded = false
        members = []
        order = []
        links = [:]
        positions = [:]
    }

    /// The changes have been saved.
    func didSave() {
        added.removeAll()
        removed.removeAll()
        isOrderChanged = false
        pendingOrder = []
        // The links that were just written are not known here; the next use reads them.
        if !links.isEmpty || !positions.isEmpty { unload() }
    }
}
