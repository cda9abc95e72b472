import Foundation
import StrataSupport

// Changes at a place. Membership goes through addToMany and removeFromMany, which keep the inverse; then the order is
// brought about.
extension NSManagedObject {
    /// Makes an object a member at `index` of an ordered relationship; does nothing if it is one already.
    ///
    /// - Complexity: that of inserting into an array.
    final func insertIntoMany(_ relationship: RelationshipShape, _ object: NSManagedObject, at index: Int) {
        let state = loadedState(relationship)
        guard index >= 0 && index <= state.members.count else {
            programmerError(
                "\(shape.name).\(relationship.name)",
                "index \(index) is beyond the \(state.members.count) objects of the relationship",
                "Insert at 0 to the count")
        }
        guard !state.members.contains(object) else { return }
        state.nextPlace = index
        defer { state.nextPlace = nil }
        addToMany(relationship, object)
    }

    final func removeFromMany(_ relationship: RelationshipShape, at index: Int) {
        removeFromMany(relationship, toManyOrder(relationship)[index])
    }

    /// Puts an object in the place of another; does nothing if it is a member already.
    final func replaceInMany(_ relationship: RelationshipShape, at index: Int, with object: NSManagedObject) {
        let state = loadedState(relationship)
        guard !state.members.contains(object) else { return }
        let isObserved = observedWillChange(relationship, OrderedChange(.replacement, [index]))
        defer { if isObserved { observedDidChange(relationship.name) } }
        removeFromMany(relationship, state.order[index])
        insertIntoMany(relationship, object, at: index)
    }

    /// Moves a member. `target` counts after the member has been taken out.
    final func moveInMany(_ relationship: RelationshipShape, from source: Int, to target: Int) {
        var order = toManyOrder(relationship)
        let object = order.remove(at: source)
        order.insert(object, at: target)
        arrange(relationship, order)
    }

    /// Makes the objects the members, in this order, as a change of those places that it changes; does nothing if they
    /// are that already.
    ///
    /// - Complexity: O(n).
    final func arrange(_ relationship: RelationshipShape, _ objects: [NSManagedObject]) {
        let order = toManyOrder(relationship)
        if order.elementsEqual(objects, by: ===) { return }
        setToMany(relationship, to: objects, as: OrderedChange(from: order, to: objects))
    }

    /// Whether an object is a member. Reads the members only of relationships that are to-many at both ends or have no
    /// inverse, and only at the first use.
    final func toManyContains(_ relationship: RelationshipShape, _ object: NSManagedObject) -> Bool {
        guard object.shape.isKind(of: relationship.destination), object.registry === registry else { return false }
        if let state = existingState(relationship) {
            if state.isLoaded { return state.members.contains(object) }
            if state.added.contains(object) { return true }
            if state.removed.contains(object) { return false }
        }
        if storeIndex == 0 { return false }
        if let inverse = relationship.inverse, !inverse.isToMany { return object.toOneTarget(inverse) === self }
        return loadedState(relationship).members.contains(object)
    }
}
