import StrataLog

/// Keeps both ends of relationships in agreement when an object keeps a reference that it was given while its row is
/// exchanged for one with another reference.
///
/// The other ends know their members as differences from the store. When another context has moved the object from A to
/// B and it was moved from A to C here, then A has nothing to take away any more, but B has.
struct ReferenceRebase {
    private let object: NSManagedObject
    /// What the row that is about to go refers to.
    private var old: [(relationship: RelationshipShape, target: ObjectRef)] = []

    /// Nil when the object has no changes that matter.
    init?(_ object: NSManagedObject) {
        guard object.isMarkedDeleted || object.flags.contains(.dirtySlots), let committed = object.committedRow() else {
            return nil
        }
        self.object = object
        for relationship in object.shape.relationships where !relationship.isToMany && relationship.inverse != nil {
            guard relationship.slot < committed.block.slotCount else { continue }
            old.append((relationship, committed.block.verifiedColumn(relationship.slot).reference(committed.row)))
        }
        if old.isEmpty { return nil }
    }

    /// For an inserted object that is about to get a row: it has referred to nothing yet.
    init(inserted object: NSManagedObject) {
        self.object = object
        for relationship in object.shape.relationships where !relationship.isToMany && relationship.inverse != nil {
            old.append((relationship, .null))
        }
    }

    /// The object has its new row.
    func apply() {
        guard let context = object.registry?.context, let committed = object.committedRow() else { return }
        func target(_ ref: ObjectRef) -> NSManagedObject? {
            ref.isNull ? nil : context.object(ref, object.storeIndex)
        }
        for (relationship, before) in old {
            let isKept = object.isMarkedDeleted || object.overlay?.isDirty(relationship.slot) == true
            guard let inverse = relationship.inverse, isKept else { continue }
            let after = committed.block.verifiedColumn(relationship.slot).reference(committed.row)
            if before == after { continue }
            // What is deleted refers to nothing.
            let current = object.isMarkedDeleted ? nil : object.toOneTarget(relationship)
            let (old, new) = (target(before), target(after))
            guard inverse.isToMany else {
                if let new, new !== current, !object.isMarkedDeleted, new.toOneTarget(inverse) === object {
                    new.writeReference(inverse, nil)
                }
                continue
            }
            if let old, old === current {
                // It was set back to what it was; now that is a change.
                old.memberCame(inverse, object)
            } else {
                old?.existingState(inverse)?.removed.remove(object)
            }
            if let new, new === current {
                new.existingState(inverse)?.added.remove(object)
            } else {
                new?.memberLeft(inverse, object)
            }
        }
    }
}
