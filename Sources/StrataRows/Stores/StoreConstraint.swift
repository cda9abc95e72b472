import StrataLog

/// A uniqueness constraint of a model as one store keeps it.
package struct StoreConstraint: Sendable {
    /// The entity that declares it.
    package let shape: EntityShape
    package let names: [String]
    package let unique: UniqueConstraint

    /// The constraints on the entities that a store holds. One that names a property which is not stored in the
    /// object's row (transient, to-many) binds nobody.
    static func all(_ shapes: ModelShapes, _ map: StoreMap) -> [StoreConstraint] {
        shapes.shapes.flatMap { shape in
            shape.entity.uniquenessConstraintNames.compactMap { names in
                guard map.holds(shape), !names.isEmpty else { return nil }
                let slots = names.compactMap { name -> Int? in
                    guard case .slot(let slot)? = shape.property(name), shape.slots[slot].isPersistent else {
                        return nil
                    }
                    return slot
                }
                guard slots.count == names.count else { return nil }
                return StoreConstraint(
                    shape: shape, names: names,
                    unique: UniqueConstraint(
                        root: map.root(shape),
                        entities: shape.family.map { map.numbers[$0.index] }.filter { $0 != 0 }, slots: slots))
            }
        }
    }
}
