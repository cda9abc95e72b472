public import Foundation
import StrataSupport

// What generated methods such as `addToBooks(_:)` call. Not API. The compiler chooses by the declared parameters.
extension NSManagedObject {
    /// Adds an object to a to-many relationship.
    public final func _add(_ object: NSManagedObject, _ slots: ManagedSlots, _ position: Int) {
        addToMany(relation(slots, position), object)
    }

    /// Adds objects to a to-many relationship.
    public final func _add<Objects: Sequence>(_ objects: Objects, _ slots: ManagedSlots, _ position: Int) {
        let relationship = relation(slots, position)
        for object in objects { addToMany(relationship, member(object, relationship)) }
    }

    /// Removes an object from a to-many relationship.
    public final func _remove(_ object: NSManagedObject, _ slots: ManagedSlots, _ position: Int) {
        removeFromMany(relation(slots, position), object)
    }

    /// Removes objects from a to-many relationship.
    public final func _remove<Objects: Sequence>(_ objects: Objects, _ slots: ManagedSlots, _ position: Int) {
        let relationship = relation(slots, position)
        for object in objects { removeFromMany(relationship, member(object, relationship)) }
    }

    /// Inserts an object into an ordered relationship.
    public final func _insert(_ object: NSManagedObject, at index: Int, _ slots: ManagedSlots, _ position: Int) {
        mutableOrderedSetValue(forKey: slots.name(position)).insert(object, at: index)
    }

    /// Inserts objects into an ordered relationship; each has its index in the result.
    public final func _insert<Objects: Sequence>(
        _ objects: Objects, at indexes: NSIndexSet, _ slots: ManagedSlots, _ position: Int
    ) {
        let relationship = relation(slots, position)
        let set = mutableOrderedSetValue(forKey: relationship.name)
        for (object, index) in zip(objects, indexes) { set.insert(member(object, relationship), at: index) }
    }

    /// Removes what is at a place of an ordered relationship.
    public final func _remove(at index: Int, _ slots: ManagedSlots, _ position: Int) {
        mutableOrderedSetValue(forKey: slots.name(position)).removeObject(at: index)
    }

    /// Removes what is at some places of an ordered relationship.
    public final func _remove(at indexes: NSIndexSet, _ slots: ManagedSlots, _ position: Int) {
        let set = mutableOrderedSetValue(forKey: slots.name(position))
        for index in indexes.reversed() { set.removeObject(at: index) }
    }

    /// Puts an object in the place of another of an ordered relationship.
    public final func _replace(at index: Int, with object: NSManagedObject, _ slots: ManagedSlots, _ position: Int) {
        mutableOrderedSetValue(forKey: slots.name(position)).replaceObject(at: index, with: object)
    }

    /// Puts objects in the places of others of an ordered relationship.
    public final func _replace<Objects: Sequence>(
        at indexes: NSIndexSet, with objects: Objects, _ slots: ManagedSlots, _ position: Int
    ) {
        let relationship = relation(slots, position)
        let set = mutableOrderedSetValue(forKey: relationship.name)
        for (object, index) in zip(objects, indexes) {
            set.replaceObject(at: index, with: member(object, relationship))
        }
    }

    private func relation(_ slots: ManagedSlots, _ position: Int) -> RelationshipShape {
        slots.toMany(position, shape)
    }

    private func member(_ object: Any, _ relationship: RelationshipShape) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            programmerError(
                "\(shape.subject).\(relationship.name)", "a \(type(of: object)) cannot be in the relationship",
                "Use managed objects of the relationship's destination")
        }
        return object
    }
}
