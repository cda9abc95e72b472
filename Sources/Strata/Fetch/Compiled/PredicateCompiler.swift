import Foundation
import StrataLog

/// Makes a ``CompiledPredicate`` of a predicate whose constants are folded.
///
/// Nothing is compiled whose results could differ from the interpreter's: what this does not know stays with it. Parts
/// of a conjunction are taken one by one.
struct PredicateCompiler {
    private let shape: EntityShape
    private let handle: StoreHandle
    private let snapshot: Snapshot

    init(_ shape: EntityShape, _ handle: StoreHandle, _ snapshot: Snapshot) {
        self.shape = shape
        self.handle = handle
        self.snapshot = snapshot
    }

    func compile(_ predicate: NSPredicate?) throws(StoreError) -> CompiledPredicate {
        guard let predicate else { return CompiledPredicate(program: .constant(true), rest: nil) }
        var nodes: [CompiledPredicate.Node] = []
        var rest: [NSPredicate] = []
        for part in Self.conjuncts(predicate) {
            if let node = try node(part) { nodes.append(node) } else { rest.append(part) }
        }
        let remaining = rest.count > 1 ? CompoundPredicate(type: .and, subpredicates: rest) : rest.first
        return CompiledPredicate(program: Self.all(nodes), rest: remaining)
    }

    private static func conjuncts(_ predicate: NSPredicate) -> [NSPredicate] {
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

    private func node(_ predicate: NSPredicate) throws(StoreError) -> CompiledPredicate.Node? {
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
        case object
        case constant(Operand)
        case other
    }

    private func side(_ expression: NSExpression) -> Side {
        switch expression.form {
        case .evaluatedObject: return .object
        case .keyPath(nil, let path):
            guard path.names.count == 1 else { return .other }
            switch shape.place(path.names[0]) {
            case .slot(let slot)? where shape.slots[slot].isPersistent: return .slot(slot)
            case nil where ["self", "SELF", "objectID"].contains(path.names[0]): return .object
            default: return .other
            }
        case .constant(let value): return .constant(Operand(value))
        case .aggregate(let elements) where elements.allSatisfy({ $0.expressionType == .constantValue }):
            return .constant(Operand(elements.map { $0.constantValue ?? NSNull() }))
        default: return .other
        }
    }

    private func node(_ comparison: NSComparisonPredicate) throws(StoreError) -> CompiledPredicate.Node? {
        let type = comparison.predicateOperatorType
        guard comparison.comparisonPredicateModifier == .direct, comparison.customSelector == nil,
            !comparison.options.contains(.localeSensitive)
        else { return nil }
        let options: NSComparisonPredicate.Options =
            comparison.options.contains(.normalized)
            ? [] : comparison.options.intersection([.caseInsensitive, .diacriticInsensitive])
        switch (side(comparison.leftExpression), side(comparison.rightExpression)) {
        case (.slot(let slot), .constant(let value)):
            return try SlotCompiler(self, slot, options).node(type, value)
        case (.constant(let value), .slot(let slot)):
            if type == .in, case .string = value { return try SlotCompiler(self, slot, options).node(.contains, value) }
            guard let relation = Relation(type) else { return nil }
            return try SlotCompiler(self, slot, options).node(relation.flipped, value)
        case (.object, .constant(let value)): return try object(type, value)
        case (.constant(let value), .object):
            return type == .equalTo || type == .notEqualTo ? try object(type, value) : nil
        default: return nil
        }
    }

    private func object(
        _ type: NSComparisonPredicate.Operator, _ value: Operand
    ) throws(StoreError) -> CompiledPredicate.Node? {
        guard let keys = try keys(type, value, of: shape) else { return nil }
        return .test(ColumnTest(slot: 0, kind: .toOne, condition: .key(keys, isNegated: type == .notEqualTo)))
    }

    /// The keys of the objects that a comparison with `==`, `!=` or `IN` names; nil for another comparison, and when
    /// something else than IDs is among them. Objects that do not exist, or lie elsewhere, equal no row.
    func keys(
        _ type: NSComparisonPredicate.Operator, _ value: Operand, of target: EntityShape
    ) throws(StoreError) -> IntegerSet? {
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

    func info(_ slot: Int) -> SlotInfo { shape.slots[slot] }

    func destination(_ slot: Int) -> EntityShape {
        shape.relationships[shape.slots[slot].relationshipIndex].destination
    }
}
