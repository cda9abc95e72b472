import Foundation
import StrataSupport

/// A comparison of two expressions.
///
/// Foundation declares this class on Linux, but no instance of it can be made; this is the working one. A file that
/// imports both Foundation and Strata directly has to say `Strata.NSComparisonPredicate` where it names the type.
///
/// Comparison predicates are immutable and may be evaluated from several threads at once.
open class NSComparisonPredicate: NSPredicate {
    /// What is done with the two values. Raw values are Apple's.
    public enum Operator: UInt, Sendable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// `MATCHES`: the whole string fits a regular expression.
        case matches = 6
        /// `LIKE`: the whole string fits a pattern with `*` and `?`.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`: the left side is in the collection, or the string, on the right.
        case `in` = 10
        /// A method of the left side, by its selector.
        case customSelector = 11
        /// `CONTAINS`: the right side is in the collection, or the string, on the left.
        case contains = 99
        /// `BETWEEN`: the left side is within the two bounds on the right, or one of them.
        case between = 100
    }

    /// Whether the left side is one value or a collection of which any or all have to fit. Raw values are Apple's.
    public enum Modifier: UInt, Sendable {
        /// The values themselves are compared.
        case direct = 0
        /// `ALL`: every element of the left side has to fit.
        case all = 1
        /// `ANY`: one element of the left side has to fit.
        case any = 2
    }

    /// What string comparisons ignore. Raw values are Apple's.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The number that Core Data gives them.
        public let rawValue: UInt

        /// The options with that number.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`: letters that differ in case only are equal.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: letters that differ in their marks only are equal.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the strings were normalised before and compare byte by byte; the other options do not count then.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: `<`, `<=`, `>`, `>=`, `==`, `!=` and `BETWEEN` compare as the current locale does, and so do `IN` and
        /// `CONTAINS` the members of a collection.
        public static let localeSensitive = Options(rawValue: 8)
    }

    /// The left side.
    public let leftExpression: NSExpression
    /// The right side.
    public let rightExpression: NSExpression
    /// Direct, any or all.
    public let comparisonPredicateModifier: Modifier
    /// What is done with the two values.
    public let predicateOperatorType: Operator
    /// What string comparisons ignore.
    public let options: Options
    /// The method called on the left value when the operator is `.customSelector`.
    public let customSelector: Selector?

    /// Whether null satisfies no comparison, as in SQL, instead of being unequal to everything else. Only fetches ask
    /// for that, of predicates that nobody else sees.
    package let excludesNull: Bool
    private let preparedComparator = CompiledReference<PreparedComparator>()
    /// Prepared when it is first asked for: fetches compile most comparisons instead.
    package var comparator: ValueComparator {
        if let prepared = preparedComparator.load() { return prepared.comparator }
        let new = ValueComparator(predicateOperatorType, options, right: rightExpression)
        // Once they are saved, objects that it names are other values.
        return new.isFinal ? preparedComparator.storeIfNil(PreparedComparator(new)).comparator : new
    }
    /// The number of predicates and expressions on the longest way down, itself included.
    let depth: Int
    /// Whether it was read from a text from outside, so that evaluating it has a budget.
    let isBounded: Bool

    /// Makes the comparison `left operator right`.
    public init(
        leftExpression left: NSExpression, rightExpression right: NSExpression, modifier: Modifier,
        type: Operator, options: Options = []
    ) {
        (leftExpression, rightExpression, depth) = Self.limited(left, right)
        comparisonPredicateModifier = modifier
        predicateOperatorType = type
        self.options = options
        excludesNull = false
        isBounded = false
        customSelector = nil
        super.init(value: false)
    }

    /// Makes a comparison that asks the left value's `PredicateFunctionTarget` method.
    public init(
        leftExpression left: NSExpression, rightExpression right: NSExpression, customSelector selector: Selector
    ) {
        (leftExpression, rightExpression, depth) = Self.limited(left, right)
        comparisonPredicateModifier = .direct
        predicateOperatorType = .customSelector
        options = []
        excludesNull = false
        isBounded = false
        customSelector = selector
        super.init(value: false)
    }

    package init(
        _ left: NSExpression, _ right: NSExpression, _ modifier: Modifier, _ type: Operator,
        _ options: Options, _ selector: Selector?, excludesNull: Bool = false, isBounded: Bool = false
    ) {
        (leftExpression, rightExpression, depth) = Self.limited(left, right)
        comparisonPredicateModifier = modifier
        predicateOperatorType = type
        self.options = options
        self.excludesNull = excludesNull
        self.isBounded = isBounded
        customSelector = selector
        super.init(value: false)
    }

    /// The same with a budget.
    convenience init(bounding other: NSComparisonPredicate) {
        self.init(
            other.leftExpression, other.rightExpression, other.comparisonPredicateModifier,
            other.predicateOperatorType, other.options, other.customSelector, excludesNull: other.excludesNull,
            isBounded: true)
    }

    /// The two sides as far as they are not too deep, and how deep they are with the comparison itself.
    private static func limited(
        _ left: NSExpression, _ right: NSExpression
    ) -> (NSExpression, NSExpression, depth: Int) {
        let depth = 1 + max(left.depth, right.depth)
        guard depth > PredicateFormatError.maximumDepthOfObjects else { return (left, right, depth) }
        return (.tooDeep, .tooDeep, depth)
    }

    /// What stands in the place of predicates that nest too deep.
    static var tooDeep: NSComparisonPredicate {
        NSComparisonPredicate(.tooDeep, .tooDeep, .direct, .equalTo, [], nil)
    }

    /// What a predicate that nests too deep says of every object.
    static func warnsOfDepth() -> Bool {
        Warnings.once(
            "a predicate holds for nothing: it nests deeper than \(PredicateFormatError.maximumDepthOfObjects) levels")
        return false
    }

    deinit { preparedComparator.release() }

    /// Whether the comparison holds for an object.
    open override func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether the comparison holds for an object, with values for its variables.
    ///
    /// Never stops the program: values that cannot be compared make every operator but `!=` false.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        isBounded ? EvaluationWork.bounded { holds(for: object, bindings) } : holds(for: object, bindings)
    }

    private func holds(for object: Any?, _ bindings: [String: Any]?) -> Bool {
        if depth > PredicateFormatError.maximumDepthOfObjects { return Self.warnsOfDepth() }
        guard EvaluationWork.step() else { return false }
        let context = EvaluationContext(object: object, bindings: bindings)
        let comparator = comparator
        // A right side that was prepared for comparing is not evaluated again.
        let right = comparator.hasPreparedRight ? nil : rightExpression.evaluate(context)
        if let customSelector {
            let left = leftExpression.evaluate(context)
            guard let target = left as? any PredicateFunctionTarget else { return false }
            let result = target.performPredicateFunction(customSelector.description, arguments: [right])
            return (Arithmetic(result)?.doubleValue ?? 0) != 0
        }
        switch comparisonPredicateModifier {
        case .direct: return holds(leftExpression.evaluate(context), right, comparator)
        case .any: return leftExpression.leaves(context).contains { holds($0, right, comparator) }
        case .all: return leftExpression.leaves(context).allSatisfy { holds($0, right, comparator) }
        }
    }

    private func holds(_ left: Any?, _ right: Any?, _ comparator: ValueComparator) -> Bool {
        if excludesNull, Self.isNull(left) || !comparator.hasPreparedRight && Self.isNull(right) { return false }
        return comparator.holds(left, right)
    }

    private static func isNull(_ value: Any?) -> Bool { value.map(AnyElements.isNull) ?? true }

    /// The same comparison of other expressions, or with another operator.
    package func with(
        _ left: NSExpression, _ right: NSExpression, type: Operator? = nil, excludesNull: Bool? = nil
    ) -> NSComparisonPredicate {
        NSComparisonPredicate(
            left, right, comparisonPredicateModifier, type ?? predicateOperatorType, options, customSelector,
            excludesNull: excludesNull ?? self.excludesNull, isBounded: isBounded)
    }

    // Immutable, so a copy is the predicate itself.
    /// The same object, which never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both mean the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSComparisonPredicate else { return false }
        if self === other { return true }
        return predicateOperatorType == other.predicateOperatorType && options == other.options
            && comparisonPredicateModifier == other.comparisonPredicateModifier
            && customSelector == other.customSelector
            && leftExpression == other.leftExpression && rightExpression == other.rightExpression
    }

    /// Agrees with equality.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(predicateOperatorType)
        hasher.combine(comparisonPredicateModifier)
        hasher.combine(options)
        hasher.combine(leftExpression)
        hasher.combine(rightExpression)
        return hasher.finalize()
    }

    /// The notation, which `NSPredicate(format:)` reads back.
    open override var predicateFormat: String { PredicatePrinter.text(self) }

    /// The notation, which `NSPredicate(format:)` reads back.
    open override var description: String { PredicatePrinter.text(self) }
}

/// A comparator that threads share. Unchecked: immutable, and made of immutable parts.
private final class PreparedComparator: @unchecked Sendable {
    let comparator: ValueComparator

    init(_ comparator: ValueComparator) {
        self.comparator = comparator
    }
}
