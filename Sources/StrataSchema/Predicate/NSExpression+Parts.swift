import Foundation
import StrataSupport

/// The parts of an expression. As in Core Data, asking an expression for a part it does not have stops the program.
extension NSExpression {
    /// What the expression is.
    public var expressionType: ExpressionType {
        switch form {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .anyKey: .anyKey
        case .variable: .variable
        case .keyPath: isPathOfCall ? .function : .keyPath
        case .function: .function
        case .aggregate: .aggregate
        case .set(let type, _, _): type
        case .subquery: .subquery
        case .conditional: .conditional
        case .block: .block
        case .fetch: .fetchRequest
        }
    }

    /// The value of a constant.
    public var constantValue: Any? {
        guard case .constant(let value) = form else { missing("constantValue") }
        return value
    }

    /// Whether this is a path behind something that is computed, as in `SUBQUERY(...).@count`: as in Core Data, a call
    /// of `valueForKeyPath:`.
    private var isPathOfCall: Bool {
        guard case .keyPath(let operand?, _) = form else { return false }
        switch operand.form {
        case .evaluatedObject, .variable, .keyPath: return false
        default: return true
        }
    }

    /// The path of a key path expression.
    public var keyPath: String {
        guard case .keyPath(_, let path) = form else { missing("keyPath") }
        return path.text
    }

    /// The name of a function, in its selector form (`sum:`); of a key path, `valueForKeyPath:`.
    public var function: String {
        switch form {
        case .function(_, let name, _): return name
        case .keyPath: return "valueForKeyPath:"
        default: missing("function")
        }
    }

    /// The name of a variable, also of the one a subquery runs through.
    public var variable: String {
        switch form {
        case .variable(let name), .subquery(_, let name, _): return name
        default: missing("variable")
        }
    }

    /// What a function is called on or a key path starts at; the evaluated object for a plain key path.
    public var operand: NSExpression {
        switch form {
        case .keyPath(let operand, _): return operand ?? NSExpression(form: .evaluatedObject)
        case .function(let target, _, _): return target ?? NSExpression(form: .constant(nil))
        default: missing("operand")
        }
    }

    /// The arguments of a function or block; of a key path, the path alone.
    public var arguments: [NSExpression]? {
        switch form {
        case .function(_, _, let arguments), .block(_, let arguments): return arguments
        case .keyPath(_, let path): return [NSExpression(form: .keyPath(operand: nil, path: path))]
        default: missing("arguments")
        }
    }

    /// The elements of an aggregate (an array of expressions) or the collection expression of a subquery.
    public var collection: Any {
        switch form {
        case .aggregate(let elements): return elements
        case .subquery(let collection, _, _): return collection
        default: missing("collection")
        }
    }

    /// The predicate of a subquery or a conditional expression.
    public var predicate: NSPredicate {
        switch form {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return predicate
        default: missing("predicate")
        }
    }

    /// The left operand of a set expression.
    public var left: NSExpression {
        guard case .set(_, let left, _) = form else { missing("left") }
        return left
    }

    /// The right operand of a set expression.
    public var right: NSExpression {
        guard case .set(_, _, let right) = form else { missing("right") }
        return right
    }

    /// What a conditional expression is when its predicate holds.
    public var `true`: NSExpression {
        guard case .conditional(_, let expression, _) = form else { missing("true") }
        return expression
    }

    /// What a conditional expression is when its predicate does not hold.
    public var `false`: NSExpression {
        guard case .conditional(_, _, let expression) = form else { missing("false") }
        return expression
    }

    /// The closure of a block expression.
    public var expressionBlock: Block {
        guard case .block(let block, _) = form else { missing("expressionBlock") }
        return block
    }

    private func missing(_ part: String) -> Never {
        programmerError(
            "NSExpression", "an expression of the type .\(expressionType) has no \(part)", "Ask expressionType first")
    }
}
