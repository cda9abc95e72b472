import Foundation

/// What notifications since the last save have told of one kind of change, for the save's own notification.
///
/// Mostly there was one: then the save's set and list are the same, and are not made again.
struct ReportedObjects {
    /// How many notifications had objects of the kind.
    private var count = 0
    private(set) var set: Set<NSManagedObject>?
    /// The same in the order in which they changed; nil after none or several notifications.
    private(set) var order: ContiguousArray<NSManagedObject>?

    /// A notification has told of these.
    mutating func add(_ set: Set<NSManagedObject>?, _ order: ContiguousArray<NSManagedObject>) {
        guard let set else { return }
        count += 1
        (self.set, self.order) = count == 1 ? (set, order) : (nil, nil)
    }

    /// A merge policy may have changed the objects that are saved: what was told is not what is saved.
    mutating func drop() { (set, order) = (nil, nil) }

    /// The set of these objects if it is the one that was told.
    func set(of objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObject>? {
        guard let set, let order, objects.isSame(order) else { return nil }
        return set
    }
}

extension ContiguousArray {
    /// Whether both share their memory.
    fileprivate func isSame(_ other: Self) -> Bool {
        count == other.count
            && withUnsafeBufferPointer { $0.baseAddress } == other.withUnsafeBufferPointer { $0.baseAddress }
    }
}
