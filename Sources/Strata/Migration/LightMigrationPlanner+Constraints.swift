import Foundation
import StrataLog

// Values that must be unique from now on have to be looked at.
extension LightMigrationPlanner {
    /// - Throws: `CocoaError` 134111 when objects break a constraint that is new.
    /// - Complexity: O(1) without a new constraint, else O(n) in the objects that it binds.
    mutating func checkConstraints() throws {
        for shape in held {
            for names in shape.entity.uniquenessConstraintNames where try !check(names, of: shape) {
                obstacles.append("\(shape.name) has a new uniqueness constraint on \(names.joined(separator: ", "))")
            }
        }
    }

    /// Whether the rows that there are may stay; false when that cannot be said before they are copied.
    private func check(_ names: [String], of shape: EntityShape) throws -> Bool {
        let members = shape.family.filter { source($0).map { count($0) > 0 } ?? false }
        guard !members.isEmpty, !isOld(names, of: shape) else { return true }
        var unique: UniqueConstraint?
        for member in members {
            guard let entity = source(member).flatMap({ old.entity($0.name ?? "") }) else { return false }
            let sources = SlotSources(match, member)
            var slots: [Int] = []
            for name in names {
                guard case .slot(let slot)? = member.property(name), member.slots[slot].isPersistent else {
                    return true
                }
                guard let slot = sources.name(name).flatMap({ entity.slots.firstIndex(of: $0) }) else {
                    // A new property is null in all rows, which are like no other then, or has its default value.
                    return member.slots[slot].defaultValue == nil
                }
                // What was null may have a value from now on.
                let wasOptional = sources.attribute(name)?.isOptional ?? false
                if wasOptional, let attribute = member.slots[slot].attribute, !attribute.isOptional { return false }
                slots.append(slot)
            }
            // One table finds the values of all, where they lie in the same slots.
            guard let known = unique else {
                unique = UniqueConstraint(root: entity.root, entities: [entity.number], slots: slots)
                continue
            }
            guard known.root == entity.root, known.slots == slots else { return false }
            unique?.entities.append(entity.number)
        }
        guard let unique, let twins = try snapshot.duplicates(breaking: unique) else { return true }
        throw Self.violation(names, of: shape, twins)
    }

    /// Whether the older model had the constraint, for the same objects.
    private func isOld(_ names: [String], of shape: EntityShape) -> Bool {
        let entity = source(shape)
        let sources = SlotSources(match, shape)
        let before = Set(names.compactMap { sources.name($0) })
        let wasUnique = entity?.uniquenessConstraintNames.contains { Set($0) == before } == true
        let isSameFamily = shape.family.allSatisfy { member in
            guard var ancestor = source(member) else { return true }
            while ancestor !== entity, let parent = ancestor.superentity { ancestor = parent }
            return ancestor === entity
        }
        return wasUnique && before.count == names.count && isSameFamily
    }

    private static func violation(
        _ names: [String], of shape: EntityShape, _ twins: (first: ObjectRef, second: ObjectRef)
    ) -> any Error {
        let list = names.joined(separator: ", ")
        let reason = "constraint violation during attempted migration"
        return DescribedError(
            CocoaError.Code(rawValue: NSMigrationConstraintViolationError),
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The store cannot be migrated: \(shape.name) is unique by \(list) from now on, and there are objects "
                    + "with equal values, p\(twins.first.key) and p\(twins.second.key) among them.",
                "reason": reason, "entity": shape.name, "constraint": names,
            ])
    }
}
