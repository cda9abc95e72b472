import Foundation
import StrataLog

/// Compiles comparisons of key paths that lead through a to-many relationship, and of subqueries' counts.
///
/// What `ANY` and `ALL` mean for nulls on the way is said here alone: a path that ends early has null as its only leaf,
/// a relationship without members none.
struct SemiJoinCompiler {
    private let compiler: PredicateCompiler
    private let comparison: NSComparisonPredicate
    private let options: NSComparisonPredicate.Options
    /// The side that is not constant.
    private let variable: NSExpression
    private let constant: Operand
    private let test: ValueComparison

    /// Nil when no side is constant or the other leads to no to-many relationship, and for what is compared as the
    /// locale does or by a method.
    init?(_ compiler: PredicateCompiler, _ comparison: NSComparisonPredicate) {
        guard comparison.customSelector == nil, !comparison.options.contains(.localeSensitive) else { return nil }
        let isConstantLeft = comparison.rightExpression.form.constantValue == nil
        let variable = isConstantLeft ? comparison.rightExpression : comparison.leftExpression
        // What comes before the operator is what modifiers are about.
        guard !isConstantLeft || comparison.comparisonPredicateModifier == .direct,
            Self.leadsToMany(variable, compiler.shape),
            let test = ValueComparison(comparison, isConstantLeft: isConstantLeft)
        else { return nil }
        self.compiler = compiler
        self.comparison = comparison
        self.test = test
        self.variable = variable
        constant = test.operand
        options = comparison.comparedOptions
    }

    /// Whether a key path, or a subquery's, comes to a to-many relationship.
    static func leadsToMany(_ expression: NSExpression, _ shape: EntityShape) -> Bool {
        switch expression.form {
        case .keyPath(nil, let path):
            var current = shape
            for name in path.names {
                guard let relationship = current.relationship(name) else { return false }
                if relationship.isToMany { return true }
                current = relationship.destination
            }
            return false
        case .keyPath(let operand?, _):
            if case .subquery(let collection, _, _) = operand.form { return leadsToMany(collection, shape) }
            return false
        default: return false
        }
    }

    /// Nil when no to-many relationship is in it, or the interpreter has to do it.
    func node() throws -> CompiledPredicate.Node? {
        switch variable.form {
        case .keyPath(nil, let path):
            if path.names.contains(where: { $0.hasPrefix("@") }) { return try operation(path.names[...], compiler) }
            switch comparison.comparisonPredicateModifier {
            case .direct: return try member(path.names[...], compiler)
            case .any: return try leaves(path.names[...], compiler)
            case .all: return try leaves(path.names[...], compiler).map { .not($0) }
            }
        case .keyPath(let operand?, let path) where path.names == ["@count"]:
            guard case .subquery(let collection, let name, let predicate) = operand.form,
                case .keyPath(nil, let way) = collection.form
            else { return nil }
            return try subquery(way.names[...], compiler, name, predicate)
        default: return nil
        }
    }

    // MARK: The way to the relationship

    /// Follows to-one relationships up to the first to-many one, and has a condition made of that.
    private func follow(
        _ path: ArraySlice<String>, _ compiler: PredicateCompiler,
        _ make: (RelationshipShape, PredicateCompiler, ArraySlice<String>) throws -> CompiledPredicate.Node?
    ) throws -> CompiledPredicate.Node? {
        guard let name = path.first else { return nil }
        switch compiler.shape.property(name) {
        case .toMany(let index)?:
            let relationship = compiler.shape.relationships[index]
            guard compiler.isUsable(relationship) else { return nil }
            return try make(relationship, inner(relationship), path.dropFirst())
        case .slot(let slot)? where compiler.info(slot).kind == .toOne && compiler.info(slot).isPersistent:
            let relationship = compiler.relationship(slot)
            guard compiler.isWorthScanning(relationship.destination) else { return nil }
            return try follow(path.dropFirst(), inner(relationship), make).map {
                .join(SemiJoin(toOne: relationship, $0))
            }
        default: return nil
        }
    }

    private func inner(_ relationship: RelationshipShape) -> PredicateCompiler {
        PredicateCompiler(relationship.destination, compiler.handle, compiler.snapshot)
    }

    // MARK: Leaves

    /// `ANY`: whether a leaf satisfies the comparison. `ALL`: whether one does not.
    private func leaves(
        _ path: ArraySlice<String>, _ compiler: PredicateCompiler
    ) throws -> CompiledPredicate.Node? {
        let isAll = comparison.comparisonPredicateModifier == .all
        return try follow(path, compiler) { relationship, inner, rest in
            guard let condition = try rest.isEmpty ? object(inner) : leaf(rest, inner) else { return nil }
            return .join(SemiJoin(relationship, condition, nullResult: test.holds(nil) != isAll))
        }
    }

    /// What is left of a path behind a to-many relationship.
    private func leaf(_ path: ArraySlice<String>, _ compiler: PredicateCompiler) throws -> CompiledPredicate.Node? {
        if path.count == 1, case .slot(let slot)? = compiler.shape.property(path[path.startIndex]),
            compiler.info(slot).isPersistent
        {
            let node = try SlotCompiler(compiler, slot, options)
                .node(comparison.predicateOperatorType, constant, excludesNull: comparison.excludesNull)
            return comparison.comparisonPredicateModifier == .all ? node.map { .not($0) } : node
        }
        if case .slot(let slot)? = path.first.flatMap({ compiler.shape.property($0) }), path.count > 1,
            compiler.info(slot).kind == .toOne, compiler.info(slot).isPersistent
        {
            let relationship = compiler.relationship(slot)
            guard compiler.isWorthScanning(relationship.destination) else { return nil }
            return try leaf(path.dropFirst(), inner(relationship)).map { .join(SemiJoin(toOne: relationship, $0)) }
        }
        return try leaves(path, compiler)
    }

    /// The members themselves, none of which is null.
    private func object(_ compiler: PredicateCompiler) throws -> CompiledPredicate.Node? {
        let type = comparison.predicateOperatorType
        let isAll = comparison.comparisonPredicateModifier == .all
        if case .null = constant {
            guard type == .equalTo || type == .notEqualTo else { return nil }
            return .constant((type == .notEqualTo) != isAll)
        }
        let node = try compiler.object(type, constant)
        return isAll ? node.map { .not($0) } : node
    }

    // MARK: Members

    /// `relationship CONTAINS x`, `x IN relationship`, and the same of an attribute of the members.
    private func member(
        _ path: ArraySlice<String>, _ compiler: PredicateCompiler
    ) throws -> CompiledPredicate.Node? {
        let isConstantLeft = variable === comparison.rightExpression
        guard comparison.predicateOperatorType == (isConstantLeft ? .in : .contains) else { return nil }
        return try follow(path, compiler) { relationship, inner, rest in
            let condition: CompiledPredicate.Node?
            switch (constant, rest.count) {
            case (.null, _), (.list, _), (.dictionary, _): return nil
            case (_, 0): condition = try inner.object(.equalTo, constant)
            case (_, 1):
                guard case .slot(let slot)? = inner.shape.property(rest[rest.startIndex]), inner.info(slot).isPersistent
                else { return nil }
                condition = try SlotCompiler(inner, slot, options).node(.equalTo, constant)
            default: return nil
            }
            return condition.map { .join(SemiJoin(relationship, $0, nullResult: false)) }
        }
    }

    // MARK: Operators

    /// `relationship.@count`, `relationship.@sum.attribute` and its kin.
    private func operation(
        _ path: ArraySlice<String>, _ compiler: PredicateCompiler
    ) throws -> CompiledPredicate.Node? {
        try follow(path, compiler) { relationship, _, rest in
            let nullResult = test.holds(nil)
            let quantifier: SemiJoin.Quantifier
            switch RowMembers.Function(rest, relationship) {
            case nil, .text?: return nil
            case .count?: quantifier = .count(test)
            case .aggregate(let function, let slot, _)?: quantifier = .aggregate(function, slot: slot, test)
            }
            return .join(SemiJoin(relationship, .constant(true), quantifier, nullResult: nullResult))
        }
    }

    /// `SUBQUERY(relationship, $x, …).@count`.
    private func subquery(
        _ path: ArraySlice<String>, _ compiler: PredicateCompiler, _ name: String, _ predicate: NSPredicate
    ) throws -> CompiledPredicate.Node? {
        guard let own = VariableFocus(name).apply(to: predicate) else { return nil }
        return try follow(path, compiler) { relationship, inner, rest in
            guard rest.isEmpty, let condition = try inner.node(own) else { return nil }
            return .join(SemiJoin(relationship, condition, .count(test), nullResult: test.holds(nil)))
        }
    }
}
