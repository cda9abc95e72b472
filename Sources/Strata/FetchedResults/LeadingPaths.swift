import Foundation

/// The to-one relationships that lead from results to what they are sorted and divided into sections by.
///
/// A result's place depends on the objects on these paths as it does on the result itself, but a change of one of them
/// is no change of the result: nobody else tells the controller of it.
struct LeadingPaths {
    /// A relationship on the way, and what of its destination counts.
    private struct Step {
        let relationship: RelationshipShape
        /// The destination's slot that the path goes on with; nil if that is anything but a stored value.
        let slot: Int?
    }

    private let paths: [[Step]]

    var isEmpty: Bool { paths.isEmpty }

    /// - Parameters:
    ///   - keyPaths: what results are sorted and divided by.
    ///   - shape: the entity of the results.
    init(_ keyPaths: [KeyPathComponents], from shape: EntityShape) {
        var known: Set<[String]> = []
        paths = keyPaths.compactMap { keyPath in
            let steps = Self.steps(keyPath.names, from: shape)
            return steps.isEmpty || !known.insert(keyPath.names).inserted ? nil : steps
        }
    }

    private static func steps(_ names: [String], from start: EntityShape) -> [Step] {
        var steps: [Step] = []
        var shape = start
        for (index, name) in names.enumerated() {
            guard case .slot(let slot)? = shape.property(name), shape.slots[slot].relationshipIndex >= 0 else { break }
            let relationship = shape.relationships[shape.slots[slot].relationshipIndex]
            guard !relationship.isToMany else { break }
            shape = relationship.destination
            let next = index + 1 < names.count ? storedSlot(names[index + 1], of: shape) : nil
            steps.append(Step(relationship: relationship, slot: next))
        }
        return steps
    }

    /// Nil for values that may change without being set: computed, transient and derived ones.
    private static func storedSlot(_ name: String, of shape: EntityShape) -> Int? {
        guard case .slot(let slot)? = shape.property(name), shape.slots[slot].isPersistent,
            !(shape.slots[slot].attribute is NSDerivedAttributeDescription)
        else { return nil }
        return slot
    }

    /// Whether a path may pass objects of an entity.
    func mayPass(_ shape: EntityShape) -> Bool {
        paths.contains { steps in steps.contains { shape.isKind(of: $0.relationship.destination) } }
    }

    /// Whether something that counts was set in an object in the event that ends.
    func countsInEvent(_ object: NSManagedObject) -> Bool {
        // What undoing has set back does not count as set.
        if object.registry?.context?.undoRecorder != nil { return mayPass(object.shape) }
        return paths.contains { steps in
            steps.contains { step in
                guard object.shape.isKind(of: step.relationship.destination) else { return false }
                guard let slot = step.slot else { return true }
                return object.overlay?.isChangedInEvent(slot) ?? true
            }
        }
    }

    /// Whether a path from a result passes one of some objects.
    ///
    /// - Complexity: O(steps). Fires the fault of the result, and those of objects that are not the last on their path.
    func leads(from result: NSManagedObject, toOneOf objects: Set<ObjectIdentifier>) -> Bool {
        paths.contains { steps in
            var object = result
            for step in steps {
                // A relationship has one index in an entity and its subentities.
                let relationship = object.shape.relationships[step.relationship.index]
                guard let target = object.toOneTarget(relationship) else { return false }
                if objects.contains(ObjectIdentifier(target)) { return true }
                object = target
            }
            return false
        }
    }
}
