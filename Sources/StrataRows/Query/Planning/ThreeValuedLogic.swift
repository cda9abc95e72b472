import Foundation

/// Rewrites the predicate of a fetch so that evaluating it, which knows only true and false, finds what SQL finds.
///
/// Core Data's SQL store compares as SQL does: a comparison with a value that is null is neither true nor false but
/// unknown, and stays so under NOT. A row is found when the whole is true. `evaluate(with:)` and the filtering of
/// collections know no third value, so the predicate of a request is rewritten once, before it is compiled or
/// interpreted: a comparison with `!=` leaves null out, and a NOT goes down to the comparisons, each of which is then
/// asked whether it is false.
///
/// Whether a member of a to-many relationship, or of a subquery, satisfies a condition is never unknown.
package struct ThreeValuedLogic {
    private let shape: EntityShape
    /// What the variables of the subqueries around stand for; nil where that is not known.
    private var variables: [String: EntityShape?] = [:]

    package init(_ shape: EntityShape) {
        self.shape = shape
    }

    /// The predicate that holds where the given one is true.
    package func apply(to predicate: NSPredicate) -> NSPredicate { whereTrue(predicate) }

    // MARK: Predicates

    private func whereTrue(_ predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate: return whereTrue(comparison)
        case let compound as NSCompoundPredicate:
            if compound.compoundPredicateType == .not {
                return compound.subpredicates.first.map(whereFalse) ?? predicate
            }
            return CompoundPredicate(
                type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map(whereTrue))
        default: return predicate
        }
    }

    private func whereFalse(_ predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate: return whereFalse(comparison)
        case let compound as NSCompoundPredicate:
            switch compound.compoundPredicateType {
            case .not: return compound.subpredicates.first.map(whereTrue) ?? Self.negated(predicate)
            case .and: return CompoundPredicate(type: .or, subpredicates: compound.subpredicates.map(whereFalse))
            default: return CompoundPredicate(type: .and, subpredicates: compound.subpredicates.map(whereFalse))
            }
        default: return Self.negated(predicate)
        }
    }

    private func whereTrue(_ comparison: NSComparisonPredicate) -> NSPredicate {
        let (left, right) = (apply(to: comparison.leftExpression), apply(to: comparison.rightExpression))
        let excludesNull = !decidesAboutNull(comparison) && !nullable(comparison).isEmpty
        if left === comparison.leftExpression, right === comparison.rightExpression, !excludesNull { return comparison }
        return comparison.with(left, right, excludesNull: excludesNull)
    }

    private func whereFalse(_ comparison: NSComparisonPredicate) -> NSPredicate {
        let isDirect = comparison.comparisonPredicateModifier == .direct
        guard isDirect, !decidesAboutNull(comparison) else { return Self.negated(whereTrue(comparison)) }
        let type = comparison.predicateOperatorType
        // Nothing is in an empty list, whatever it is.
        if type == .in, Self.isEmptyList(comparison.rightExpression) { return Self.negated(comparison) }
        if Self.isNull(comparison.leftExpression) || Self.isNull(comparison.rightExpression) {
            return NSPredicate(value: false)
        }
        if let opposite = type.opposite {
            return whereTrue(comparison.with(comparison.leftExpression, comparison.rightExpression, type: opposite))
        }
        // One bound may say so where the other one is null.
        if type == .between, case .aggregate(let bounds) = comparison.rightExpression.form, bounds.count == 2 {
            let left = comparison.leftExpression
            let inside = [
                comparison.with(left, bounds[0], type: .greaterThanOrEqualTo),
                comparison.with(left, bounds[1], type: .lessThanOrEqualTo),
            ]
            return whereFalse(CompoundPredicate(type: .and, subpredicates: inside))
        }
        let guards = nullable(comparison).map { expression in
            NSComparisonPredicate(
                apply(to: expression), NSExpression(forConstantValue: nil), .direct, .notEqualTo, [], nil)
        }
        let negated = Self.negated(whereTrue(comparison))
        return guards.isEmpty ? negated : CompoundPredicate(type: .and, subpredicates: guards + [negated])
    }

    private static func negated(_ predicate: NSPredicate) -> NSPredicate {
        CompoundPredicate(type: .not, subpredicates: [predicate])
    }

    // MARK: Comparisons

    /// Whether a comparison has an answer for null: `== nil` and `!= nil` ask for it, methods decide by themselves.
    private func decidesAboutNull(_ comparison: NSComparisonPredicate) -> Bool {
        if comparison.customSelector != nil { return true }
        guard comparison.predicateOperatorType.opposite != nil else { return false }
        return Self.isNull(comparison.leftExpression) || Self.isNull(comparison.rightExpression)
    }

    private static func isNull(_ expression: NSExpression) -> Bool {
        guard case .constant(let value) = expression.form else { return false }
        if case .null = Operand(value) { return true }
        return false
    }

    private static func isEmptyList(_ expression: NSExpression) -> Bool {
        switch expression.form {
        case .constant(let value): Operand(value).members?.isEmpty == true
        case .aggregate(let elements): elements.isEmpty
        default: false
        }
    }

    /// What of a comparison may be null.
    private func nullable(_ comparison: NSComparisonPredicate) -> [NSExpression] {
        let isModified = comparison.comparisonPredicateModifier != .direct
        // Of a modifier's side, each of the values.
        return (isModified ? [comparison.leftExpression] : nullable(comparison.leftExpression))
            + nullable(comparison.rightExpression)
    }

    /// The expression if its value may be null; of a list the elements that may.
    private func nullable(_ expression: NSExpression) -> [NSExpression] {
        switch expression.form {
        case .constant, .evaluatedObject, .anyKey, .subquery, .set, .fetch, .block: return []
        case .variable(let name): return variables.keys.contains(name) ? [] : [expression]
        case .keyPath(nil, let path): return isNullable(path, from: shape) ? [expression] : []
        case .keyPath(let operand?, let path):
            switch operand.form {
            case .variable(let name):
                guard case let start?? = variables[name] else { return [expression] }
                return isNullable(path, from: start) ? [expression] : []
            case .subquery(let collection, _, _):
                return path.names == ["@count"] && !isBehindReference(collection) ? [] : [expression]
            default: return [expression]
            }
        case .aggregate(let elements): return elements.flatMap(nullable)
        case .function, .conditional: return [expression]
        }
    }

    /// Whether a collection is that of an object at the end of a to-one relationship, which may be empty: then there is
    /// nothing whose members could be counted.
    private func isBehindReference(_ collection: NSExpression) -> Bool {
        switch collection.form {
        case .keyPath(nil, let path): return isBehindReference(path, from: shape)
        case .keyPath(let operand?, let path):
            guard case .variable(let name) = operand.form, case let start?? = variables[name] else { return true }
            return isBehindReference(path, from: start)
        case .subquery(let inner, _, _): return isBehindReference(inner)
        case .set(_, let left, _): return isBehindReference(left)
        case .constant, .aggregate: return false
        default: return true
        }
    }

    private func isBehindReference(_ path: KeyPathComponents, from start: EntityShape) -> Bool {
        // Behind a to-many relationship there is a collection, whatever its members lead to.
        let first = path.names.first { $0 != "self" && $0 != "SELF" }
        return first.flatMap { start.relationship($0) }?.isToMany != true
    }

    /// Whether what a path leads to may be null. Collections, objects themselves and their counts are not.
    private func isNullable(_ path: KeyPathComponents, from start: EntityShape) -> Bool {
        var current: EntityShape? = start
        var isBehindReference = false
        for (index, name) in path.names.enumerated() where name != "self" && name != "SELF" {
            if name == "objectID" || name == "entity" { return isBehindReference }
            guard let relationship = current?.relationship(name) else { return true }
            if relationship.isToMany {
                guard path.names[(index + 1)...].contains(where: { $0.hasPrefix("@") }) else { return false }
                return path.names.last != "@count" || isBehindReference
            }
            current = relationship.destination
            isBehindReference = true
        }
        return isBehindReference
    }

    // MARK: Expressions

    /// The expression with the predicates in it rewritten; itself if there is nothing to rewrite.
    private func apply(to expression: NSExpression) -> NSExpression {
        switch expression.form {
        case .subquery(let collection, let variable, let predicate):
            var inner = self
            inner.variables.updateValue(entity(of: collection), forKey: variable)
            return NSExpression(form: .subquery(apply(to: collection), variable, inner.whereTrue(predicate)))
        case .conditional(let predicate, let first, let second):
            return NSExpression(
                form: .conditional(whereTrue(predicate), apply(to: first), apply(to: second)))
        case .keyPath(let operand?, let path):
            let changed = apply(to: operand)
            return changed === operand ? expression : NSExpression(form: .keyPath(operand: changed, path: path))
        case .function(let target, let name, let arguments):
            let changed = arguments.map { apply(to: $0) }
            if zip(arguments, changed).allSatisfy({ $0 === $1 }) { return expression }
            return NSExpression(form: .function(target: target, name: name, arguments: changed))
        default: return expression
        }
    }

    /// The entity of the objects that a collection has, if that can be told.
    private func entity(of collection: NSExpression) -> EntityShape? {
        switch collection.form {
        case .keyPath(nil, let path): return entity(at: path, from: shape)
        case .keyPath(let operand?, let path):
            guard case .variable(let name) = operand.form, case let start?? = variables[name] else { return nil }
            return entity(at: path, from: start)
        case .subquery(let inner, _, _): return entity(of: inner)
        default: return nil
        }
    }

    private func entity(at path: KeyPathComponents, from start: EntityShape) -> EntityShape? {
        path.names.reduce(start as EntityShape?) { $0?.relationship($1)?.destination }
    }
}

extension NSComparisonPredicate.Operator {
    /// What is true of two values where this is false; nil where that is no operator.
    fileprivate var opposite: Self? {
        switch self {
        case .equalTo: .notEqualTo
        case .notEqualTo: .equalTo
        default: nil
        }
    }
}
