import Foundation

// The nodes of a Swift predicate that ask collections, ranges and strings.

extension PredicateExpressions.SequenceContains: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .predicate(.comparing(try converter.expression(element), .in, try converter.expression(sequence)))
    }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let found = try converter.subquery(sequence, variable.key, test)
        return .predicate(
            .comparing(
                PredicateConverter.appending("@count", to: found), .greaterThan, NSExpression(forConstantValue: 0)))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let found = try converter.subquery(sequence, variable.key, test, isNegated: true)
        return .predicate(
            .comparing(PredicateConverter.appending("@count", to: found), .equalTo, NSExpression(forConstantValue: 0)))
    }
}

extension PredicateExpressions.Filter: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(try converter.subquery(sequence, variable.key, filter))
    }
}

extension PredicateExpressions.SequenceMinimum: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(PredicateConverter.function("min:", try converter.expression(elements)))
    }
}

extension PredicateExpressions.SequenceMaximum: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(PredicateConverter.function("max:", try converter.expression(elements)))
    }
}

// MARK: Strings

extension PredicateExpressions.CollectionContainsCollection: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateConversionError("contains(_:) of a collection in \(Base.Output.self) has no counterpart.")
        }
        return .predicate(.comparing(try converter.expression(base), .contains, try converter.expression(other)))
    }
}

extension PredicateExpressions.SequenceStartsWith: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateConversionError("starts(with:) of \(Base.Output.self) has no counterpart.")
        }
        return .predicate(.comparing(try converter.expression(base), .beginsWith, try converter.expression(prefix)))
    }
}

// MARK: Subscripts

extension PredicateExpressions.CollectionIndexSubscript: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        .expression(
            PredicateConverter.function(
                "objectFrom:withIndex:", try converter.expression(wrapped), try converter.expression(index)))
    }
}

extension PredicateExpressions.DictionaryKeySubscript: ConvertibleNode {
    /// The element of a composite attribute.
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        guard case .constant(let name as String) = try converter.expression(key).form else {
            throw PredicateConversionError("A dictionary can be asked for a constant string only.")
        }
        return .expression(PredicateConverter.appending(name, to: try converter.expression(wrapped)))
    }
}

// MARK: Ranges

/// A range with its bounds, nil for the open end.
private protocol AnyBounds {
    var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}

extension Range: AnyBounds {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension ClosedRange: AnyBounds {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: AnyBounds {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, true) }
}

extension PartialRangeThrough: AnyBounds {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: AnyBounds {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}

/// A range whose bounds are computed.
private protocol BoundsNode {
    var boundNodes: (lower: Any, upper: Any, isClosed: Bool) { get }
}

extension PredicateExpressions.Range: BoundsNode {
    fileprivate var boundNodes: (lower: Any, upper: Any, isClosed: Bool) { (lower, upper, false) }
}

extension PredicateExpressions.ClosedRange: BoundsNode {
    fileprivate var boundNodes: (lower: Any, upper: Any, isClosed: Bool) { (lower, upper, true) }
}

extension PredicateExpressions.RangeExpressionContains: ConvertibleNode {
    func converted(_ converter: inout PredicateConverter) throws -> ConvertedNode {
        let value = try converter.expression(element)
        var lower: NSExpression?
        var upper: NSExpression?
        let isClosed: Bool
        if let node = range as? any BoundsNode {
            let bounds = node.boundNodes
            lower = try converter.expression(bounds.lower)
            upper = try converter.expression(bounds.upper)
            isClosed = bounds.isClosed
        } else {
            guard case .constant(let constant) = try converter.expression(range).form,
                let bounds = (constant as? any AnyBounds)?.bounds
            else { throw PredicateConversionError("The range \(type(of: range)) is not known.") }
            lower = bounds.lower.map { NSExpression(forConstantValue: $0) }
            upper = bounds.upper.map { NSExpression(forConstantValue: $0) }
            isClosed = bounds.isClosed
        }
        var parts: [NSPredicate] = []
        if let lower { parts.append(.comparing(value, .greaterThanOrEqualTo, lower)) }
        if let upper { parts.append(.comparing(value, isClosed ? .lessThanOrEqualTo : .lessThan, upper)) }
        return .predicate(parts.count == 1 ? parts[0] : CompoundPredicate(type: .and, subpredicates: parts))
    }
}
