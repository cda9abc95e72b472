import Foundation
import StrataLog

// What a child context's registry does about objects that its parent has not saved.
extension ObjectRegistry {
    /// A fault for an object that only the parent knows, by its temporary reference; it is not in the table yet.
    func newUnsavedFault(_ ref: ObjectRef, _ shape: EntityShape) -> NSManagedObject {
        let object = shape.objectClass.made(shape.entity, insertInto: nil)
        object.ref = ref
        object.storeIndex = Self.unsavedIndex
        add(object)
        return object
    }

    /// Objects that the parent has just taken over are no longer the context's own insertions. Those that have
    /// permanent IDs already are passed over.
    func becameUnsaved(_ objects: ContiguousArray<NSManagedObject>) {
        objects.forEachUnretained { object in
            if object.storeIndex != 0 { return }
            move(object, to: object.ref, Self.unsavedIndex)
        }
    }

    /// Gives objects their permanent references, as far as they are known.
    func adopt(_ ids: PermanentIDs) {
        for object in unsavedObjects {
            guard let entry = ids.entry(for: object.ref) else { continue }
            move(object, to: entry.ref, storeIndex(of: entry.handle))
        }
    }
}

extension NSManagedObject {
    /// The ID of an object that the parent has not saved, as far as this context knows: the parent's side may have
    /// done so meanwhile. So it is not kept.
    final func unsavedID() -> NSManagedObjectID {
        let entry = registry?.permanentIDs?.entry(for: ref)
        return NSManagedObjectID(ref: entry?.ref ?? ref, identity: entry?.handle.identity, shape: shape)
    }
}
