import Foundation
import StrataSupport

/// A part of a predicate that has a value: a constant, a key path, a function call, a subquery and so on.
///
/// Foundation declares this class on Linux, but no instance of it can be made; this is the working one. A file that
/// imports both Foundation and Strata directly has to say `Strata.NSExpression` (or `import class Strata.NSExpression`)
/// where it names the type; calls such as `NSExpression(forKeyPath:)` need nothing.
///
/// Expressions are immutable and may be evaluated from several threads at once.
open class NSExpression: NSObject, NSCopying {
    /// What an expression is. Raw values are Apple's.
    public enum ExpressionType: UInt, Sendable {
        /// A value.
        case constantValue = 0
        /// `SELF`
        case evaluatedObject = 1
        /// `$name`, which is bound when it is evaluated.
        case variable = 2
        /// A key path of the object.
        case keyPath = 3
        /// A function with its arguments.
        case function = 4
        /// `UNION` of two collections.
        case unionSet = 5
        /// `INTERSECT` of two collections.
        case intersectSet = 6
        /// `MINUS` of two collections.
        case minusSet = 7
        /// `SUBQUERY`: the elements of a collection that a predicate takes.
        case subquery = 13
        /// A list of expressions: `{1, 2}`.
        case aggregate = 14
        /// Any key, in the expressions of Spotlight.
        case anyKey = 15
        /// A closure.
        case block = 19
        /// `TERNARY`: one of two expressions, as a predicate says.
        case conditional = 20
        /// A fetch request; `NSFetchRequestExpressionType`.
        case fetchRequest = 50
    }

    /// The signature of a block expression: evaluated object, evaluated arguments, context.
    public typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any?

    package let form: ExpressionForm
    /// The number of expressions and predicates on the longest way down, itself included.
    package let depth: Int

    package init(form: ExpressionForm) {
        depth = 1 + form.childDepth
        self.form = depth > PredicateFormatError.maximumDepthOfObjects ? .tooDeep : form
    }

    /// What stands in the place of expressions that nest too deep.
    static var tooDeep: NSExpression { NSExpression(form: .tooDeep) }

    /// An expression without arguments: the evaluated object or any key.
    ///
    /// Other types need their parts and stop the program.
    public convenience init(expressionType type: ExpressionType) {
        switch type {
        case .evaluatedObject: self.init(form: .evaluatedObject)
        case .anyKey: self.init(form: .anyKey)
        case .constantValue: self.init(form: .constant(nil))
        default:
            programmerError(
                "NSExpression(expressionType:)", "an expression of the type .\(type) cannot be made without its parts",
                "Use the initialiser that takes the parts")
        }
    }

    /// An expression from its notation, for example `price * 1.2` or `children.@count`. A faulty string stops the
    /// program.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(form: PredicateParser.parsedExpression(format, arguments).form)
    }

    /// An expression from its notation with its arguments in an array. A faulty string stops the program.
    public convenience init(format: String, argumentArray arguments: [Any]) {
        self.init(form: PredicateParser.parsedExpression(format, arguments).form)
    }

    /// A constant.
    public convenience init(forConstantValue value: Any?) {
        self.init(form: .constant(AnyElements.plain(value)))
    }

    /// The object under evaluation, `SELF`.
    open class func expressionForEvaluatedObject() -> NSExpression {
        NSExpression(form: .evaluatedObject)
    }

    /// Any key of a Spotlight query; evaluates to `nil`.
    open class func expressionForAnyKey() -> NSExpression {
        NSExpression(form: .anyKey)
    }

    /// The value bound to a variable, `$name`.
    public convenience init(forVariable name: String) {
        self.init(form: .variable(name))
    }

    /// The value at a key path of the object under evaluation.
    public convenience init(forKeyPath keyPath: String) {
        self.init(form: .keyPath(operand: nil, path: KeyPathComponents(keyPath)))
    }

    /// A call of a built-in function such as `sum:`, `add:to:` or `now`.
    public convenience init(forFunction name: String, arguments: [Any]) {
        let name = PredicateFunction.canonicalName(name)
        self.init(form: .function(target: nil, name: name, arguments: arguments.map(Self.wrapping)))
    }

    /// A call of a function of the target's own; see `PredicateFunctionTarget`. `valueForKeyPath:` with a path makes a
    /// key path that starts at the target.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
        let arguments = (arguments ?? []).map(Self.wrapping)
        if name == "valueForKeyPath:", arguments.count == 1, let path = arguments[0].writtenPath, !path.names.isEmpty {
            var start: NSExpression? = target
            if case .evaluatedObject = target.form { start = nil }
            self.init(form: .keyPath(operand: start, path: path))
        } else {
            self.init(form: .function(target: target, name: name, arguments: arguments))
        }
    }

    /// The path that a constant string or a plain key path names.
    private var writtenPath: KeyPathComponents? {
        switch form {
        case .constant(let text as String): KeyPathComponents(text)
        case .keyPath(nil, let path): path
        default: nil
        }
    }

    /// A collection of expressions.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(form: .aggregate(subexpressions.map(Self.wrapping)))
    }

    /// The union of a set and a collection.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(form: .set(.unionSet, left, right))
    }

    /// The intersection of a set and a collection.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(form: .set(.intersectSet, left, right))
    }

    /// A set without the members of a collection.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(form: .set(.minusSet, left, right))
    }

    /// The members of a collection for which a predicate over the variable holds. `predicate` is an `NSPredicate`.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: Any
    ) {
        guard let predicate = predicate as? NSPredicate else {
            programmerError(
                "NSExpression(forSubquery:usingIteratorVariable:predicate:)",
                "a \(type(of: predicate)) was given for the predicate", "Give an NSPredicate")
        }
        self.init(form: .subquery(expression, variable, CompoundPredicate.canonical(predicate)))
    }

    /// One of two expressions, as a predicate decides.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(form: .conditional(CompoundPredicate.canonical(predicate), trueExpression, falseExpression))
    }

    /// A value computed by a closure from the object and the evaluated arguments (`NSNull` for `nil`).
    public convenience init(block: @escaping Block, arguments: [NSExpression]?) {
        self.init(form: .block(block, arguments ?? []))
    }

    /// Wraps a plain value into a constant.
    static func wrapping(_ value: Any) -> NSExpression {
        let expression = AnyElements.isInstance(value) ? value as? NSExpression : nil
        return expression ?? NSExpression(forConstantValue: value)
    }

    /// Does nothing: only archived expressions need it, and those cannot be made here.
    public func allowEvaluation() {}

    // Immutable, so a copy is the expression itself.
    /// The same object, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both mean the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || form.equals(other.form)
    }

    /// Agrees with equality.
    open override var hash: Int {
        var hasher = Hasher()
        form.hash(into: &hasher)
        return hasher.finalize()
    }

    /// The notation, which `NSExpression(format:)` reads back.
    open override var description: String { ExpressionPrinter.text(self) }

    /// The value for an object.
    ///
    /// - Parameters:
    ///   - object: What key paths start at.
    ///   - context: Values of variables by name.
    /// - Returns: The value, `nil` where there is none: an unbound variable, an unknown function, a type that does not
    ///   fit.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        KeyValueAccess.boxed(evaluate(EvaluationContext(object: object, context: context)))
    }
}
