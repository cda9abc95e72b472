import Foundation
import StrataSupport

/// Lets an extension's initialiser return a subclass. Only `NSPredicate` is meant to conform.
///
/// Foundation declares `NSPredicate(format:…)` on Linux, but unavailable, and a class's own extension cannot assign
/// `self`. A protocol's extension can.
public protocol FormatPredicateFactory {}

extension NSPredicate: FormatPredicateFactory {}

extension FormatPredicateFactory {
    /// A predicate from its notation.
    ///
    /// `%@` stands for a value, `%K` for a key path, `%d`, `%ld`, `%f` and so on for numbers, `$NAME` for a variable. A
    /// faulty string, or arguments that do not fit it, stop the program with the position and the reason; for strings
    /// that come from outside the program use `NSPredicate.parse(_:arguments:)`.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(format: "title BEGINSWITH[cd] %@", "t")
    /// ```
    ///
    /// - Complexity: O(n) in the length of the string.
    public init(format: String, _ arguments: Any?...) {
        self.init(parsed: PredicateParser.parsedPredicate(format, arguments))
    }

    /// A predicate from its notation with its arguments in an array; see `init(format:_:)`.
    public init(format: String, argumentArray arguments: [Any]?) {
        self.init(parsed: PredicateParser.parsedPredicate(format, arguments ?? []))
    }

    private init(parsed predicate: NSPredicate) {
        // Not a cast to an optional, whose type would be looked up.
        guard predicate is Self else {
            programmerError(
                "\(Self.self)", "a subclass of NSPredicate cannot be made from a format", "Create an NSPredicate")
        }
        // SAFETY: that it is one has been seen; both are a reference.
        self = unsafeBitCast(predicate, to: Self.self)
    }

    /// The predicate with values, or expressions, in the place of its variables. Variables without a value stay.
    ///
    /// - Complexity: O(n) in the size of the predicate.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        guard let predicate = self as? NSPredicate,
            let result = VariableSubstitution(variables).apply(to: predicate) as? Self
        else {
            programmerError(
                "\(Self.self)", "the variables of a predicate of this class cannot be substituted",
                "Use predicates made from a format, or compounds of them")
        }
        return result
    }

    /// Does nothing: only archived predicates need it, and those cannot be made here.
    public func allowEvaluation() {}
}

extension NSPredicate {
    /// A predicate from a string that may be faulty, for example one that a user of a service typed.
    ///
    /// Never stops the program, whatever the string. The string may have at most
    /// `PredicateFormatError.maximumLengthBytes` bytes and nest at most `PredicateFormatError.maximumDepth` levels.
    /// Evaluating the result never stops the program either, as long as the objects evaluated answer `nil` for keys
    /// they do not have.
    ///
    /// - Parameters:
    ///   - format: The notation, as for `NSPredicate(format:)`.
    ///   - arguments: One value for each placeholder.
    /// - Throws: `PredicateFormatError` with the position and the reason.
    /// - Complexity: O(n) in the length of the string.
    public static func parse(
        _ format: String, arguments: [Any?] = []
    ) throws(PredicateFormatError) -> NSPredicate {
        try PredicateParser.predicate(format, arguments)
    }

    /// The notation of the predicate, which `NSPredicate(format:)` reads back to an equal predicate.
    ///
    /// The same as `predicateFormat`, which Foundation on Linux marks deprecated.
    public var formatString: String { PredicatePrinter.text(self) }

    /// The same predicate, in which every compound is a ``CompoundPredicate``, so that it prints, compares and copies
    /// as on Apple's platforms.
    ///
    /// For compounds that were made in files which do not import CoreData: those are Foundation's own. Whatever comes
    /// from Strata, such as the predicate of a parsed format, is canonical already.
    ///
    /// - Complexity: O(n) in the size of the predicate, O(1) if it is canonical.
    public var canonical: NSPredicate { CompoundPredicate.canonical(self) }
}

extension NSExpression {
    /// An expression from a string that may be faulty. Never stops the program; see `NSPredicate.parse(_:arguments:)`.
    ///
    /// - Throws: `PredicateFormatError` with the position and the reason.
    public static func parse(
        _ format: String, arguments: [Any?] = []
    ) throws(PredicateFormatError) -> NSExpression {
        try PredicateParser.expression(format, arguments)
    }
}
