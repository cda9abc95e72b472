/// What a predicate string from outside the program may use besides comparisons of the objects' own properties; see
/// `NSPredicate(validating:arguments:for:allowing:)`.
public struct PredicateFeatures: OptionSet, Sendable {
    /// The features as bits.
    public let rawValue: Int

    /// Creates a set from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `FUNCTION(object, "name", …)`, which calls functions of the program's objects by name.
    public static let functions = PredicateFeatures(rawValue: 1 << 0)
    /// `CAST(value, "Type")`.
    public static let casts = PredicateFeatures(rawValue: 1 << 1)
    /// `FETCH(request, context, countOnly)`.
    public static let fetches = PredicateFeatures(rawValue: 1 << 2)
    /// `$NAME` outside of a `SUBQUERY` that names it, to be replaced by `withSubstitutionVariables(_:)`.
    public static let variables = PredicateFeatures(rawValue: 1 << 3)
    /// `MATCHES`: some regular expressions take very long on some texts.
    public static let regularExpressions = PredicateFeatures(rawValue: 1 << 4)
}
