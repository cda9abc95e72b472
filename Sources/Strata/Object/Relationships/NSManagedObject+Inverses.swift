import Foundation
import StrataLog
import StrataRuntime
import StrataSupport

// Both ends of a relationship are one fact: every change below changes the two sides together.
extension NSManagedObject {
    final func setToOne(_ relationship: RelationshipShape, to target: NSManagedObject?) {
        if flags.contains(.scratch) {
            checkTarget(target, relationship)
            return writeReference(relationship, target)
        }
        let old = toOneTarget(relationship)
        checkTarget(target, relationship)
        writeReference(relationship, target)
        guard old !== target, let inverse = relationship.inverse else { return }
        if inverse.isToMany {
            old?.memberLeft(inverse, self)
            target?.memberCame(inverse, self)
            return
        }
        if let old, old.toOneTarget(inverse) === self { old.writeReference(inverse, nil) }
        guard let target else { return }
        let previous = target.toOneTarget(inverse)
        if let previous, previous !== self { previous.writeReference(relationship, nil) }
        target.writeReference(inverse, self)
    }

    /// Sets a reference of an object that has none, to an object whose to-many relationship has been changed before:
    /// what an import does for nearly every object. Does nothing and returns false in all other cases.
    @inline(__always)
    final func setNew(_ relationship: RelationshipShape, to target: NSManagedObject) -> Bool {
        if flags.contains(.scratch), let overlay, !overlay.isPresent(relationship.slot),
            relationship.destinationID == target.shapeID
        {
            putNew(target, relationship.slot, overlay)
            return true
        }
        guard flags.isSuperset(of: .writable), blockReference == nil, let overlay,
            !overlay.isPresent(relationship.slot), relationship.setInverseIndex >= 0, isInContext(of: target),
            relationship.destinationID == target.shapeID, target.flags.isSuperset(of: .toManyWritable),
            !target.flags.isDisjoint(with: .pending), !target.flags.contains(.gone),
            let state = target.stateReference(relationship.setInverseIndex)
        else { return false }
        putNew(target, relationship.slot, overlay)
        // SAFETY: the target holds its states, and nothing of this lets go of them.
        state.withBorrowed { $0.insert(self, isOrdered: false) }
        return true
    }

    @inline(__always)
    private final func putNew(_ target: NSManagedObject, _ slot: Int, _ overlay: Overlay) {
        let address = overlay.base + Int(summary.pointee.codes[slot].offset)
        address.assumingMemoryBound(to: NSManagedObject.self).initialize(to: target)
        overlay.markChanged(slot, isNull: false)
    }

    /// The state of a to-many relationship, without a reference to it; nil if there is none yet.
    @inline(__always)
    private final func stateReference(_ index: Int) -> Unmanaged<ToManyState>? {
        toMany.withUnsafeBufferPointer { states in
            guard index < states.count, let references = ReferenceLayout.references(states) else { return nil }
            return references[index]
        }
    }

    final func addToMany(_ relationship: RelationshipShape, _ object: NSManagedObject) {
        if flags.contains(.scratch) {
            // Refused when the row is written; the other objects are left alone.
            _ = state(relationship)
            return
        }
        checkTarget(object, relationship)
        if let inverse = relationship.inverse, !inverse.isToMany {
            if object.toOneTarget(inverse) === self { return }
            object.setToOne(inverse, to: self)
            return
        }
        let state = loadedState(relationship)
        guard !state.members.contains(object) else { return }
        let isObserved = observedWillChange(relationship, coming(to: state))
        defer { if isObserved { observedDidChange(relationship.name) } }
        recordReferrer()
        state.insert(object, isOrdered: relationship.isOrdered)
        guard let inverse = relationship.inverse, !(relationship.isSymmetric && object === self) else { return }
        object.memberCame(inverse, self)
    }

    final func removeFromMany(_ relationship: RelationshipShape, _ object: NSManagedObject) {
        if let inverse = relationship.inverse, !inverse.isToMany {
            if object.toOneTarget(inverse) === self { object.setToOne(inverse, to: nil) }
            return
        }
        let state = loadedState(relationship)
        guard state.members.contains(object) else { return }
        let isObserved = observedWillChange(relationship, leaving(object, relationship))
        defer { if isObserved { observedDidChange(relationship.name) } }
        recordChange(.dirtyToMany)
        state.remove(object, isOrdered: relationship.isOrdered)
        guard let inverse = relationship.inverse, !(relationship.isSymmetric && object === self) else { return }
        object.memberLeft(inverse, self)
    }

    /// Makes `objects` the members; the order counts for ordered relationships.
    ///
    /// - Parameter change: what observers are told that it is.
    final func setToMany(
        _ relationship: RelationshipShape, to objects: [NSManagedObject], as change: OrderedChange = .setting
    ) {
        if flags.contains(.scratch) {
            // Refused when the row is written; the other objects are left alone.
            _ = state(relationship)
            return
        }
        let current = toManyMembers(relationship)
        let isObserved = observedWillChange(relationship, change)
        defer { if isObserved { observedDidChange(relationship.name) } }
        recordChange(.dirtyToMany)
        let wanted = Set(objects)
        for object in current where !wanted.contains(object) { removeFromMany(relationship, object) }
        for object in objects where !current.contains(object) { addToMany(relationship, object) }
        if relationship.isOrdered {
            let state = loadedState(relationship)
            var seen: Set<NSManagedObject> = []
            state.setOrder(objects.filter { seen.insert($0).inserted })
        }
    }

    /// Records on this side that `object` now refers to this one.
    final func memberCame(_ relationship: RelationshipShape, _ object: NSManagedObject) {
        let state = relationship.isOrdered ? loadedState(relationship) : state(relationship)
        let isObserved = observedWillChange(relationship, coming(to: state))
        defer { if isObserved { observedDidChange(relationship.name) } }
        recordReferrer()
        state.insert(object, isOrdered: relationship.isOrdered)
    }

    /// Records on this side that `object` no longer refers to this one.
    final func memberLeft(_ relationship: RelationshipShape, _ object: NSManagedObject) {
        guard !flags.contains(.gone) else { return }
        let isObserved = observedWillChange(relationship, leaving(object, relationship))
        defer { if isObserved { observedDidChange(relationship.name) } }
        // To undo the change, the order before it has to be known.
        let needsOrder = relationship.isOrdered && registry?.context?.undoRecorder != nil
        let state = needsOrder ? loadedState(relationship) : state(relationship)
        recordChange(.dirtyToMany)
        state.remove(object, isOrdered: relationship.isOrdered)
    }

    /// Sets the slot alone.
    final func writeReference(_ relationship: RelationshipShape, _ target: NSManagedObject?) {
        let slot = relationship.slot
        if !flags.isSuperset(of: .writable) { prepareToChange(slot) }
        let overlay = ensuredOverlay
        let address = (overlay.base + Int(shape.codes[slot].offset)).assumingMemoryBound(to: NSManagedObject.self)
        let holdsValue = overlay.holdsValue(slot)
        overlay.markChanged(slot, isNull: target == nil)
        // The old target goes last: its deinit must find this object in order.
        var released: NSManagedObject?
        if holdsValue { released = address.move() }
        if let target { address.initialize(to: target) }
        withExtendedLifetime(released) { released = nil }
        if !flags.contains(.unobserved) { completeObservedChange(slot) }
    }

    private func checkTarget(_ target: NSManagedObject?, _ relationship: RelationshipShape) {
        guard let target else { return }
        guard target.shape.isKind(of: relationship.destination) else {
            programmerError(
                "\(shape.name).\(relationship.name)",
                "the relationship takes objects of \(relationship.destination.name), not \(target.shape.name)",
                "Give an object of its destination entity")
        }
        if let own = registry, let other = target.registry, own !== other {
            programmerError(
                "\(shape.name).\(relationship.name)",
                "illegal attempt to establish a relationship '\(relationship.name)' between objects in different"
                    + " contexts (of \(shape.name) and \(target.shape.name))",
                "Use context.object(with: target.objectID) to have both in one context")
        }
    }
}

// MARK: Deleting

extension NSManagedObject {
    /// Follows the delete rules of an object that has been marked as deleted.
    final func propagateDeletion(in context: NSManagedObjectContext) {
        for index in 0..<shape.relationships.count {
            // SAFETY: the shape keeps its relationships for ever.
            shape.relationshipReferences[index].withBorrowed { propagateDeletion($0, in: context) }
        }
    }

    private func propagateDeletion(_ relationship: RelationshipShape, in context: NSManagedObjectContext) {
        switch relationship.deleteRule {
        case .nullifyDeleteRule:
            if !relationship.isToMany { return leaveTarget(relationship) }
            for target in targets(relationship) where !target.isMarkedDeleted { unlink(target, relationship) }
        case .cascadeDeleteRule:
            context.delete(cascading: context.membersToDelete(relationship, of: self) ?? targets(relationship))
        case .denyDeleteRule, .noActionDeleteRule:
            return
        }
    }

    /// Makes the other end of a to-one relationship forget this object, unless it is deleted, too, as what the deletion
    /// came from. The object does not keep what its row refers to: it is hardly asked again.
    private func leaveTarget(_ relationship: RelationshipShape) {
        guard relationship.inverse != nil else { return }
        let slot = relationship.slot
        if isUnread { realize(slot) }
        if let overlay, overlay.isPresent(slot) {
            if overlay.isNull(slot) { return }
            let target = overlay.object(at: Int(summary.pointee.codes[slot].offset))
            if !target.isMarkedDeleted { unlink(target, relationship) }
            return
        }
        if flags.contains(.sampled) { recordSample(slot) }
        let reference = storedReference(slot)
        if reference.isNull { return }
        guard let target = storedTarget(reference) ?? orphanTarget(reference) else { return }
        if !target.isMarkedDeleted { unlink(target, relationship) }
    }

    final func targets(_ relationship: RelationshipShape) -> [NSManagedObject] {
        relationship.isToMany ? toManyOrder(relationship) : toOneTarget(relationship).map { [$0] } ?? []
    }

    /// Makes `target` forget this object; this object's own side stays, for whoever looks at it until the save.
    private func unlink(_ target: NSManagedObject, _ relationship: RelationshipShape) {
        guard let inverse = relationship.inverse else { return }
        if inverse.isToMany {
            target.memberLeft(inverse, self)
        } else if target.toOneTarget(inverse) === self {
            target.writeReference(inverse, nil)
        }
    }

    /// Something refers to the object from now on. One that others have deleted records no changes, and the save has to
    /// find out about it.
    private func recordReferrer() {
        recordChange(.dirtyToMany)
        if flags.contains(.gone) { flags.insert(.dirtyToMany) }
    }
}
