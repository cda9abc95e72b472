import Foundation

// What each kind of node of a Swift predicate becomes.

extension PredicateExpressions.Variable: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(try converter.value(of: key))
    }
}

extension PredicateExpressions.Value: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(NSExpression(forConstantValue: value))
    }
}

extension PredicateExpressions.NilLiteral: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(NSExpression(forConstantValue: nil))
    }
}

extension PredicateExpressions.KeyPath: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let root = try converter.expression(root)
        if let name = PropertyNames.name(of: keyPath) {
            return .expression(PredicateConverter.appending(name, to: root))
        }
        let isText = Root.Output.self is any StringProtocol.Type
        let count =
            isText ? PredicateConverter.function("length:", root) : PredicateConverter.appending("@count", to: root)
        switch kind {
        case .collectionCount?: return .expression(count)
        case .collectionIsEmpty?:
            return .predicate(.comparing(count, .equalTo, NSExpression(forConstantValue: 0)))
        case .collectionFirst?: return .expression(element(of: root, .first))
        case .bidirectionalCollectionLast?: return .expression(element(of: root, .last))
        default:
            throw PredicateConversionError(
                "\(keyPath) of \(Root.Output.self) has no name: list it in \(Root.Output.self).propertyNames.")
        }
    }

    private func element(of collection: NSExpression, _ marker: PredicateMethod.IndexMarker) -> NSExpression {
        PredicateConverter.function("objectFrom:withIndex:", collection, NSExpression(form: .constant(marker)))
    }
}

// MARK: Truth values

extension PredicateExpressions.Conjunction: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(
            CompoundPredicate(type: .and, subpredicates: [try converter.predicate(lhs), try converter.predicate(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(
            CompoundPredicate(type: .or, subpredicates: [try converter.predicate(lhs), try converter.predicate(rhs)]))
    }
}

extension PredicateExpressions.Negation: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(CompoundPredicate(type: .not, subpredicates: [try converter.predicate(wrapped)]))
    }
}

extension PredicateExpressions.Equal: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(.comparing(try converter.expression(lhs), .equalTo, try converter.expression(rhs)))
    }
}

extension PredicateExpressions.NotEqual: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(.comparing(try converter.expression(lhs), .notEqualTo, try converter.expression(rhs)))
    }
}

extension PredicateExpressions.Comparison: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let type: NSComparisonPredicate.Operator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: throw PredicateConversionError("The comparison \(op) is not known.")
            }
        return .predicate(.comparing(try converter.expression(lhs), type, try converter.expression(rhs)))
    }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let name =
            switch op {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            @unknown default: throw PredicateConversionError("The operation \(op) is not known.")
            }
        return .expression(
            PredicateConverter.function(name, try converter.expression(lhs), try converter.expression(rhs)))
    }
}

extension PredicateExpressions.FloatDivision: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(
            PredicateConverter.function("divide:by:", try converter.expression(lhs), try converter.expression(rhs)))
    }
}

extension PredicateExpressions.IntDivision: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(
            PredicateConverter.function("divide:by:", try converter.expression(lhs), try converter.expression(rhs)))
    }
}

extension PredicateExpressions.IntRemainder: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(
            PredicateConverter.function("modulus:by:", try converter.expression(lhs), try converter.expression(rhs)))
    }
}

extension PredicateExpressions.UnaryMinus: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(
            PredicateConverter.function(
                "from:subtract:", NSExpression(forConstantValue: 0), try converter.expression(wrapped)))
    }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let value = try converter.expression(wrapped)
        return try converter.with(variable.key, value) { try $0.node(transform) }
    }
}

extension PredicateExpressions.NilCoalesce: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let value = try converter.expression(lhs)
        let isNil = NSPredicate.comparing(value, .equalTo, NSExpression(forConstantValue: nil))
        return .expression(
            NSExpression(
                forConditional: isNil, trueExpression: try converter.expression(rhs), falseExpression: value))
    }
}

extension PredicateExpressions.ForcedUnwrap: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode { try converter.node(inner) }
}

extension PredicateExpressions.Conditional: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(
            NSExpression(
                forConditional: try converter.predicate(test), trueExpression: try converter.expression(trueBranch),
                falseExpression: try converter.expression(falseBranch)))
    }
}
