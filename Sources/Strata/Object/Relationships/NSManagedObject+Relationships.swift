import Foundation
import StrataLog
import StrataRuntime
import StrataSupport

extension NSManagedObject {
    /// The object at the other end of a to-one relationship. Fires the fault of this object, not of the other.
    public final subscript<Target: NSManagedObject>(slot: ToOneSlot<Target>) -> Target? {
        get {
            if flags.contains(.observable) { reportAccess(slot.name) }
            guard let target = toOneTarget(at: slot._cache.token(for: self)) else { return nil }
            ForeignObjects.check(target, is: Target.self, isNarrow: slot._cache.isNarrow)
            // SAFETY: the slot has checked that the destination's classes are Target or subclasses of it; where they
            // are not, the object has been looked at.
            return unsafeDowncast(target, to: Target.self)
        }
        set {
            let slot = slot._cache.token(for: self).index
            // SAFETY: the model keeps its relationships for ever.
            shape.relationshipReferences[Int(shape.codes[slot].relationshipIndex)].withBorrowed {
                if let newValue, setNew($0, to: newValue) { return }
                setToOne($0, to: newValue)
            }
        }
    }

    /// The objects at the other end of a to-many relationship.
    ///
    /// - Complexity: O(n) at the first use and for subclasses of NSManagedObject.
    public final subscript<Target: NSManagedObject>(slot: ToManySlot<Target>) -> Set<Target> {
        get {
            if flags.contains(.observable) { reportAccess(slot.name) }
            let members = toManyMembers(shape.relationships[slot._cache.token(for: self).index])
            ForeignObjects.check(members, are: Target.self, isNarrow: slot._cache.isNarrow)
            // SAFETY: the slot has checked that the destination's classes are Target or subclasses, or the members have
            // been looked at; sets of class references have one layout and hash alike.
            return CollectionLayout.cast(members, to: Set<Target>.self)
        }
        set {
            setToMany(shape.relationships[slot._cache.token(for: self).index], to: Array(newValue))
        }
    }

    /// The objects at the other end of an ordered to-many relationship, in order.
    public final func ordered<Target: NSManagedObject>(_ slot: ToManySlot<Target>) -> [Target] {
        if flags.contains(.observable) { reportAccess(slot.name) }
        let members = toManyOrder(shape.relationships[slot._cache.token(for: self).index])
        return ForeignObjects.checked(members, are: Target.self, isNarrow: slot._cache.isNarrow)
    }

    /// Replaces the objects at the other end of an ordered to-many relationship.
    public final func setOrdered<Target: NSManagedObject>(_ objects: [Target], _ slot: ToManySlot<Target>) {
        setToMany(shape.relationships[slot._cache.token(for: self).index], to: objects)
    }

    /// Adds an object to a to-many relationship without reading the objects that are already there, unless it is
    /// ordered.
    public final func add<Target: NSManagedObject>(_ object: Target, to slot: ToManySlot<Target>) {
        addToMany(shape.relationships[slot._cache.token(for: self).index], object)
    }

    /// Removes an object from a to-many relationship without reading the other ones, unless it is ordered.
    public final func remove<Target: NSManagedObject>(_ object: Target, from slot: ToManySlot<Target>) {
        removeFromMany(shape.relationships[slot._cache.token(for: self).index], object)
    }

    /// How many objects are at the other end of a to-many relationship. Reads no rows.
    public final func count<Target: NSManagedObject>(of slot: ToManySlot<Target>) -> Int {
        if flags.contains(.observable) { reportAccess(slot.name) }
        return toManyCount(shape.relationships[slot._cache.token(for: self).index])
    }

    /// Whether the objects of a relationship have not been looked up yet.
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        guard let relationship = shape.relationship(key) else {
            programmerError(
                shape.name, "the entity has no relationship named \"\(key)\"\(shape.suggestion(for: key))",
                "Name a relationship of the entity")
        }
        if relationship.isToMany { return storeIndex != 0 && existingState(relationship)?.isLoaded != true }
        if isFault { return true }
        guard let target = toOneTarget(relationship) else { return false }
        return target.isFault
    }

    /// The IDs of the objects of a relationship. Fires no fault: neither this object's, nor the relationship's, nor
    /// one of the objects'.
    public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let relationship = shape.relationship(key) else {
            programmerError(
                shape.name, "the entity has no relationship named \"\(key)\"\(shape.suggestion(for: key))",
                "Name a relationship of the entity")
        }
        return relationship.isToMany ? memberIDs(relationship) : targetID(relationship).map { [$0] } ?? []
    }
}

// MARK: Reading

extension NSManagedObject {
    final func toOneTarget(_ relationship: RelationshipShape) -> NSManagedObject? {
        let slot = relationship.slot
        return toOneTarget(at: SlotToken(shape: shape, index: slot, offset: Int(shape.codes[slot].offset)))
    }

    /// What the next save makes a to-one relationship refer to; nil when it leaves that alone.
    final func changedTarget(_ relationship: RelationshipShape) -> NSManagedObject?? {
        guard flags.contains(.dirtySlots), let overlay, overlay.isDirty(relationship.slot) else { return nil }
        return .some(toOneTarget(relationship))
    }

    final func toOneTarget(at token: SlotToken) -> NSManagedObject? {
        let slot = token.index
        if isUnread { realize(slot) }
        if flags.contains(.sampled) { recordSample(slot) }
        if let overlay, overlay.isPresent(slot) { return overlay.isNull(slot) ? nil : overlay.object(at: token.offset) }
        let target = storedReference(slot)
        if target.isNull { return nil }
        guard let known = storedTarget(target) else { return orphanTarget(target) }
        // Kept, so that the target lives as long as this object refers to it and is found at once next time.
        let overlay = self.overlay ?? Overlay.allocateShort(summary)
        self.overlay = overlay
        (overlay.base + token.offset).assumingMemoryBound(to: NSManagedObject.self).initialize(to: known)
        overlay.markCached(slot, isNull: false)
        return known
    }

    /// What the row refers to, of an object that is no fault; null where there is no row.
    @inline(__always)
    final func storedReference(_ slot: Int) -> ObjectRef {
        guard let blockReference else { return .null }
        // SAFETY: the object has a reference to the block until it takes another one.
        return blockReference.withBorrowed { $0.verifiedColumn(slot).reference(Int(row)) }
    }

    /// The object that the row refers to, which nothing else need hold; nil where the context has gone.
    @inline(__always)
    final func storedTarget(_ target: ObjectRef) -> NSManagedObject? {
        // SAFETY: the object has a reference to its registry.
        registryReference?.withBorrowed { registry in
            registry.contextReference == nil
                ? nil : registry.object(target, storeIndex) ?? registry.context?.object(target, storeIndex, of: self)
        }
    }

    /// What a to-one relationship's row refers to, of an object that is no fault; null where the target is known
    /// already.
    final func unknownTarget(_ relationship: RelationshipShape) -> ObjectRef {
        if let overlay, overlay.isPresent(relationship.slot) { return .null }
        return storedReference(relationship.slot)
    }

    final func existingState(_ relationship: RelationshipShape) -> ToManyState? {
        relationship.index < toMany.count ? toMany[relationship.index] : nil
    }

    final func state(_ relationship: RelationshipShape) -> ToManyState {
        if toMany.isEmpty {
            toMany = ContiguousArray(repeating: nil, count: shape.relationships.count + shape.fetched.count)
        }
        if let state = toMany[relationship.index] { return state }
        let state = ToManyState()
        // Nothing is stored of an object that was never saved, so what is known is all there is.
        state.isLoaded = storeIndex == 0
        toMany[relationship.index] = state
        return state
    }

    final func loadedState(_ relationship: RelationshipShape) -> ToManyState {
        let state = state(relationship)
        if state.isLoaded { return state }
        guard let context = registry?.context else { return orphanState(relationship) ?? state }
        context.load(state, relationship, of: self)
        return state
    }

    final func toManyMembers(_ relationship: RelationshipShape) -> Set<NSManagedObject> {
        loadedState(relationship).members
    }

    final func toManyOrder(_ relationship: RelationshipShape) -> [NSManagedObject] {
        let state = loadedState(relationship)
        return relationship.isOrdered ? state.order : Array(state.members)
    }

    final func toManyCount(_ relationship: RelationshipShape) -> Int {
        let state = existingState(relationship)
        if let state, state.isLoaded { return state.members.count }
        if storeIndex == 0 { return 0 }
        // Others may have added or removed the same links.
        if let state, state.isChanged, case .link = relationship.storage {
            return registry?.context?.linkCount(relationship, state, of: self)
                ?? loadedState(relationship).members.count
        }
        guard let stored = registry?.context?.storedCount(relationship, of: self) else {
            return loadedState(relationship).members.count
        }
        return stored + (state?.added.count ?? 0) - (state?.removed.count ?? 0)
    }
}
