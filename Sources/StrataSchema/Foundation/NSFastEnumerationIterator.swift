import Foundation

/// Goes through the elements of a collection whose type is only known when the program runs.
///
/// Linux has no fast enumeration: what Foundation's collections, models and entities are there are sequences.
public struct NSFastEnumerationIterator: IteratorProtocol {
    private var base: any IteratorProtocol

    /// Begins at the first element. Changes of the collection meanwhile are not seen.
    public init(_ enumerable: some Sequence) { base = enumerable.makeIterator() }

    /// The next element; nil after the last one.
    public mutating func next() -> Any? { Self.advance(&base) }

    private static func advance(_ iterator: inout any IteratorProtocol) -> Any? {
        func step<Iterator: IteratorProtocol>(_ opened: Iterator) -> Any? {
            var opened = opened
            let element = opened.next()
            iterator = opened
            return element
        }
        return step(iterator)
    }
}
