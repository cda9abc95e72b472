public import Foundation

/// What `localizedStandardContains(_:)` in a `#Predicate` becomes. Linux's Foundation has the method, but not this
/// expression.
extension PredicateExpressions {
    /// Whether a string contains another one for a reader: case and diacritics do not count.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// A truth value.
        public typealias Output = Bool

        /// What is searched.
        public let root: Root
        /// What is searched for.
        public let other: Other

        /// Creates the expression from its parts.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Searches in memory.
        ///
        /// - Throws: what the parts throw.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try String(root.evaluate(bindings)).localizedStandardContains(String(other.evaluate(bindings)))
        }
    }

    /// What the macro `#Predicate` calls.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(
            NSComparisonPredicate(
                try converter.expression(root), try converter.expression(other), .direct, .contains,
                [.caseInsensitive, .diacriticInsensitive], nil))
    }
}
