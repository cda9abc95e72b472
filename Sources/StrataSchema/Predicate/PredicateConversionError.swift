/// Why a Swift `Predicate` cannot be made into an `NSPredicate`.
public struct PredicateConversionError: Error, CustomStringConvertible, Sendable {
    /// What cannot be converted, and what could be done about it.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
