import Foundation

// Computing derived attributes.
extension SavePipeline {
    /// How often derived attributes are computed anew in one save because of other ones: those that are derived from
    /// each other in a circle must come to an end.
    private static let maximumDerivationRounds = 16

    /// Computes the derived attributes of everything that is saved and of what depends on it, from what the store will
    /// have after the save (``DerivationView``). Objects whose attributes get another value become part of the save.
    ///
    /// Others may change what was looked at before the save is committed; then it is refused, and all is computed anew.
    ///
    /// - Parameter isFirst: false when validation or a merge policy has changed objects of a save after their derived
    ///   attributes were computed; those that are the time of the save stay then.
    /// - Throws: `CocoaError` when rows cannot be read.
    func updateDerivedAttributes(isFirst: Bool = true) throws {
        guard let shapes = context.modelShapes, shapes.hasDerivations else { return }
        let view = DerivationView(context)
        derivationView = view
        let time = Date()
        var sources = changed.filter { $0.hasChanges }
        for object in sources where !object.isMarkedDeleted {
            // An object without changes that a row or a link is written for keeps its time.
            if isFirst, !object.flags.isDisjoint(with: [.inserted, .dirtySlots, .dirtyToMany]) {
                for derivation in object.shape.derivations where derivation.isTime {
                    object.setBoxedValue(time, slot: derivation.slot)
                }
            }
            derive(object, in: view)
        }
        // All sources come before what is derived from them, so that an owner of many is looked at once.
        for _ in 0..<Self.maximumDerivationRounds where !sources.isEmpty {
            var owners: ContiguousArray<NSManagedObject> = []
            var seen: Set<ObjectIdentifier> = []
            for object in sources {
                for dependency in shapes.dependencies where dependency.isTouched(by: object) {
                    for owner in dependency.owners(of: object, in: view)
                    where seen.insert(ObjectIdentifier(owner)).inserted {
                        owners.append(owner)
                    }
                }
            }
            sources = owners.filter { derive($0, in: view) }
        }
        if let failure = view?.failure { throw failure }
        // What is computed anew in every save is nothing that a user could want to undo.
        guard let manager = context.undoRecorder?.manager, !event.isEmpty else { return }
        manager.disableUndoRegistration()
        context.processPendingChanges()
        manager.enableUndoRegistration()
    }

    /// Computes an object's derived attributes, of what the context knows if there is no view. Whether a value changed.
    @discardableResult
    func derive(_ object: NSManagedObject, in view: DerivationView? = nil) -> Bool {
        var isChanged = false
        for derivation in object.shape.derivations where !derivation.isTime {
            let view = derivation.isLocal ? nil : view
            view?.guardDerivation(from: object)
            let value = derivation.value(for: object, in: view)
            if Operand(value).equals(Operand(object.boxedValue(derivation.slot))),
                view?.hasStored(value, in: derivation.slot, of: object) ?? true
            {
                continue
            }
            object.setBoxedValue(value, slot: derivation.slot)
            isChanged = true
        }
        return isChanged
    }
}

extension DerivationDependency {
    /// The objects with the derived attribute.
    func owners(of object: NSManagedObject, in view: DerivationView? = nil) -> [NSManagedObject] {
        view?.guardDerivation(from: object)
        var level = [object]
        for step in way {
            var next: [NSManagedObject] = []
            var seen: Set<ObjectIdentifier> = []
            for object in level {
                guard let relationship = object.shape.relationship(step.name) else { continue }
                for target in view?.targets(relationship, of: object) ?? object.targets(relationship)
                where !target.isMarkedDeleted && seen.insert(ObjectIdentifier(target)).inserted {
                    view?.guardDerivation(from: target)
                    next.append(target)
                }
            }
            level = next
        }
        return level
    }
}
