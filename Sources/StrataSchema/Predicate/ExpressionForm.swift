import Foundation

/// The syntax tree behind an expression.
package indirect enum ExpressionForm {
    case constant(Any?)
    case evaluatedObject
    case anyKey
    case variable(String)
    /// Without an operand the path starts at the evaluated object.
    case keyPath(operand: NSExpression?, path: KeyPathComponents)
    /// Without a target a built-in function.
    case function(target: NSExpression?, name: String, arguments: [NSExpression])
    case aggregate([NSExpression])
    case set(NSExpression.ExpressionType, NSExpression, NSExpression)
    case subquery(NSExpression, String, NSPredicate)
    case conditional(NSPredicate, NSExpression, NSExpression)
    case block(NSExpression.Block, [NSExpression])
    case fetch(request: NSExpression, context: NSExpression, countOnly: Bool)

    /// A call of a function that there is not: it has no value, and requests refuse it.
    static var tooDeep: ExpressionForm { .function(target: nil, name: nameOfTooDeep, arguments: []) }

    private static let nameOfTooDeep = "tooDeep"

    /// Whether it stands in the place of an expression that nests too deep.
    package var isTooDeep: Bool {
        if case .function(nil, Self.nameOfTooDeep, let arguments) = self { return arguments.isEmpty }
        return false
    }

    /// Each step of a key path counts.
    var childDepth: Int {
        switch self {
        case .constant, .evaluatedObject, .anyKey, .variable: 0
        case .keyPath(let operand, let path): (operand?.depth ?? 0) + max(0, path.names.count - 1)
        case .function(let target, _, let arguments): max(target?.depth ?? 0, Self.depth(arguments))
        case .aggregate(let elements), .block(_, let elements): Self.depth(elements)
        case .set(_, let left, let right), .fetch(let left, let right, _): max(left.depth, right.depth)
        case .subquery(let collection, _, let predicate): max(collection.depth, predicate.nodeDepth)
        case .conditional(let predicate, let left, let right): max(predicate.nodeDepth, left.depth, right.depth)
        }
    }

    private static func depth(_ expressions: [NSExpression]) -> Int {
        expressions.reduce(0) { max($0, $1.depth) }
    }

    /// The value of constants alone: a constant, or an aggregate of some; nil for what has to be evaluated.
    package var constantValue: Any?? {
        switch self {
        case .constant(let value): .some(value)
        case .aggregate(let elements) where elements.allSatisfy({ $0.expressionType == .constantValue }):
            .some(elements.map { $0.constantValue ?? NSNull() })
        default: nil
        }
    }

    /// The elements when the form is a collection of constants, however it was made.
    private var constantElements: AnyElements? {
        switch self {
        case .constant(let value?): return AnyElements(value)
        case .aggregate(let expressions):
            var values: [Any?] = []
            for expression in expressions {
                switch expression.form {
                case .constant(let value): values.append(value)
                case .aggregate:
                    guard let inner = expression.form.constantElements else { return nil }
                    values.append(inner.elements.map { $0 ?? NSNull() })
                default: return nil
                }
            }
            var elements = AnyElements([Any]())
            elements?.elements = values
            return elements
        default: return nil
        }
    }

    /// Whether two trees are the same; an aggregate of constants equals the constant collection of the same values.
    func equals(_ other: ExpressionForm) -> Bool {
        if let left = constantElements, let right = other.constantElements {
            return Operand.list(left).equals(.list(right))
        }
        if isTooDeep { return false }
        switch (self, other) {
        case (.constant(let left), .constant(let right)): return Operand(left).equals(Operand(right))
        case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey): return true
        case (.variable(let left), .variable(let right)): return left == right
        case (.keyPath(let leftOperand, let left), .keyPath(let rightOperand, let right)):
            return leftOperand == rightOperand && left.names == right.names
        case (.function(let leftTarget, let leftName, let left), .function(let rightTarget, let rightName, let right)):
            return leftName == rightName && leftTarget == rightTarget && left == right
        case (.aggregate(let left), .aggregate(let right)): return left == right
        case (.set(let leftType, let a, let b), .set(let rightType, let c, let d)):
            return leftType == rightType && a == c && b == d
        case (.subquery(let a, let leftName, let left), .subquery(let b, let rightName, let right)):
            return leftName == rightName && a == b && left == right
        case (.conditional(let left, let a, let b), .conditional(let right, let c, let d)):
            return left == right && a == c && b == d
        case (.fetch(let a, let b, let leftOnly), .fetch(let c, let d, let rightOnly)):
            return leftOnly == rightOnly && a == c && b == d
        default: return false
        }
    }

    func hash(into hasher: inout Hasher) {
        if let elements = constantElements {
            Operand.list(elements).hash(into: &hasher)
            return
        }
        switch self {
        case .constant(let value): Operand(value).hash(into: &hasher)
        case .evaluatedObject: hasher.combine(1)
        case .anyKey: hasher.combine(2)
        case .variable(let name): hasher.combine(name)
        case .keyPath(let operand, let path):
            hasher.combine(operand)
            hasher.combine(path.names)
        case .function(let target, let name, let arguments):
            hasher.combine(target)
            hasher.combine(name)
            hasher.combine(arguments)
        case .aggregate(let elements): hasher.combine(elements)
        case .set(let type, let left, let right):
            hasher.combine(type)
            hasher.combine(left)
            hasher.combine(right)
        case .subquery(let collection, let name, let predicate):
            hasher.combine(collection)
            hasher.combine(name)
            hasher.combine(predicate.structuralHash)
        case .conditional(let predicate, let left, let right):
            hasher.combine(predicate.structuralHash)
            hasher.combine(left)
            hasher.combine(right)
        case .block(_, let arguments): hasher.combine(arguments)
        case .fetch(let request, _, let countOnly):
            hasher.combine(request)
            hasher.combine(countOnly)
        }
    }
}
