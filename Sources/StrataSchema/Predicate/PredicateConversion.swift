public import Foundation

extension FormatPredicateFactory {
    /// The predicate that a Swift `#Predicate` stands for; nil if it has no counterpart.
    ///
    /// The properties that its key paths stand for are looked up in `NSManagedObject.propertyNames`. To learn why a
    /// predicate cannot be converted use `NSPredicate.converting(_:)`.
    public init?<Input: NSObject>(_ predicate: Predicate<Input>) {
        guard let converted = try? NSPredicate.converting(predicate) as? Self else { return nil }
        self = converted
    }
}

extension NSPredicate {
    /// The predicate that a Swift `#Predicate` stands for.
    ///
    /// Strings are compared as predicates of a fetch compare them, by Unicode scalars, and `isEmpty` and `count` of a
    /// string count UTF-16 units.
    ///
    /// - Throws: ``PredicateConversionError`` for a key path that the class does not name, and for an expression that
    ///   predicates do not have.
    /// - Complexity: O(n) in the size of the predicate.
    public static func converting<Input: NSObject>(_ predicate: Predicate<Input>) throws -> NSPredicate {
        var converter = PredicateConverter(predicate.variable.key)
        return try converter.predicate(predicate.expression)
    }
}

/// What a node of a Swift predicate becomes.
enum ConvertedNode {
    case expression(NSExpression)
    case predicate(NSPredicate)

    /// A truth value as a value.
    var expression: NSExpression {
        switch self {
        case .expression(let expression): return expression
        case .predicate(let predicate):
            return NSExpression(
                forConditional: predicate, trueExpression: NSExpression(forConstantValue: true),
                falseExpression: NSExpression(forConstantValue: false))
        }
    }

    /// A value as a truth value.
    var predicate: NSPredicate {
        switch self {
        case .predicate(let predicate): return predicate
        case .expression(let expression):
            if case .constant(let value as Bool) = expression.form { return NSPredicate(value: value) }
            return NSPredicate.comparing(expression, .equalTo, NSExpression(forConstantValue: true))
        }
    }
}

extension NSPredicate {
    static func comparing(
        _ left: NSExpression, _ type: NSComparisonPredicate.Operator, _ right: NSExpression
    ) -> NSPredicate {
        NSComparisonPredicate(left, right, .direct, type, [], nil)
    }
}

/// A node of a Swift predicate that has a counterpart.
protocol ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode
}

/// Walks a Swift predicate.
struct PredicateConverter {
    /// What the variables in scope stand for.
    private var bindings: [PredicateExpressions.VariableID: NSExpression]
    private var variableCount = 0

    init(_ root: PredicateExpressions.VariableID) {
        bindings = [root: NSExpression.expressionForEvaluatedObject()]
    }

    mutating func node(_ node: Any) throws -> ConvertedNode {
        guard let convertible = node as? any ConvertibleNode else {
            throw PredicateConversionError(
                "\(type(of: node)) has no counterpart in NSPredicate. Write this part with NSPredicate(format:), or "
                    + "filter what was fetched.")
        }
        return try convertible.converted(&self)
    }

    mutating func expression(_ node: Any) throws -> NSExpression { try self.node(node).expression }

    mutating func predicate(_ node: Any) throws -> NSPredicate { try self.node(node).predicate }

    func value(of variable: PredicateExpressions.VariableID) throws -> NSExpression {
        guard let value = bindings[variable] else {
            throw PredicateConversionError("A variable of the predicate is used outside of its closure.")
        }
        return value
    }

    /// Runs the body with a variable standing for an expression.
    mutating func with<R>(
        _ variable: PredicateExpressions.VariableID, _ expression: NSExpression,
        _ body: (inout PredicateConverter) throws -> R
    ) rethrows -> R {
        let outer = bindings[variable]
        bindings[variable] = expression
        defer { bindings[variable] = outer }
        return try body(&self)
    }

    /// `SUBQUERY(collection, $v, test)`.
    mutating func subquery(
        _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, isNegated: Bool = false
    ) throws -> NSExpression {
        let collection = try expression(sequence)
        let name = "element\(variableCount)"
        variableCount += 1
        var predicate = try with(variable, NSExpression(forVariable: name)) { try $0.predicate(test) }
        if isNegated { predicate = CompoundPredicate(type: .not, subpredicates: [predicate]) }
        return NSExpression(forSubquery: collection, usingIteratorVariable: name, predicate: predicate)
    }

    /// An expression one step further along a path.
    static func appending(_ name: String, to expression: NSExpression) -> NSExpression {
        switch expression.form {
        case .evaluatedObject: return NSExpression(forKeyPath: name)
        case .keyPath(let operand, let path):
            return NSExpression(
                form: .keyPath(operand: operand, path: KeyPathComponents(path.text + "." + name)))
        default: return NSExpression(form: .keyPath(operand: expression, path: KeyPathComponents(name)))
        }
    }

    static func function(_ name: String, _ arguments: NSExpression...) -> NSExpression {
        NSExpression(form: .function(target: nil, name: name, arguments: arguments))
    }
}
