import Foundation
import StrataRuntime

/// A managed object as a set's member: equal and hashed as the object is, without asking it.
///
/// A `Set<NSManagedObject>` goes through the object's class for its hash and, at each collision, through `isEqual`, and
/// so brings every object into the caches, several times when it grows. That takes longer than all else that is done
/// for a notification.
struct ObjectMember: Hashable {
    let object: NSManagedObject

    @inline(__always)
    init(_ object: NSManagedObject) { self.object = object }

    @inline(__always)
    static func == (left: ObjectMember, right: ObjectMember) -> Bool { left.object === right.object }

    @inline(__always)
    func hash(into hasher: inout Hasher) { hasher.combine(NSManagedObject.addressHash(of: object)) }

    /// The same in one step, as for a number.
    @inline(__always)
    func _rawHashValue(seed: Int) -> Int { NSManagedObject.addressHash(of: object)._rawHashValue(seed: seed) }
}

extension Set where Element == ObjectMember {
    /// The same set as one of objects.
    ///
    /// - Precondition: no object's class overrides `hash` or `isEqual` (``MethodOverrides/equality``).
    consuming func asObjects() -> Set<NSManagedObject> {
        // A member has the layout of the reference that it stands for, and is hashed as the object.
        CollectionLayout.cast(self, to: Set<NSManagedObject>.self)
    }
}

extension NSManagedObject {
    /// What `hash` is, unless a class overrides it.
    @inline(__always)
    static func addressHash(of object: NSManagedObject) -> Int { Int(bitPattern: ObjectIdentifier(object)) >> 4 }
}

extension ContiguousArray<NSManagedObject> {
    /// Drops the objects that are known, and so each that was there already; what is left is known then.
    mutating func keepUnknown(_ known: inout Set<ObjectMember>) {
        self = filter { known.insert(ObjectMember($0)).inserted }
    }
}
