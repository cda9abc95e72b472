import Foundation
import StrataLog

/// What a context knows of one to-many relationship of one object.
///
/// Until the members are asked for, only the differences from the store are kept, so that an object can be added to a
/// relationship with a million members without reading them.
final class ToManyState {
    /// Whether `members` (and `order`) hold the members.
    @exclusivity(unchecked) var isLoaded = false
    /// Of a fetched property: how often its user info had been changed when its request was executed.
    @exclusivity(unchecked) var userInfoChanges: UInt32 = 0
    var members: Set<NSManagedObject> = []
    /// The members in order; only of an ordered relationship.
    var order: [NSManagedObject] {
        get {
            closeGaps()
            return storage
        }
        set {
            (hasGaps, lastGap) = (false, nil)
            storage = newValue
        }
        _modify {
            closeGaps()
            yield &storage
        }
    }
    /// The order, with those that have left since it was last asked for: of many that leave, each would have to be
    /// searched for.
    private var storage: [NSManagedObject] = []
    @exclusivity(unchecked) private var hasGaps = false
    /// Who has left, if it is only one.
    private var lastGap: NSManagedObject?
    /// Members the store does not know of yet, and members it still has.
    @exclusivity(unchecked) var added = IdentitySet()
    @exclusivity(unchecked) var removed = IdentitySet()
    var isOrderChanged = false
    /// Where the next member of an ordered relationship comes; nil for the end.
    var nextPlace: Int?
    /// Whether a member came or left since pending changes were last processed.
    @exclusivity(unchecked) private(set) var isChangedInEvent = false
    /// What the current event has done, if earlier ones have changed the relationship since the last save, too. If not,
    /// what was there before the event is what is stored.
    @exclusivity(unchecked) private(set) var eventDifference: EventDifference?
    /// The order that was set, while the members are unloaded; laid over the stored one at the next use.
    private(set) var pendingOrder: [NSManagedObject] = []
    /// What `mutableOrderedSetValue(forKey:)` handed out, as long as somebody has it.
    weak var proxy: ManagedOrderedSet?
    /// Where the stored members' links lie (relationships kept by links), or what position they have (ordered ones).
    var links: [ObjectIdentifier: ObjectRef] = [:]
    var positions: [ObjectIdentifier: Int64] = [:]

    /// Who came and who left in one event.
    final class EventDifference {
        var came = IdentitySet()
        var left = IdentitySet()
        /// The order before anybody left or was moved, with those at its end who had come by then; nil if nobody was.
        var order: [NSManagedObject]?
    }

    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || isOrderChanged }

    /// Comes before each change.
    private func recordChange(ofOrder isOrder: Bool) {
        if !isChangedInEvent {
            isChangedInEvent = true
            if isChanged { eventDifference = EventDifference() }
        }
        if isOrder, isLoaded, let eventDifference, eventDifference.order == nil { eventDifference.order = order }
    }

    /// The event is over.
    func endEvent() {
        isChangedInEvent = false
        if eventDifference != nil { eventDifference = nil }
    }

    /// Records that the object came in: of an ordered relationship at ``nextPlace``, which is the end from then on.
    func insert(_ object: NSManagedObject, isOrdered: Bool) {
        recordChange(ofOrder: false)
        if let eventDifference, !eventDifference.left.remove(object) { eventDifference.came.insert(object) }
        if !removed.remove(object) { added.insert(object) }
        guard isLoaded else { return }
        if hasGaps { closeGaps() }
        guard members.insert(object).inserted, isOrdered else { return }
        let index = nextPlace.map { min($0, storage.count) } ?? storage.count
        nextPlace = nil
        if index < storage.count { storage.insert(object, at: index) } else { storage.append(object) }
        isOrderChanged = true
        proxy?.mirrorInsert(object, at: index)
    }

    func remove(_ object: NSManagedObject, isOrdered: Bool) {
        recordChange(ofOrder: isOrdered)
        if let eventDifference, !eventDifference.came.remove(object) { eventDifference.left.insert(object) }
        if !added.remove(object) { removed.insert(object) }
        guard isLoaded else { return }
        guard members.remove(object) != nil, isOrdered else { return }
        guard let proxy else { return leaveGap(object) }
        guard let index = order.lastIndex(where: { $0 === object }) else { return }
        order.remove(at: index)
        proxy.mirrorRemove(at: index)
    }

    /// An object that is no longer a member leaves the order, at the latest when somebody looks at it.
    func leaveGap(_ object: NSManagedObject) {
        if storage.isEmpty { return }
        lastGap = hasGaps ? nil : object
        hasGaps = true
    }

    /// Takes those out of the order that have left.
    ///
    /// - Complexity: O(n) if somebody has.
    func closeGaps() {
        guard hasGaps else { return }
        if let lastGap {
            if let index = storage.firstIndex(where: { $0 === lastGap }) { storage.remove(at: index) }
        } else {
            storage.removeAll { !members.contains($0) }
        }
        (hasGaps, lastGap) = (false, nil)
    }

    /// Puts the members into another order.
    func setOrder(_ objects: [NSManagedObject]) {
        recordChange(ofOrder: true)
        order = objects
        isOrderChanged = true
        proxy?.mirror(order)
    }

    /// The stored order with the order that was set laid over it: members that came into the store meanwhile stay
    /// behind the one that they follow there.
    func mergePendingOrder() {
        defer { proxy?.mirror(order) }
        guard !pendingOrder.isEmpty else { return }
        let kept = pendingOrder.filter { members.contains($0) }
        let known = Set(kept)
        // Those that came, by the known one before them.
        var merged: [NSManagedObject] = []
        var followers: [ObjectIdentifier: [NSManagedObject]] = [:]
        var previous: ObjectIdentifier?
        for object in order {
            if known.contains(object) {
                previous = ObjectIdentifier(object)
            } else if let previous {
                followers[previous, default: []].append(object)
            } else {
                merged.append(object)
            }
        }
        for object in kept {
            merged.append(object)
            merged += followers[ObjectIdentifier(object)] ?? []
        }
        order = merged
        pendingOrder = []
    }

    /// Of a relationship kept by links: what others have changed in the same way is no change any more. (Elsewhere the
    /// member's row says who changed it.)
    func dropChanges(alreadyIn stored: [NSManagedObject]) {
        if added.isEmpty, removed.isEmpty { return }
        let stored = Set(stored)
        for object in added.objects where stored.contains(object) { added.remove(object) }
        for object in removed.objects where !stored.contains(object) { removed.remove(object) }
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

    /// Takes the changes since the last save back. Members that have been read stay, if their order is known.
    func takeBack(isOrdered: Bool) {
        endEvent()
        guard isChanged || !pendingOrder.isEmpty else { return }
        let (came, left) = (added.objects, removed.objects)
        added.removeAll()
        removed.removeAll()
        isOrderChanged = false
        pendingOrder = []
        guard isLoaded else { return }
        members.subtract(came)
        members.formUnion(left)
        guard isOrdered else { return }
        // What was saved since the members were read has no position.
        guard members.allSatisfy({ positions[ObjectIdentifier($0)] != nil }) else { return unload() }
        order = members.sorted(by: precedes)
        proxy?.mirror(order)
    }

    /// The members that are stored, which must have been read: as a set, and in their order.
    var committedMembers: Set<NSManagedObject> { members.subtracting(added.objects).union(removed.objects) }
    var committedOrder: [NSManagedObject] { committedMembers.sorted(by: precedes) }

    /// Whether members that have been read precede each other as they are stored: those without a place of their own,
    /// which batches insert, are in the order of their keys.
    private func precedes(_ left: NSManagedObject, _ right: NSManagedObject) -> Bool {
        let places = (positions[ObjectIdentifier(left), default: 0], positions[ObjectIdentifier(right), default: 0])
        return (places.0, left.ref.key) < (places.1, right.ref.key)
    }

    /// Notices, once the members have been read, that all of them are in the order that is stored: that the order was
    /// changed meanwhile is no change then.
    ///
    /// - Complexity: O(n) if nothing but the order was changed.
    func dropRestoredOrder() {
        guard isOrderChanged, isLoaded, added.isEmpty, removed.isEmpty else { return }
        let order = order
        guard order.allSatisfy({ positions[ObjectIdentifier($0)] != nil }),
            zip(order, order.dropFirst()).allSatisfy(precedes)
        else { return }
        isOrderChanged = false
    }

    /// The members of a child's object have been read from its parent, in this order.
    func numberMembers(_ order: [NSManagedObject]) {
        positions = Dictionary(
            order.enumerated().map { (ObjectIdentifier($1), Int64($0 + 1)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The changes have been saved.
    ///
    /// - Parameter isToParent: whether a child has given them to its parent.
    func didSave(isToParent: Bool) {
        added.removeAll()
        removed.removeAll()
        isOrderChanged = false
        pendingOrder = []
        if isToParent { return numberMembers(order) }
        // The links that were just written are not known here; the next use reads them.
        if !links.isEmpty || !positions.isEmpty { unload() }
    }
}
