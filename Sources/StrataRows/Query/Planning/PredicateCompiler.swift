import Foundation
import StrataLog

/// Makes a ``CompiledPredicate`` of a predicate whose constants are folded, for one state of a store.
///
/// Nothing is compiled whose results could differ from the interpreter's: what this does not know stays with it. Parts
/// of a conjunction are taken one by one.
struct PredicateCompiler {
    let shape: EntityShape
    let handle: StoreHandle
    let snapshot: Snapshot
    private let parameters: PlanParameters?

    /// - Parameter parameters: the values of the parameters of resolved predicates.
    init(
        _ shape: EntityShape, _ handle: StoreHandle, _ snapshot: Snapshot, _ parameters: PlanParameters? = nil
    ) {
        self.shape = shape
        self.handle = handle
        self.snapshot = snapshot
        self.parameters = parameters
    }

    func compile(_ predicate: NSPredicate) throws -> CompiledPredicate {
        try compile(PlannedCondition(predicate, shape))
    }

    /// - Parameter condition: nil for all rows.
    func compile(_ condition: PlannedCondition?) throws -> CompiledPredicate {
        try compile(condition?.conjuncts ?? [])
    }

    /// - Parameter conjuncts: of which all must hold.
    func compile(_ conjuncts: [PlannedCondition.Conjunct]) throws -> CompiledPredicate {
        var nodes: [CompiledPredicate.Node] = []
        var rest: [NSPredicate] = []
        for part in conjuncts {
            if let node = try node(part.resolved) { nodes.append(node) } else { rest.append(bound(part.predicate)) }
        }
        let remaining = rest.count > 1 ? CompoundPredicate(type: .and, subpredicates: rest) : rest.first
        return CompiledPredicate(program: Self.all(nodes), rest: remaining)
    }

    private func bound(_ predicate: NSPredicate) -> NSPredicate {
        parameters?.substituted(in: predicate) ?? predicate
    }

    private static func all(_ nodes: [CompiledPredicate.Node]) -> CompiledPredicate.Node {
        nodes.isEmpty ? .constant(true) : compound(nodes) { .all($0) }
    }

    /// What is asked of a to-one relationship's object stays a condition on that: it can be put together with others,
    /// and where no object satisfies it nothing has to be scanned.
    private static func not(_ node: CompiledPredicate.Node) -> CompiledPredicate.Node {
        guard case .join(let join) = node, !join.isToMany else { return .not(node) }
        return .join(SemiJoin(toOne: join.relationship, .not(join.condition)))
    }

    private static func any(_ nodes: [CompiledPredicate.Node]) -> CompiledPredicate.Node {
        compound(nodes) { .any($0) }
    }

    /// Cheap tests come first. What is asked of one to-one relationship's object is asked together, so that the objects
    /// are gone through once.
    private static func compound(
        _ nodes: [CompiledPredicate.Node], _ make: ([CompiledPredicate.Node]) -> CompiledPredicate.Node
    ) -> CompiledPredicate.Node {
        var parts: [CompiledPredicate.Node] = []
        var behind: [(relationship: RelationshipShape, conditions: [CompiledPredicate.Node])] = []
        for node in nodes {
            guard case .join(let join) = node, !join.isToMany else {
                parts.append(node)
                continue
            }
            if let known = behind.firstIndex(where: { $0.relationship === join.relationship }) {
                behind[known].conditions.append(join.condition)
            } else {
                behind.append((join.relationship, [join.condition]))
            }
        }
        for (relationship, conditions) in behind {
            parts.append(.join(SemiJoin(toOne: relationship, compound(conditions, make))))
        }
        return parts.count == 1 ? parts[0] : make(parts.sorted { $0.cost < $1.cost })
    }

    /// Nil for what the interpreter has to do, if only a part of it.
    func node(_ predicate: NSPredicate) throws -> CompiledPredicate.Node? {
        try node(PredicateResolver(shape: shape).resolve(predicate))
    }

    /// Whether a comparison nests deeper than what is compiled: each step of a path would be a join in a join.
    private static func isTooDeep(_ predicate: NSPredicate) -> Bool {
        guard let comparison = predicate as? NSComparisonPredicate else { return false }
        return max(comparison.leftExpression.depth, comparison.rightExpression.depth) > ExpressionCompiler.maximumDepth
    }

    /// As ``node(_:)-(NSPredicate)``.
    func node(_ resolved: ResolvedPredicate) throws -> CompiledPredicate.Node? {
        switch resolved {
        case .constant(let value): return .constant(value)
        case .comparison(let comparison) where Self.isTooDeep(comparison.predicate): return nil
        case .whole(let predicate) where Self.isTooDeep(predicate): return nil
        case .comparison(let comparison):
            if let node = try node(comparison) { return node }
            guard case .path = comparison.side else { return nil }
            return try (bound(comparison.predicate) as? NSComparisonPredicate).flatMap { try computed($0) }
        case .columns(let slot, let comparison):
            return .test(ColumnPredicate(slot: slot, kind: info(slot).kind, condition: .column(comparison)))
        case .whole(let predicate):
            guard let comparison = bound(predicate) as? NSComparisonPredicate else { return nil }
            if let node = memberAndOwner(comparison) { return node }
            return try SemiJoinCompiler(self, comparison)?.node() ?? behindToOne(comparison) ?? computed(comparison)
        case .not(let part): return try node(part).map(Self.not)
        case .all(let parts): return try nodes(parts).map { Self.all($0) }
        case .any(let parts):
            return try nodes(parts).map { Self.any($0) }
        }
    }

    private func nodes(_ parts: [ResolvedPredicate]) throws -> [CompiledPredicate.Node]? {
        var nodes: [CompiledPredicate.Node] = []
        for part in parts {
            guard let node = try node(part) else { return nil }
            nodes.append(node)
        }
        return nodes
    }

    // MARK: Comparisons

    private func node(_ comparison: ResolvedComparison) throws -> CompiledPredicate.Node? {
        switch comparison.constant {
        case .value(let value): try node(comparison, value)
        case .parameter(let number): try parameters.flatMap { try node(comparison, $0.operand(number)) }
        }
    }

    private func node(_ comparison: ResolvedComparison, _ value: Operand) throws -> CompiledPredicate.Node? {
        try node(comparison.side, comparison.type, comparison.options, value, comparison.excludesNull)
    }

    private func node(
        _ side: ResolvedComparison.Side, _ type: NSComparisonPredicate.Operator,
        _ options: NSComparisonPredicate.Options, _ value: Operand, _ excludesNull: Bool
    ) throws -> CompiledPredicate.Node? {
        switch side {
        case .slot(let slot):
            return try SlotCompiler(self, slot, options).node(type, value, excludesNull: excludesNull)
        case .object: return try object(type, value)
        case .path(let slot, let rest):
            let destination = destination(slot)
            guard isWorthScanning(destination), let end = PredicateResolver(shape: destination).side(rest) else {
                return nil
            }
            let inner = PredicateCompiler(destination, handle, snapshot)
            return try inner.node(end, type, options, value, excludesNull).map {
                .join(SemiJoin(toOne: relationship(slot), $0))
            }
        }
    }

    /// What asks nothing but one to-one relationship's object, as a condition on that. Nil for anything else.
    private func behindToOne(_ comparison: NSComparisonPredicate) throws -> CompiledPredicate.Node? {
        guard let focus = PathFocus(comparison, shape), isWorthScanning(destination(focus.slot)) else { return nil }
        let inner = PredicateCompiler(destination(focus.slot), handle, snapshot)
        return try inner.node(focus.comparison).map { .join(SemiJoin(toOne: relationship(focus.slot), $0)) }
    }

    /// `ANY relationship.attribute > attribute`: whether the greatest of the members' values is greater than their
    /// owner's. Nil for anything else.
    private func memberAndOwner(_ comparison: NSComparisonPredicate) -> CompiledPredicate.Node? {
        guard comparison.comparisonPredicateModifier == .any, comparison.customSelector == nil,
            case .keyPath(nil, let path) = comparison.leftExpression.form, path.names.count == 2,
            case .keyPath(nil, let ownPath) = comparison.rightExpression.form, ownPath.names.count == 1,
            case .toMany(let index)? = shape.property(path.names[0]), isUsable(shape.relationships[index]),
            case .slot(let slot)? = shape.relationships[index].destination.property(path.names[1]),
            case .slot(let ownSlot)? = shape.property(ownPath.names[0]), info(ownSlot).isPersistent,
            let test = MemberComparison(
                comparison.predicateOperatorType, slot, shape.relationships[index].destination, ownSlot,
                info(ownSlot).kind)
        else { return nil }
        return .join(SemiJoin(shape.relationships[index], .constant(true), .owner(test), nullResult: false))
    }

    func isUsable(_ relationship: RelationshipShape) -> Bool {
        handle.map.holds(relationship.destination) && relationship.hasMembersOfItsOwn
    }

    /// A comparison of the object itself.
    func object(
        _ type: NSComparisonPredicate.Operator, _ value: Operand
    ) throws -> CompiledPredicate.Node? {
        guard let keys = try keys(type, value, of: shape) else { return nil }
        return .test(ColumnPredicate(slot: 0, kind: .toOne, condition: .key(keys, isNegated: type == .notEqualTo)))
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
            guard let id = NSManagedObjectID.of(value) else { return nil }
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
        handle.rowCount(of: destination.family, in: snapshot)
            <= max(Self.alwaysScanned, handle.rowCount(of: shape.family, in: snapshot) * 4)
    }

    private static let alwaysScanned = 10_000

    func info(_ slot: Int) -> SlotInfo { shape.slots[slot] }

    func relationship(_ slot: Int) -> RelationshipShape { shape.relationships[shape.slots[slot].relationshipIndex] }

    func destination(_ slot: Int) -> EntityShape { relationship(slot).destination }
}

extension RelationshipShape {
    /// Whether all members are of the destination and its subentities: an inverse of a parent entity's is shared with
    /// others.
    var hasMembersOfItsOwn: Bool { inverse.map { $0.declaringName == destination.name } ?? true }
}
