import Foundation

/// A predicate whose key paths have been looked up: what is left to an execution is to bring its constants into the
/// form of the columns, which ``PredicateCompiler`` does. Immutable; knows nothing of a store.
indirect enum ResolvedPredicate {
    case constant(Bool)
    case comparison(ResolvedComparison)
    /// Two columns of the same row.
    case columns(slot: Int, ColumnPair)
    /// A comparison that is looked at with its constants in place: one of members of a to-many relationship, or one for
    /// the interpreter.
    case whole(NSPredicate)
    case all([ResolvedPredicate])
    case any([ResolvedPredicate])
    case not(ResolvedPredicate)
}

/// A comparison of a column, of what lies behind a to-one relationship, or of the object itself, with a constant.
final class ResolvedComparison {
    enum Side {
        case slot(Int)
        /// What lies behind a to-one relationship.
        case path(slot: Int, rest: ArraySlice<String>)
        case object
    }

    enum Constant {
        case value(Operand)
        /// The plan's parameter of that number.
        case parameter(Int)
    }

    let side: Side
    /// With the constant on the right.
    let type: NSComparisonPredicate.Operator
    let options: NSComparisonPredicate.Options
    let constant: Constant
    let excludesNull: Bool
    /// What it was made of.
    let predicate: NSComparisonPredicate

    init(
        _ side: Side, _ type: NSComparisonPredicate.Operator, _ constant: Constant, _ comparison: NSComparisonPredicate
    ) {
        self.side = side
        self.type = type
        self.constant = constant
        predicate = comparison
        options = comparison.comparedOptions
        excludesNull = comparison.excludesNull
    }
}

/// Looks up the key paths of a predicate.
struct PredicateResolver {
    let shape: EntityShape
    /// The numbers of the plan's parameters, by the expressions that they are.
    var parameters: [ObjectIdentifier: Int] = [:]

    /// The parts of a predicate that must all hold.
    static func conjuncts(_ predicate: NSPredicate) -> [NSPredicate] {
        CompoundPredicate.members(of: [predicate], .and)
    }

    func resolve(_ predicate: NSPredicate) -> ResolvedPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate: return resolve(comparison)
        case let compound as NSCompoundPredicate:
            let type = compound.compoundPredicateType
            switch type {
            case .and: return .all(CompoundPredicate.members(of: [compound], type).map { resolve($0) })
            case .or: return .any(CompoundPredicate.members(of: [compound], type).map { resolve($0) })
            case .not: return .not(compound.subpredicates.first.map { resolve($0) } ?? .constant(false))
            @unknown default: return .whole(predicate)
            }
        default:
            switch predicate.formatString {
            case "TRUEPREDICATE": return .constant(true)
            case "FALSEPREDICATE": return .constant(false)
            default: return .whole(predicate)
            }
        }
    }

    private func resolve(_ comparison: NSComparisonPredicate) -> ResolvedPredicate {
        let type = comparison.predicateOperatorType
        guard comparison.comparisonPredicateModifier == .direct, comparison.customSelector == nil,
            !comparison.options.contains(.localeSensitive),
            !SemiJoinCompiler.leadsToMany(comparison.leftExpression, shape),
            !SemiJoinCompiler.leadsToMany(comparison.rightExpression, shape)
        else { return .whole(comparison) }
        if let right = constant(comparison.rightExpression) {
            guard let left = side(comparison.leftExpression) else { return .whole(comparison) }
            return .comparison(ResolvedComparison(left, type, right.constant, comparison))
        }
        if let columns = columns(comparison) { return columns }
        guard let left = constant(comparison.leftExpression), let right = side(comparison.rightExpression) else {
            return .whole(comparison)
        }
        if case .object = right {
            guard type == .equalTo || type == .notEqualTo else { return .whole(comparison) }
            return .comparison(ResolvedComparison(right, type, left.constant, comparison))
        }
        if type == .in, case .string = left.operand {
            return .comparison(ResolvedComparison(right, .contains, left.constant, comparison))
        }
        guard let relation = Relation(type) else { return .whole(comparison) }
        return .comparison(ResolvedComparison(right, relation.flipped.type, left.constant, comparison))
    }

    /// A comparison of two attributes that null does not satisfy, as in every request (``ThreeValuedLogic``).
    private func columns(_ comparison: NSComparisonPredicate) -> ResolvedPredicate? {
        guard let relation = Relation(comparison.predicateOperatorType), comparison.excludesNull,
            comparison.comparedOptions.isEmpty, case .slot(let left)? = side(comparison.leftExpression),
            case .slot(let right)? = side(comparison.rightExpression),
            let columns = ColumnPair(shape.slots[left].kind, relation, right, shape.slots[right].kind)
        else { return nil }
        return .columns(slot: left, columns)
    }

    private func constant(
        _ expression: NSExpression
    ) -> (constant: ResolvedComparison.Constant, operand: Operand)? {
        guard let operand = Self.operand(expression) else { return nil }
        return (parameters[ObjectIdentifier(expression)].map { .parameter($0) } ?? .value(operand), operand)
    }

    /// The value of an expression of constants alone; nil for others.
    static func operand(_ expression: NSExpression) -> Operand? {
        expression.form.constantValue.map { Operand($0) }
    }

    private func side(_ expression: NSExpression) -> ResolvedComparison.Side? {
        switch expression.form {
        case .evaluatedObject: .object
        case .keyPath(nil, let path): side(path.names[...])
        default: nil
        }
    }

    /// Nil for what is no column, and leads to none.
    func side(_ path: ArraySlice<String>) -> ResolvedComparison.Side? {
        if let (slot, rest) = shape.slot(on: path) {
            if rest.isEmpty { return .slot(slot) }
            return shape.slots[slot].kind == .toOne ? .path(slot: slot, rest: rest) : nil
        }
        guard path.count == 1, let name = path.first, shape.property(name) == nil else { return nil }
        return ["self", "SELF", "objectID"].contains(name) ? .object : nil
    }
}

extension NSComparisonPredicate {
    /// The options that compiled tests know: normalised text is compared as it is.
    var comparedOptions: Options {
        options.contains(.normalized) ? [] : options.intersection([.caseInsensitive, .diacriticInsensitive])
    }
}
