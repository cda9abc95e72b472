import Foundation
import StrataLog

/// What an object had before it was read anew, as long as that is being reported: tells which properties have other
/// values now.
struct RefreshBase {
    private struct Members {
        let relationship: RelationshipShape
        let members: Set<NSManagedObject>
        /// Empty unless the relationship is ordered.
        let order: [NSManagedObject]
    }

    private let block: Block
    private let row: Int
    /// Of the relationships that had been read.
    private let members: [Members]

    /// Nil for an object without a row, whose values nobody has seen.
    init?(_ object: NSManagedObject) {
        guard let committed = object.committedRow() else { return nil }
        (block, row) = committed
        var members: [Members] = []
        for relationship in object.shape.relationships where relationship.isToMany {
            guard let state = object.existingState(relationship), state.isLoaded else { continue }
            members.append(
                Members(
                    relationship: relationship, members: state.members,
                    order: relationship.isOrdered ? state.order : []))
        }
        self.members = members
    }

    /// The names of the properties whose values differ; nil if the object cannot be compared any more. What the context
    /// itself has set is as it was.
    ///
    /// - Parameter includesUnread: whether relationships to many count that had not been read: nobody has seen their
    ///   members, but somebody may have counted them.
    /// - Complexity: O(properties), and reads the members of relationships that had been read.
    func changedKeys(of object: NSManagedObject, includesUnread: Bool = false) -> Set<String>? {
        guard let slots = changedSlots(of: object) else { return nil }
        var keys: Set<String> = []
        for slot in slots {
            let name = object.shape.slots[slot].name
            keys.insert(name)
            // A part of a composite attribute has the names of what it is in before its own.
            for index in name.indices where name[index] == "." { keys.insert(String(name[..<index])) }
        }
        for relationship in changedRelationships(of: object) { keys.insert(relationship.name) }
        if includesUnread {
            let read = Set(members.map(\.relationship.index))
            for relationship in object.shape.relationships where relationship.isToMany {
                if !read.contains(relationship.index) { keys.insert(relationship.name) }
            }
        }
        return keys
    }

    /// Adds what properties had that have something else now, unless there are values for them already.
    func addOldValues(of object: NSManagedObject, to values: inout [String: Any]) {
        for slot in changedSlots(of: object) ?? [] {
            let name = object.shape.slots[slot].name
            if values[name] == nil { values[name] = object.committedValue(slot, (block, row)) ?? NSNull() }
        }
        for entry in members where values[entry.relationship.name] == nil && hasChanged(entry, of: object) {
            values[entry.relationship.name] =
                entry.relationship.isOrdered ? NSOrderedSet(array: entry.order) : entry.members
        }
    }

    /// The objects in memory that the object has come to refer to, or no longer refers to, and that keep it among
    /// members they have read.
    func otherEnds(of object: NSManagedObject) -> [NSManagedObject] {
        guard let registry = object.registry, let current = object.committedRow() else { return [] }
        var found: [NSManagedObject] = []
        for relationship in object.shape.relationships where !relationship.isToMany {
            guard let inverse = relationship.inverse, inverse.isToMany, relationship.slot < block.slotCount else {
                continue
            }
            let before = block.verifiedColumn(relationship.slot).reference(row)
            let after = current.block.verifiedColumn(relationship.slot).reference(current.row)
            if before == after, !hasMoved(inverse.positionSlot, to: current) { continue }
            for ref in Set([before, after]) where !ref.isNull {
                guard let other = registry.object(ref, object.storeIndex) else { continue }
                if other.existingState(inverse)?.isLoaded == true { found.append(other) }
            }
        }
        return found
    }

    /// Whether an ordered relationship has the object at another position.
    private func hasMoved(_ slot: Int?, to current: (block: Block, row: Int)) -> Bool {
        guard let slot, slot < block.slotCount, slot < current.block.slotCount else { return false }
        return block.verifiedColumn(slot).int64(row) != current.block.verifiedColumn(slot).int64(current.row)
    }

    private func changedSlots(of object: NSManagedObject) -> [Int]? {
        if object.isUnread { return nil }
        guard let current = object.committedRow() else { return nil }
        let comparison = ColumnComparison(object)
        return (0..<object.shape.persistentSlotCount).filter { slot in
            guard !object.shape.slots[slot].isHidden, object.overlay?.isDirty(slot) != true else { return false }
            return comparison.value(slot, block, row) != comparison.value(slot, current.block, current.row)
        }
    }

    private func changedRelationships(of object: NSManagedObject) -> [RelationshipShape] {
        members.filter { hasChanged($0, of: object) }.map(\.relationship)
    }

    private func hasChanged(_ entry: Members, of object: NSManagedObject) -> Bool {
        let state = object.loadedState(entry.relationship)
        return entry.relationship.isOrdered ? state.order != entry.order : state.members != entry.members
    }
}
