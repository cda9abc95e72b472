import Foundation

extension PropertyNames {
    /// A sort descriptor that sorts by name, where that is known; else the same. Foundation's comparator is kept, since
    /// it may be the program's own.
    package static func keyed(_ sort: NSSortDescriptor) -> NSSortDescriptor {
        if sort is KeySortDescriptor || sort is ObjectSortDescriptor { return sort }
        guard let name = name(of: sort.keyPath) else { return sort }
        return KeySortDescriptor(key: name, ascending: sort.ascending, order: .comparator(sort.comparator))
    }
}

/// A sort descriptor that compares objects as a Swift `SortDescriptor` does whose key path has no name.
package final class ObjectSortDescriptor: NSSortDescriptor {
    private let compareObjects: (Any, Any) -> ComparisonResult

    /// - Parameter compare: in the wanted direction.
    package init(ascending: Bool, compare: @escaping (Any, Any) -> ComparisonResult) {
        compareObjects = compare
        super.init(keyPath: \KeySortDescriptor.Root.value, ascending: ascending)
    }

    package required init?(coder: NSCoder) {
        return nil
    }

    package override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        compareObjects(object1, object2)
    }

    package override var reversedSortDescriptor: Any {
        ObjectSortDescriptor(ascending: !ascending) { [compareObjects] in compareObjects($1, $0) }
    }

    package override func copy(with zone: NSZone? = nil) -> Any { self }

    package override func isEqual(_ object: Any?) -> Bool { object as? ObjectSortDescriptor === self }

    package override var hash: Int { ObjectIdentifier(self).hashValue }
}
