import Foundation

/// Finds the properties that Swift key paths stand for.
enum PropertyNames {
    /// The property's name, if the class of the key path's root says one.
    static func name(of keyPath: AnyKeyPath) -> String? {
        (type(of: keyPath).rootType as? NSManagedObject.Type)?.propertyNames[keyPath]
    }

    /// A sort descriptor that sorts by name, where that is known; else the same. Foundation's comparator is kept, since
    /// it may be the program's own.
    static func keyed(_ sort: NSSortDescriptor) -> NSSortDescriptor {
        if sort is KeySortDescriptor || sort is ObjectSortDescriptor { return sort }
        guard let name = name(of: sort.keyPath) else { return sort }
        return KeySortDescriptor(key: name, ascending: sort.ascending, order: .comparator(sort.comparator))
    }
}

/// A sort descriptor that compares objects as a Swift `SortDescriptor` does whose key path has no name.
final class ObjectSortDescriptor: NSSortDescriptor {
    private let compareObjects: (Any, Any) -> ComparisonResult

    /// - Parameter compare: in the wanted direction.
    init(ascending: Bool, compare: @escaping (Any, Any) -> ComparisonResult) {
        compareObjects = compare
        super.init(keyPath: \KeySortDescriptor.Root[key: "self"], ascending: ascending)
    }

    required init?(coder: NSCoder) {
        return nil
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        compareObjects(object1, object2)
    }

    override var reversedSortDescriptor: Any {
        ObjectSortDescriptor(ascending: !ascending) { [compareObjects] in compareObjects($1, $0) }
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool { object as? ObjectSortDescriptor === self }

    override var hash: Int { ObjectIdentifier(self).hashValue }
}

extension KeyedSortDescriptorFactory {
    /// The descriptor that sorts as a Swift `SortDescriptor` does.
    ///
    /// Its key path goes by the name that the class's ``NSManagedObject/propertyNames`` gives it; without one, objects
    /// are compared, which makes fetches slower and dictionaries impossible.
    public init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
        let descriptor: NSSortDescriptor
        if let keyPath = sortDescriptor.keyPath, let name = PropertyNames.name(of: keyPath) {
            descriptor = KeySortDescriptor(key: name, ascending: sortDescriptor.order == .forward, order: .natural)
        } else {
            descriptor = ObjectSortDescriptor(ascending: sortDescriptor.order == .forward) { left, right in
                guard let left = left as? Compared, let right = right as? Compared else { return .orderedSame }
                return sortDescriptor.compare(left, right)
            }
        }
        guard let descriptor = descriptor as? Self else {
            preconditionFailure("A subclass of NSSortDescriptor cannot be made from a SortDescriptor")
        }
        self = descriptor
    }
}
