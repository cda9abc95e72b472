import Foundation

extension Sequence {
    /// The elements for which the predicate holds, in order. Complexity: O(n) evaluations.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        filter { predicate.evaluate(with: $0) }
    }
}

extension RangeReplaceableCollection {
    /// Removes the elements for which the predicate does not hold. Complexity: O(n) evaluations.
    public mutating func filter(using predicate: NSPredicate) {
        removeAll { !predicate.evaluate(with: $0) }
    }
}
