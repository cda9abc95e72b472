import Foundation

extension NSManagedObjectContext {
    /// How often one object's derived attributes are computed anew in one save: those that are derived from each other
    /// in a circle must come to an end.
    private static let maximumDerivationRounds = 16

    /// Computes the derived attributes of everything that is saved and of what depends on it. Objects whose attributes
    /// get another value become part of the save.
    final func updateDerivedAttributes() {
        guard let shapes = modelShapes, shapes.hasDerivations else { return }
        let time = Date()
        var queue = changed.filter { $0.hasChanges }
        var rounds: [ObjectIdentifier: Int] = [:]
        var index = 0
        for object in queue where !object.isDeleted {
            for derivation in object.shape.derivations where derivation.isTime {
                object.setBoxedValue(time, slot: derivation.slot)
            }
        }
        while index < queue.count {
            let object = queue[index]
            index += 1
            if rounds[ObjectIdentifier(object), default: 0] >= Self.maximumDerivationRounds { continue }
            rounds[ObjectIdentifier(object), default: 0] += 1
            if !object.isDeleted { derive(object) }
            for dependency in shapes.dependencies where dependency.isTouched(by: object) {
                for owner in dependency.owners(of: object) where derive(owner) {
                    queue.append(owner)
                }
            }
        }
        // What is computed anew in every save is nothing that a user could want to undo.
        guard let manager = undoRecorder?.manager, !event.isEmpty else { return }
        manager.disableUndoRegistration()
        processPendingChanges()
        manager.enableUndoRegistration()
    }

    /// Whether a value changed.
    @discardableResult
    final func derive(_ object: NSManagedObject) -> Bool {
        var isChanged = false
        for derivation in object.shape.derivations where !derivation.isTime {
            let value = derivation.value(for: object, at: Date())
            if Operand(value).equals(Operand(object.boxedValue(derivation.slot))) { continue }
            object.setBoxedValue(value, slot: derivation.slot)
            isChanged = true
        }
        return isChanged
    }
}

extension DerivationDependency {
    /// The objects with the derived attribute.
    func owners(of object: NSManagedObject) -> [NSManagedObject] {
        var level = [object]
        for step in way {
            var next: [NSManagedObject] = []
            var seen: Set<ObjectIdentifier> = []
            for object in level {
                guard let relationship = object.shape.relationship(step.name) else { continue }
                for target in object.targets(relationship)
                where !target.isDeleted && seen.insert(ObjectIdentifier(target)).inserted {
                    next.append(target)
                }
            }
            level = next
        }
        return level
    }
}
