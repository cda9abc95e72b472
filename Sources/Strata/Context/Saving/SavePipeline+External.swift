import Foundation

// Relationships between stores.
extension SavePipeline {
    /// Refuses relationships that lead to objects of another store, before any store is written: a reference and a link
    /// are keys of their own store, where they would name another object, or none.
    ///
    /// - Throws: `CocoaError` with the code `managedObjectExternalRelationship`.
    func refuseExternalRelationships(_ all: ObjectChanges, _ keys: inout KeyReservation) throws {
        for object in all.inserted { try refuse(object, &keys) }
        for object in all.updated { try refuse(object, &keys) }
    }

    private func refuse(_ object: NSManagedObject, _ keys: inout KeyReservation) throws {
        let store = try keys.storeIndex(for: object)
        if let overlay = object.overlay {
            for relationship in object.shape.relationships where relationship.slot >= 0 {
                let slot = relationship.slot
                guard overlay.isPresent(slot), !overlay.isNull(slot) else { continue }
                let target = overlay.object(at: Int(object.shape.codes[slot].offset))
                try refuse(target, relationship, of: object, store, &keys)
            }
        }
        for (relationship, state) in zip(object.shape.relationships, object.toMany) {
            // Elsewhere the members refer to their owner.
            guard let state, state.isChanged, case .link = relationship.storage else { continue }
            for member in state.added.objects { try refuse(member, relationship, of: object, store, &keys) }
        }
    }

    private func refuse(
        _ target: NSManagedObject, _ relationship: RelationshipShape, of object: NSManagedObject, _ store: UInt16,
        _ keys: inout KeyReservation
    ) throws {
        if target.isMarkedDeleted { return }
        // What is in no context is found where the row is written.
        if target.storeIndex == 0, !target.isInserted || !target.isInContext(of: object) { return }
        if try keys.storeIndex(for: target) == store { return }
        throw SaveFailure.external(relationship.name, of: object, target)
    }
}
