public import Foundation
import StrataIO

// What generated methods such as `addToBooks(_:)` call. Not API. The compiler chooses by the declared parameters.
extension NSManagedObject {
    /// Adds an object to a to-many relationship.
    public final func _add(_ object: NSManagedObject, _ slot: ToManySlot<NSManagedObject>) { add(object, to: slot) }

    /// Adds objects to a to-many relationship.
    public final func _add<Objects: Sequence>(_ objects: Objects, _ slot: ToManySlot<NSManagedObject>) {
        for object in objects { add(member(object, slot), to: slot) }
    }

    /// Removes an object from a to-many relationship.
    public final func _remove(_ object: NSManagedObject, _ slot: ToManySlot<NSManagedObject>) {
        remove(object, from: slot)
    }

    /// Removes objects from a to-many relationship.
    public final func _remove<Objects: Sequence>(_ objects: Objects, _ slot: ToManySlot<NSManagedObject>) {
        for object in objects { remove(member(object, slot), from: slot) }
    }

    /// Inserts an object into an ordered relationship.
    public final func _insert(_ object: NSManagedObject, at index: Int, _ slot: ToManySlot<NSManagedObject>) {
        mutableOrderedSetValue(forKey: slot.name).insert(object, at: index)
    }

    /// Inserts objects into an ordered relationship; each has its index in the result.
    public final func _insert<Objects: Sequence>(
        _ objects: Objects, at indexes: NSIndexSet, _ slot: ToManySlot<NSManagedObject>
    ) {
        let set = mutableOrderedSetValue(forKey: slot.name)
        for (object, index) in zip(objects, indexes) { set.insert(member(object, slot), at: index) }
    }

    /// Removes what is at a place of an ordered relationship.
    public final func _remove(at index: Int, _ slot: ToManySlot<NSManagedObject>) {
        mutableOrderedSetValue(forKey: slot.name).removeObject(at: index)
    }

    /// Removes what is at some places of an ordered relationship.
    public final func _remove(at indexes: NSIndexSet, _ slot: ToManySlot<NSManagedObject>) {
        let set = mutableOrderedSetValue(forKey: slot.name)
        for index in indexes.reversed() { set.removeObject(at: index) }
    }

    /// Puts an object in the place of another of an ordered relationship.
    public final func _replace(at index: Int, with object: NSManagedObject, _ slot: ToManySlot<NSManagedObject>) {
        mutableOrderedSetValue(forKey: slot.name).replaceObject(at: index, with: object)
    }

    /// Puts objects in the places of others of an ordered relationship.
    public final func _replace<Objects: Sequence>(
        at indexes: NSIndexSet, with objects: Objects, _ slot: ToManySlot<NSManagedObject>
    ) {
        let set = mutableOrderedSetValue(forKey: slot.name)
        for (object, index) in zip(objects, indexes) { set.replaceObject(at: index, with: member(object, slot)) }
    }

    private func member(_ object: Any, _ slot: ToManySlot<NSManagedObject>) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            programmerError(
                "\(shape.subject).\(slot.name)", "a \(type(of: object)) cannot be in the relationship",
                "Use managed objects of the relationship's destination")
        }
        return object
    }
}
