import Foundation

// What fast enumeration is on Apple's platforms.

extension NSEntityDescription: Sequence {
    /// Goes through the ``properties``.
    public final func makeIterator() -> IndexingIterator<[NSPropertyDescription]> { properties.makeIterator() }
}

extension NSManagedObjectModel: Sequence {
    /// Goes through the ``entities``.
    public final func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}
