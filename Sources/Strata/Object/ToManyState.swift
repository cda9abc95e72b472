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
    /// Where the stored members' links lie (relationships kept by links), or what position they have (ordered ones).
    var links: [ObjectIdentifier: ObjectRef] = [:]
    var positions: [ObjectIdentifier: Int64] = [:]

    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || isOrderChanged }

    /// Records that the object came in. `index` counts only for ordered relationships; nil appends.
    func insert(_ object: NSManagedObject, at index: Int? = nil, isOrdered: Bool) {
        isChangedInEvent = true
        if !removed.remove(object) { added.insert(object) }
        guard isLoaded else { return }
        guard members.insert(object).inserted, isOrdered else { return }
        order.insert(object, at: min(index ?? order.count, order.count))
        isOrderChanged = true
    }

    func remove(_ object: NSManagedObject, isOrdered: Bool) {
        isChangedInEvent = true
        if !added.remove(object) { removed.insert(object) }
        guard isLoaded else { return }
        members.remove(object)
        if isOrdered { order.removeAll { $0 === object } }
    }

    /// Forgets everything that can be read again; keeps the changes, of which the order is one.
    func unload() {
        isLoaded = false
        members = []
        if !isOrderChanged { order = [] }
        links = [:]
        positions = [:]
    }

    /// The changes have been saved.
    func didSave() {
        added.removeAll()
        removed.removeAll()
        isOrderChanged = false
        // The links that were just written are not known here; the next use reads them.
        if !links.isEmpty || !positions.isEmpty { unload() }
    }
}
