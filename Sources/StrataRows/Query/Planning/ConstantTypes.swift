import Foundation

/// Brings the constants of a predicate into the types of what they are compared with, and finds those that have no such
/// type.
///
/// Core Data's stores bind a constant in the type of the column that it is compared with, so that `age == "30"` finds
/// what `age == 30` does, and `name == 30` what `name == "30"` does. This is done once, before anything is compiled,
/// looked up in an index or interpreted, so that all of these agree.
///
/// What cannot be converted would be true of no object, and mostly is a mistake: it is an error.
package struct ConstantTypes {
    private let shape: EntityShape
    /// What the variables of the subqueries around stand for; nil where that is not known.
    private var variables: [String: EntityShape?] = [:]

    package init(_ shape: EntityShape) {
        self.shape = shape
    }

    /// - Throws: `CocoaError` 134070 for a constant that cannot be compared with what it is compared with, an operator
    ///   that does not fit the property, and a `MATCHES` pattern that is no regular expression.
    package func apply(to predicate: NSPredicate) throws -> NSPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate: return try apply(to: comparison)
        case let compound as NSCompoundPredicate:
            let parts = compound.subpredicates
            let changed = try parts.map { try apply(to: $0) }
            if zip(parts, changed).allSatisfy({ $0 === $1 }) { return predicate }
            return CompoundPredicate(type: compound.compoundPredicateType, subpredicates: changed)
        default: return predicate
        }
    }

    private func apply(to comparison: NSComparisonPredicate) throws -> NSPredicate {
        var left = try apply(to: comparison.leftExpression)
        var right = try apply(to: comparison.rightExpression)
        if comparison.customSelector == nil {
            let type = comparison.predicateOperatorType
            let checker = ComparisonTypes(type, comparison.options)
            try checker.checkOperands(right)
            if let target = target(of: left), checker.readsText(of: target) {
                left = Self.text(of: left)
            } else if let target = target(of: left) {
                try checker.check(target)
                right = try checker.converted(right, for: target) ?? right
            } else if let target = target(of: right) {
                left = try checker.converted(left, forRight: target) ?? left
            }
        }
        if left === comparison.leftExpression, right === comparison.rightExpression { return comparison }
        return NSComparisonPredicate(
            left, right, comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options,
            comparison.customSelector)
    }

    /// What a key path to a URI leads to as a text.
    private static func text(of path: NSExpression) -> NSExpression {
        guard case .keyPath(let operand, let names) = path.form else { return path }
        let text = KeyPathComponents("\(names.text).absoluteString")
        return NSExpression(form: .keyPath(operand: operand, path: text))
    }

    // MARK: Expressions

    /// The expression with the predicates in it changed; itself if there is nothing to change.
    private func apply(to expression: NSExpression) throws -> NSExpression {
        switch expression.form {
        case .subquery(let collection, let variable, let predicate):
            var inner = self
            inner.variables.updateValue(entity(of: collection), forKey: variable)
            let changed = try inner.apply(to: predicate)
            return changed === predicate ? expression : NSExpression(form: .subquery(collection, variable, changed))
        case .keyPath(let operand?, let path):
            let changed = try apply(to: operand)
            return changed === operand ? expression : NSExpression(form: .keyPath(operand: changed, path: path))
        case .function(let target, let name, let arguments):
            let changed = try arguments.map { try apply(to: $0) }
            if zip(arguments, changed).allSatisfy({ $0 === $1 }) { return expression }
            return NSExpression(form: .function(target: target, name: name, arguments: changed))
        default: return expression
        }
    }

    /// The entity of the objects that a collection has, if that can be told.
    private func entity(of expression: NSExpression) -> EntityShape? {
        if case .relationship(_, let relationship, _)? = target(of: expression) { return relationship.destination }
        return nil
    }

    // MARK: What is compared

    private func target(of expression: NSExpression) -> ComparisonTypes.Target? {
        switch expression.form {
        case .evaluatedObject: return .object(shape)
        case .keyPath(nil, let path): return Self.target(of: path.names[...], from: shape)
        case .variable(let name):
            guard case let start?? = variables[name] else { return nil }
            return .object(start)
        case .keyPath(let operand?, let path):
            if path.names == ["@count"] { return .count(shape) }
            guard case .variable(let name) = operand.form, case let start?? = variables[name] else { return nil }
            return Self.target(of: path.names[...], from: start)
        default: return nil
        }
    }

    /// What the property at the end of a key path holds; nil where that is not known.
    private static func target(of path: ArraySlice<String>, from start: EntityShape) -> ComparisonTypes.Target? {
        var current = start
        var rest = path
        var isMany = false
        while let name = rest.popFirst() {
            if name == "self" || name == "SELF" {
                if rest.isEmpty { return .object(current) }
                continue
            }
            if name == "objectID" { return rest.isEmpty ? .object(current) : nil }
            if name == "@count" { return rest.isEmpty ? .count(current) : nil }
            if let relationship = current.relationship(name) {
                if relationship.isToMany { isMany = true }
                if rest.isEmpty { return .relationship(current, relationship, isMany: isMany) }
                current = relationship.destination
                continue
            }
            // An element of a composite attribute goes by its whole path.
            let whole = ([name] + rest).joined(separator: ".")
            guard case .slot(let slot)? = current.property(whole) else { return nil }
            return .attribute(current, current.slots[slot], isMany: isMany)
        }
        return .object(current)
    }
}
