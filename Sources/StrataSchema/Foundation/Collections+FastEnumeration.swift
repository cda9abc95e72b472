public import Foundation

// What Apple's Foundation has instead of Linux's iterators, for those who name the type.
extension NSSet {
    /// Goes through the members, in no order.
    @_disfavoredOverload
    public func makeIterator() -> NSFastEnumerationIterator { NSFastEnumerationIterator(allObjects) }
}

extension NSOrderedSet {
    /// Goes through the members in order.
    @_disfavoredOverload
    public func makeIterator() -> NSFastEnumerationIterator { NSFastEnumerationIterator(array) }
}

extension NSArray {
    /// Goes through the elements in order.
    @_disfavoredOverload
    public func makeIterator() -> NSFastEnumerationIterator { NSFastEnumerationIterator(Array(self)) }
}
