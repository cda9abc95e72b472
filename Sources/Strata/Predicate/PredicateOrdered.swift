/// An object that the operators `<`, `<=`, `>` and `>=` of predicates can compare with its like.
protocol PredicateOrdered {
    /// -1, 0 or 1, or nil when the two have no order.
    func order(relativeTo other: Any) -> Int?
}
