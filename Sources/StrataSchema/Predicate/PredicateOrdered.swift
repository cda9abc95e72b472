import Foundation

/// An object that the operators `<`, `<=`, `>` and `>=` of predicates can compare with its like.
package protocol PredicateOrdered {
    /// -1, 0 or 1, or nil when the two have no order.
    func order(relativeTo other: Any) -> Int?
}

/// An object that stores sort by: the identifier of another.
package protocol StoreOrdered {
    /// Nil when the two are not of a kind.
    func storeOrder(relativeTo other: Any) -> ComparisonResult?
}
