import Foundation
import StrataLog

/// Brings what a save changes in line with relationships that others have saved meanwhile, once a merge policy has said
/// which of the changes stay.
struct LateRelationships {
    private let context: NSManagedObjectContext
    private let ending: StoreEnding
    private let snapshot: Snapshot

    init(_ context: NSManagedObjectContext, _ ending: StoreEnding, _ snapshot: Snapshot) {
        self.context = context
        self.ending = ending
        self.snapshot = snapshot
    }

    /// - Parameter objects: those that the policy was asked about.
    /// - Throws: `CocoaError` 1600 if a rule denies a deletion; the store's error when a row cannot be read.
    func settle(_ objects: [NSManagedObject]) throws {
        guard ending.ownsReferences else { return }
        do {
            for object in objects where isPending(object) && object.isMarkedDeleted { try followRules(of: object) }
            context.pipeline.followDeletions()
            guard context.modelShapes?.hasPartners == true else { return }
            for object in context.pipeline.changed where isPending(object) { try alignPartners(of: object) }
        } catch let error as StoreError {
            throw StoreFailure.cocoaError(error, reading: ending.handle)
        }
    }

    /// Makes the other ends of one-to-one relationships follow, which nobody else has changed.
    ///
    /// - Parameter objects: those at the ends that the save writes.
    /// - Throws: the store's error when a row cannot be read.
    func align(_ objects: [NSManagedObject]) throws {
        do {
            for object in objects where isPending(object) {
                if object.isMarkedDeleted { try leavePartners(of: object) } else { try alignPartners(of: object) }
            }
        } catch let error as StoreError {
            throw StoreFailure.cocoaError(error, reading: ending.handle)
        }
    }

    private func isPending(_ object: NSManagedObject) -> Bool {
        let isHere = object.storeIndex == ending.storeIndex || object.flags.contains(.inserted)
        return isHere && object.flags.contains(.listed) && !object.flags.contains(.gone)
    }

    /// The object as the store has it now; nil if it is deleted, or if its own changes are about to be a conflict.
    private func current(_ ref: ObjectRef) throws -> NSManagedObject? {
        guard !ref.isNull, let row = try snapshot.row(ref), let object = context.object(ref, ending.storeIndex),
            !object.isMarkedDeleted, !object.flags.contains(.gone)
        else { return nil }
        // A context that is pinned to an older state would not find the row.
        if object.isUnread, context.generation == nil { object.realize() }
        guard object.isUnread || object.version.sequence < row.version.sequence else { return object }
        if object.flags.contains(.dirtySlots) { return nil }
        try row.block.verify()
        ObjectMerge(object).rebase(row) { _, _, _ in true }
        return object
    }

    // MARK: Deletions

    /// Follows the delete rules of a deleted object to those that refer to it in the store.
    private func followRules(of object: NSManagedObject) throws {
        guard let row = try snapshot.row(object.ref) else { return }
        for relationship in object.shape.relationships where relationship.deleteRule != .noActionDeleteRule {
            switch relationship.storage {
            case .slot(let slot):
                let isPartner = relationship.inverse?.isToMany == false
                if relationship.deleteRule == .nullifyDeleteRule, !isPartner { continue }
                guard slot < row.block.slotCount else { continue }
                guard let other = try current(row.block.column(slot).reference(row.index)) else { continue }
                if isPartner, !refers(other, relationship, to: object) { continue }
                // Its owner has left it before it was deleted.
                if !isPartner, object.overlay?.isDirty(slot) == true { continue }
                try apply(relationship, of: object, to: other)
            case .inverse(let slot):
                let postings = ending.handle.map.postings(relationship.destination, slot)
                for ref in try snapshot.referrers(postings: postings, to: object.ref) {
                    guard let other = try current(ref), refers(other, relationship, to: object) else { continue }
                    object.existingState(relationship)?.forget(other, isMember: true)
                    try apply(relationship, of: object, to: other)
                }
            case .link:
                // The links themselves go with the object.
                if relationship.deleteRule == .nullifyDeleteRule { continue }
                let reader = RelationshipReader(handle: ending.handle, snapshot: snapshot)
                for member in try reader.members(relationship, of: object.ref) {
                    guard let other = context.object(member.ref, ending.storeIndex), !other.isMarkedDeleted,
                        !other.flags.contains(.gone),
                        object.existingState(relationship)?.removed.contains(other) != true
                    else { continue }
                    try apply(relationship, of: object, to: other)
                }
            }
        }
    }

    private func refers(
        _ other: NSManagedObject, _ relationship: RelationshipShape, to object: NSManagedObject
    ) -> Bool {
        relationship.inverse.map { other.toOneTarget($0) === object } ?? false
    }

    private func apply(
        _ relationship: RelationshipShape, of object: NSManagedObject, to other: NSManagedObject
    ) throws {
        switch relationship.deleteRule {
        case .cascadeDeleteRule: context.deleteObject(other)
        case .denyDeleteRule:
            throw ValidationErrors.error(
                .validationRelationshipDeniedDelete, object, relationship.name, value: other)
        default:
            if let inverse = relationship.inverse { other.writeReference(inverse, nil) }
        }
    }

    // MARK: One-to-one relationships

    /// Makes the other ends agree with what an object is going to refer to, and the object with those that belong to
    /// somebody else.
    private func alignPartners(of object: NSManagedObject) throws {
        guard !object.isMarkedDeleted, object.flags.contains(.dirtySlots) else { return }
        for relationship in object.shape.partners {
            guard let inverse = relationship.inverse, let new = object.changedTarget(relationship) else { continue }
            if let target = new, !target.isMarkedDeleted,
                target.toOneTarget(inverse) !== object
            {
                try claim(target, inverse, relationship, for: object)
            }
            guard object.storeIndex != 0, let row = try snapshot.row(object.ref),
                row.version.sequence == object.version.sequence, relationship.slot < row.block.slotCount
            else { continue }
            let old = try row.block.column(relationship.slot).reference(row.index)
            if old == object.toOneTarget(relationship)?.ref ?? .null { continue }
            if let other = try current(old), other.toOneTarget(inverse) === object {
                other.writeReference(inverse, nil)
            }
        }
    }

    /// Makes those that go on referring to a deleted object refer to nothing.
    private func leavePartners(of object: NSManagedObject) throws {
        guard let row = try snapshot.row(object.ref) else { return }
        for relationship in object.shape.partners where relationship.deleteRule == .nullifyDeleteRule {
            guard relationship.slot < row.block.slotCount,
                let other = try current(row.block.column(relationship.slot).reference(row.index)),
                refers(other, relationship, to: object)
            else { continue }
            try apply(relationship, of: object, to: other)
        }
    }

    /// The target does not refer back to the object: it does from now on if it is free.
    private func claim(
        _ target: NSManagedObject, _ inverse: RelationshipShape, _ relationship: RelationshipShape,
        for object: NSManagedObject
    ) throws {
        if target.storeIndex != 0, !target.flags.contains(.gone) {
            let isThere = try snapshot.row(target.ref) != nil
            if isThere, try current(target.ref) == nil { return }
        }
        let holder = target.toOneTarget(inverse)
        if holder === object { return }
        // Not by one that the save makes refer to something else.
        let leaves = holder?.changedTarget(relationship).map { $0 !== target } ?? false
        let isTaken = holder.map { !$0.isMarkedDeleted && !leaves } ?? false
        if target.flags.contains(.gone) || isTaken {
            object.writeReference(relationship, nil)
        } else {
            target.writeReference(inverse, object)
        }
    }
}
