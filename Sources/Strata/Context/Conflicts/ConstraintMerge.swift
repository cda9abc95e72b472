import Foundation
import StrataLog

/// Resolves conflicts about values that must be unique, as the types of merge policies do.
struct ConstraintMerge {
    private let type: NSMergePolicyType

    init(_ type: NSMergePolicyType) {
        self.type = type
    }

    /// Whether the values of the context are wanted.
    private var objectWins: Bool {
        type == .overwriteMergePolicyType || type == .mergeByPropertyObjectTrumpMergePolicyType
    }

    func resolve(_ conflict: NSConstraintConflict) throws {
        // An earlier conflict may have been about the same objects.
        let objects = conflict.conflictingObjects.filter { $0.isInserted || $0.isUpdated }
        guard let stored = conflict.databaseObject else {
            try resolveAmong(objects, conflict.constraint)
            return
        }
        guard !stored.isMarkedDeleted, !stored.flags.contains(.gone) else { return }
        // The save is tried again, and finds who has the values then.
        guard try conflict.isInTheWay() else { return }
        let inserted = objects.filter(\.isInserted)
        let updated = objects.filter { !$0.isInserted }
        if !updated.isEmpty {
            if objectWins {
                // Of several the last one has the values in the end; inserted ones become that one.
                stored.managedObjectContext?.delete(stored)
                try resolveAmong(inserted + updated, conflict.constraint)
                return
            }
            for object in updated { giveUp(object, conflict.constraint) }
        }
        guard !inserted.isEmpty else { return }
        try resolve(inserted, with: stored, isNew: conflict.isDatabaseObjectNew)
    }

    // MARK: Within the context

    /// Leaves the values to one of the objects: the last one if the context's values are wanted, else the first, but
    /// rather to one that is stored.
    private func resolveAmong(_ objects: [NSManagedObject], _ constraint: [String]) throws {
        guard objects.count > 1 else { return }
        let stored = objects.filter { $0.storeIndex != 0 }
        let candidates = stored.isEmpty ? objects : stored
        guard let winner = objectWins ? candidates.last : candidates.first else { return }
        for object in objects where object !== winner {
            if object.storeIndex != 0 {
                giveUp(object, constraint)
            } else if type == .rollbackMergePolicyType {
                winner.managedObjectContext?.delete(object)
            } else {
                absorb(object, into: winner, overriding: objectWins && !stored.isEmpty)
            }
        }
    }

    /// An updated object takes its old values back: all with rollback, else those of the constraint.
    private func giveUp(_ object: NSManagedObject, _ constraint: [String]) {
        if type == .rollbackMergePolicyType, let row = try? ObjectMerge.newestRow(of: object) {
            ObjectMerge(object).rollBack(row)
            return
        }
        for name in constraint {
            guard case .slot(let slot)? = object.shape.property(name) else { continue }
            object.setValue(object.committedRow().flatMap { object.committedValue(slot, $0) }, forKey: name)
        }
    }

    // MARK: With the store

    private func resolve(_ objects: [NSManagedObject], with stored: NSManagedObject, isNew: Bool) throws {
        var stored = stored
        var isNew = isNew
        for object in objects {
            if type == .rollbackMergePolicyType {
                object.managedObjectContext?.delete(object)
            } else if isNew, object.shapeID == stored.shapeID, let row = try ObjectMerge.newestRow(of: stored) {
                try takeOver(object, from: stored, row)
                stored = object
                isNew = false
            } else {
                stored.realize()
                if type == .overwriteMergePolicyType { makeComplete(object) }
                absorb(object, into: stored, overriding: objectWins)
            }
        }
    }

    /// The inserted object becomes the stored one, whose own object nobody has seen.
    private func takeOver(_ object: NSManagedObject, from stored: NSManagedObject, _ row: Row) throws {
        guard let registry = object.registry, let context = registry.context,
            let handle = registry.handle(stored.storeIndex)
        else { return }
        if !object.flags.contains(.unobserved) { object.observedEverythingWillChange() }
        defer { if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() } }
        registry.forget(stored)
        stored.registry = nil
        stored.flags.insert(.gone)
        if type == .overwriteMergePolicyType { makeComplete(object) }
        let references = ReferenceRebase(inserted: object)
        // Children go on with the object under its new name.
        context.sharePermanentID(row.ref, of: object, handle)
        registry.move(object, to: row.ref, stored.storeIndex)
        object.flags.subtract([.inserted, .defaultsBelow])
        object.flags.insert(.updated)
        if object.overlay != nil {
            _ = object.ensuredOverlay
            object.flags.insert(.dirtySlots)
        }
        object.attach(row.block, row: row.index, location: row.location)
        for (index, state) in object.toMany.enumerated() {
            guard let state else { continue }
            // The states of fetched properties come after those of relationships.
            guard index < object.shape.relationships.count else {
                state.unload()
                continue
            }
            try forgetStored(state, object.shape.relationships[index], of: object)
            state.unload()
        }
        context.pipeline.list(object, in: context)
        if objectWins { references.apply() } else { ObjectMerge(object).rollBack(row) }
    }

    /// Members of a relationship kept by links that the stored object has already are no additions.
    private func forgetStored(
        _ state: ToManyState, _ relationship: RelationshipShape, of object: NSManagedObject
    ) throws {
        guard case .link = relationship.storage, !state.added.isEmpty,
            let handle = object.registry?.handle(object.storeIndex)
        else { return }
        let reader = RelationshipReader(handle: handle, snapshot: handle.log.snapshot)
        for member in try reader.members(relationship, of: object.ref) {
            guard let other = object.registry?.object(member.ref, object.storeIndex) else { continue }
            state.added.remove(other)
            if let inverse = relationship.inverse { other.existingState(inverse)?.forget(object, isMember: true) }
        }
    }

    /// Makes every value of an inserted object one that was set.
    private func makeComplete(_ object: NSManagedObject) {
        for (slot, info) in object.shape.slots.prefix(object.shape.persistentSlotCount).enumerated()
        where !info.isHidden && object.overlay?.isDirty(slot) != true {
            if info.relationshipIndex >= 0 {
                object.writeReference(object.shape.relationships[info.relationshipIndex], nil)
            } else {
                object.setBoxedValue(info.defaultValue, slot: slot)
            }
        }
    }

    /// Hands the values that were set on an inserted object, and everything that refers to it, to another one. The
    /// inserted object leaves the context.
    private func absorb(_ object: NSManagedObject, into other: NSManagedObject, overriding: Bool) {
        guard let overlay = object.overlay, let context = object.registry?.context else { return }
        let shape = object.shape
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated()
        where info.relationshipIndex < 0 && !info.isHidden && overlay.isDirty(slot) {
            guard case .slot(let otherSlot)? = other.shape.property(info.name) else { continue }
            // Between two inserted objects, values that only one of them was given stay.
            let isFree = other.isInserted && other.overlay?.isDirty(otherSlot) != true
            if overriding || isFree { other.setBoxedValue(object.boxedValue(slot), slot: otherSlot) }
        }
        Self.handOver(object, to: other, overriding: overriding)
        // What children know as the inserted object is the other one from now on.
        if other.storeIndex != 0, let handle = context.registry.handle(other.storeIndex) {
            context.sharePermanentID(other.ref, of: object, handle)
        }
        object.flags.insert([.deleted, .deletePropagated])
        context.pipeline.list(object, in: context)
        context.pipeline.mergedAway.append((object, other))
    }

    /// Hands what refers to an inserted object, and what it refers to, to another one.
    private static func handOver(_ object: NSManagedObject, to other: NSManagedObject, overriding: Bool) {
        for relationship in object.shape.relationships {
            guard let target = other.shape.relationship(relationship.name) else { continue }
            if relationship.isToMany {
                for member in object.toManyOrder(relationship) {
                    object.removeFromMany(relationship, member)
                    other.addToMany(target, member)
                }
            } else if let member = object.toOneTarget(relationship) {
                let position = overriding ? Self.position(of: object, in: relationship.inverse, of: member) : nil
                object.setToOne(relationship, to: nil)
                if overriding || (other.isInserted && other.toOneTarget(target) == nil) {
                    other.setToOne(target, to: member)
                    if let position, let inverse = target.inverse { move(other, in: inverse, of: member, to: position) }
                }
            }
        }
    }

    /// Hands over what a policy has let refer to objects since they were merged into others.
    static func forward(_ mergedAway: [(object: NSManagedObject, successor: NSManagedObject)]) {
        for (object, successor) in mergedAway {
            object.flags.subtract([.deleted, .deletePropagated])
            handOver(object, to: successor, overriding: true)
            object.flags.insert([.deleted, .deletePropagated])
        }
    }

    /// Where an object is among the members of an ordered relationship; nil for one without order.
    private static func position(
        of object: NSManagedObject, in relationship: RelationshipShape?, of owner: NSManagedObject
    ) -> Int? {
        guard let relationship, relationship.isOrdered else { return nil }
        return owner.toManyOrder(relationship).firstIndex { $0 === object }
    }

    private static func move(
        _ object: NSManagedObject, in relationship: RelationshipShape, of owner: NSManagedObject, to position: Int
    ) {
        guard let current = Self.position(of: object, in: relationship, of: owner) else { return }
        // One that stood before the place has left it free.
        let target = current < position ? position - 1 : position
        if target != current { owner.moveInMany(relationship, from: current, to: target) }
    }
}
