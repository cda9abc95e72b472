import Foundation
import StrataLog

/// Makes a ``CompiledPredicate`` of a predicate whose constants are folded.
///
/// Nothing is compiled whose results could differ from the interpreter's: what this does not know stays with it. Parts
/// of a conjunction are taken one by one.
struct PredicateCompiler {
    let shape: EntityShape
    let handle: StoreHandle
    let snapshot: Snapshot

    init(_ shape: EntityShape, _ handle: StoreHandle, _ snapshot: Snapshot) {
        self.shape = shape
        self.handle = handle
        self.snapshot = snapshot
    }

    func compile(_ predicate: NSPredicate?) throws -> CompiledPredicate {
        guard let predicate else { return CompiledPredicate(program: .constant(true), rest: nil) }
        var nodes: [CompiledPredicate.Node] = []
        var rest: [NSPredicate] = []
        for part in Self.conjuncts(predicate) {
            if let node = try node(part) { nodes.append(node) } else { rest.append(part) }
        }
        let remaining = rest.count > 1 ? CompoundPredicate(type: .and, subpredicates: rest) : rest.first
        return CompiledPredicate(program: Self.all(nodes), rest: remaining)
    }

    /// The parts of a predicate that must all hold.
    static func conjuncts(_ predicate: NSPredicate) -> [NSPredicate] {
        guard let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .and else {
            return [predicate]
        }
        return compound.subpredicates.flatMap { conjuncts($0) }
    }

    /// Cheap tests come first.
    private static func all(_ nodes: [CompiledPredicate.Node]) -> CompiledPredicate.Node {
        switch nodes.count {
        case 0: .constant(true)
        case 1: nodes[0]
        default: .all(nodes.sorted { $0.cost < $1.cost })
        }
    }

    /// Nil for what the interpreter has to do, if only a part of it.
    func node(_ predicate: NSPredicate) throws -> CompiledPredicate.Node? {
        switch predicate {
        case let comparison as NSComparisonPredicate: return try node(comparison)
        case let compound as NSCompoundPredicate:
            var nodes: [CompiledPredicate.Node] = []
            for part in compound.subpredicates {
                guard let node = try node(part) else { return nil }
                nodes.append(node)
            }
            switch compound.compoundPredicateType {
            case .and: return Self.all(nodes)
            case .or: return nodes.count == 1 ? nodes[0] : .any(nodes.sorted { $0.cost < $1.cost })
            case .not: return .not(nodes.first ?? .constant(false))
            @unknown default: return nil
            }
        default:
            switch predicate.formatString {
            case "TRUEPREDICATE": return .constant(true)
            case "FALSEPREDICATE": return .constant(false)
            default: return nil
            }
        }
    }

    // MARK: Comparisons

    /// One side of a comparison.
    private enum Side {
        case slot(Int)
        /// What lies behind a to-one relationship.
        case path(slot: Int, rest: ArraySlice<String>)
        case object
        case constant(Operand)
        case other
    }

    private func side(_ expression: NSExpression) -> Side {
        switch expression.form {
        case .evaluatedObject: return .object
        case .keyPath(nil, let path): return side(path.names[...])
        case .constant(let value): return .constant(Operand(value))
        case .aggregate(let elements) where elements.allSatisfy({ $0.expressionType == .constantValue }):
            return .constant(Operand(elements.map { $0.constantValue ?? NSNull() }))
        default: return .other
        }
    }

    private func side(_ path: ArraySlice<String>) -> Side {
        guard let name = path.first else { return .other }
        switch shape.place(name) {
        case .slot(let slot)? where shape.slots[slot].isPersistent:
            if path.count == 1 { return .slot(slot) }
            return shape.slots[slot].kind == .toOne ? .path(slot: slot, rest: path.dropFirst()) : .other
        case nil where path.count == 1 && ["self", "SELF", "objectID"].contains(name): return .object
        default: return .other
        }
    }

    private func node(_ comparison: NSComparisonPredicate) throws -> CompiledPredicate.Node? {
        if let node = try SemiJoinCompiler(self, comparison)?.node() { return node }
        let type = comparison.predicateOperatorType
        guard comparison.comparisonPredicateModifier == .direct, comparison.customSelector == nil,
            !comparison.options.contains(.localeSensitive)
        else { return nil }
        let options: NSComparisonPredicate.Options =
            comparison.options.contains(.normalized)
            ? [] : comparison.options.intersection([.caseInsensitive, .diacriticInsensitive])
        let (left, right) = (side(comparison.leftExpression), side(comparison.rightExpression))
        let excludesNull = comparison.excludesNull
        if case .constant(let value) = right { return try node(left, type, options, value, excludesNull) }
        guard case .constant(let value) = left else { return nil }
        switch right {
        case .object: return type == .equalTo || type == .notEqualTo ? try object(type, value) : nil
        case .slot, .path:
            if type == .in, case .string = value { return try node(right, .contains, options, value, excludesNull) }
            guard let relation = Relation(type) else { return nil }
            return try node(right, relation.flipped.type, options, value, excludesNull)
        case .constant, .other: return nil
        }
    }

    private func node(
        _ side: Side, _ type: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options,
        _ value: Operand, _ excludesNull: Bool
    ) throws -> CompiledPredicate.Node? {
        switch side {
        case .slot(let slot):
            return try SlotCompiler(self, slot, options).node(type, value, excludesNull: excludesNull)
        case .object: return try object(type, value)
        case .path(let slot, let rest):
            let destination = destination(slot)
            guard isWorthScanning(destination) else { return nil }
            let inner = PredicateCompiler(destination, handle, snapshot)
            guard let condition = try inner.node(inner.side(rest), type, options, value, excludesNull) else {
                return nil
            }
            return .join(SemiJoin(toOne: relationship(slot), condition))
        case .constant, .other: return nil
        }
    }

    /// A comparison of the object itself.
    func object(
        _ type: NSComparisonPredicate.Operator, _ value: Operand
    ) throws -> CompiledPredicate.Node? {
        guard let keys = try keys(type, value, of: shape) else { return nil }
        return .test(ColumnTest(slot: 0, kind: .toOne, condition: .key(keys, isNegated: type == .notEqualTo)))
    }

    /// The keys of the objects that a comparison with `==`, `!=` or `IN` names; nil for another comparison, and when
    /// something else than IDs is among them. Objects that do not exist, or lie elsewhere, equal no row.
    func keys(
        _ type: NSComparisonPredicate.Operator, _ value: Operand, of target: EntityShape
    ) throws -> IntegerSet? {
        let values: [Any?]
        switch (type, value) {
        case (.equalTo, .object(let one)), (.notEqualTo, .object(let one)): values = [one]
        case (.in, .list): values = value.members ?? []
        default: return nil
        }
        var keys: [Int64] = []
        for value in values {
            guard let value else { continue }
            guard let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID else { return nil }
            guard id.identity === handle.identity, id.shape.root === target.root,
                let row = try snapshot.row(id.ref), row.ref == id.ref
            else { continue }
            keys.append(Int64(id.ref.key))
        }
        return IntegerSet(keys)
    }

    // MARK: Paths

    /// Whether going through all of a relationship's possible targets once is cheaper than through the rows' own.
    func isWorthScanning(_ destination: EntityShape) -> Bool {
        rowCount(destination) <= max(Self.alwaysScanned, rowCount(shape) * 4)
    }

    private static let alwaysScanned = 10_000

    private func rowCount(_ shape: EntityShape) -> Int {
        shape.family.reduce(0) { total, member in
            handle.map.holds(member) ? total + snapshot.count(entity: handle.map.numbers[member.index]) : total
        }
    }

    func info(_ slot: Int) -> SlotInfo { shape.slots[slot] }

    func relationship(_ slot: Int) -> RelationshipShape { shape.relationships[shape.slots[slot].relationshipIndex] }

    func destination(_ slot: Int) -> EntityShape { relationship(slot).destination }
}
