import Foundation
import StrataLog

/// Chooses the index with which a fetch is likely to be quickest.
///
/// What a predicate says of single slots is turned into ranges of index keys: equal values of the first elements, then
/// one range. How many rows lie in them the index knows exactly. What they cost is compared with a scan of all rows.
struct IndexPlanner {
    private let handle: StoreHandle
    private let snapshot: Snapshot
    /// What was compiled, for partial indexes.
    private let predicate: () -> NSPredicate?
    private let compiled: CompiledPredicate
    /// The entity numbers asked for.
    private let entities: [UInt16]
    private let root: UInt16
    /// The parts of the compiled program that must all hold.
    private let nodes: [CompiledPredicate.Node]
    /// For each node the slot whose values it restricts, and to which; nil for others.
    private let conditions: [(slot: Int, ranges: [ComponentRange])?]

    /// More ranges than this are not made of lists in several elements.
    private static let rangesMaximum = ComponentRange.valuesMaximum

    init(
        _ handle: StoreHandle, _ snapshot: Snapshot, _ predicate: @escaping () -> NSPredicate?,
        _ compiled: CompiledPredicate, root: UInt16, entities: [UInt16]
    ) {
        self.handle = handle
        self.snapshot = snapshot
        self.predicate = predicate
        self.compiled = compiled
        self.entities = entities
        self.root = root
        nodes = Self.parts(compiled.program)
        var slots: Set<Int> = []
        for described in handle.orderedIndexes where described.definition.root == root {
            slots.formUnion(described.definition.elements.map(\.slot))
            if let filter = described.definition.filter { Self.add(slotsOf: filter, to: &slots) }
        }
        conditions = nodes.map { Self.condition($0, slots) }
    }

    private static func add(slotsOf filter: OrderedFilter, to slots: inout Set<Int>) {
        switch filter {
        case .all(let parts), .any(let parts): for part in parts { add(slotsOf: part, to: &slots) }
        case .not(let part): add(slotsOf: part, to: &slots)
        case .within(let slot, _, _): slots.insert(slot)
        }
    }

    private static func parts(_ node: CompiledPredicate.Node) -> [CompiledPredicate.Node] {
        switch node {
        case .all(let nodes): nodes.flatMap(parts)
        case .constant(true): []
        default: [node]
        }
    }

    /// - Parameter slots: of which an index says something. The ranges of others would be made for nobody, one for each
    ///   of a set's values.
    private static func condition(
        _ node: CompiledPredicate.Node, _ slots: Set<Int>
    ) -> (slot: Int, ranges: [ComponentRange])? {
        switch node {
        case .test(let test): return slots.contains(test.slot) ? ComponentRange.all(test).map { (test.slot, $0) } : nil
        case .all(let nodes):
            guard let (slot, ranges) = conditions(nodes, slots), let first = ranges.first else { return nil }
            return (slot, ranges.dropFirst().reduce(first, ComponentRange.intersection))
        case .any(let nodes):
            // Joined once: after every part it would take quadratic time.
            return conditions(nodes, slots).map { ($0.slot, ComponentRange.union(Array($0.ranges.joined()), [])) }
        case .constant, .not, .join, .computed, .interpreted: return nil
        }
    }

    /// What each of several nodes says of one slot; nil if there are none or they speak of several.
    private static func conditions(
        _ nodes: [CompiledPredicate.Node], _ slots: Set<Int>
    ) -> (slot: Int, ranges: [[ComponentRange]])? {
        var slot: Int?
        var ranges: [[ComponentRange]] = []
        for node in nodes {
            guard let next = condition(node, slots), next.slot == slot ?? next.slot else { return nil }
            slot = next.slot
            ranges.append(next.ranges)
        }
        return slot.map { ($0, ranges) }
    }

    // MARK: Choosing

    /// The best index, or nil when a scan is likely to be as quick.
    ///
    /// - Parameters:
    ///   - wanted: what the index is to give.
    ///   - order: the order that the index must have; nil when it does not matter.
    func choose(_ wanted: IndexWish, order: IndexOrder? = nil) throws(StoreError) -> IndexChoice? {
        let use = IndexUse.current
        if use == .never { return nil }
        let known = snapshot.orderedIndexes
        guard !known.isEmpty, order != nil || conditions.contains(where: { $0 != nil }) else { return nil }
        let rows = entities.reduce(0) { $0 + snapshot.count(entity: $1) }
        var best: (choice: IndexChoice, cost: Double)?
        if use == .automatic { guard rows > Self.smallRowCount else { return nil } }
        let scanCost = use == .always ? .infinity : scanCost(rows, wanted, isSorted: order != nil)
        for described in handle.orderedIndexes {
            guard described.definition.root == root,
                entities.allSatisfy({ described.definition.entities.contains($0) }),
                let index = known.first(where: { $0.isReady && $0.definition == described.definition }),
                let choice = try choice(index, described, order)
            else { continue }
            let cost = cost(choice, rows, wanted)
            if cost < best?.cost ?? scanCost { best = (choice, cost) }
        }
        return best?.choice
    }

    /// Hands on the index to be used, if there is one. A damaged index is built anew; the result is nil, and the
    /// request goes on without it.
    func usingIndex<Result>(
        _ wanted: IndexWish, order: IndexOrder? = nil, _ body: (IndexChoice) throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        // Which of several was looked at in vain is not known when none was chosen.
        let choice = try handle.rebuildingIfDamaged(snapshot.orderedIndexes) { () throws(StoreError) in
            try choose(wanted, order: order)
        }
        guard let choice else { return nil }
        return try handle.rebuildingIfDamaged([choice.index]) { () throws(StoreError) in try body(choice) }
    }

    private func choice(
        _ index: OrderedIndex, _ described: StoreIndex, _ order: IndexOrder?
    ) throws(StoreError) -> IndexChoice? {
        let elements = index.definition.elements
        // What the rows are ordered by is in the index, or the index has not their order.
        if let order, !order.sorts.allSatisfy({ sort in elements.contains { $0.slot == sort.slot } }) { return nil }
        guard hasAllMatches(described) else { return nil }
        var used = holdInAllRows(of: described)
        var prefixes: [[UInt8]] = [[]]
        var ranges: [OrderedRange]?
        var fixedSlots: Set<Int> = []
        for element in elements where ranges == nil {
            guard let values = values(of: element.slot) else { break }
            let points = values.ranges.compactMap(\.point)
            if points.count == values.ranges.count, points.count * prefixes.count <= Self.rangesMaximum {
                if points.count == 1 { fixedSlots.insert(element.slot) }
                let parts = points.map { ComponentRange.component($0, isDescending: element.isDescending) }
                prefixes = prefixes.flatMap { prefix in parts.map { prefix + $0 } }
            } else if values.ranges.count * prefixes.count <= Self.rangesMaximum {
                let parts = values.ranges.compactMap { $0.range(isDescending: element.isDescending) }
                ranges = prefixes.flatMap { prefix in parts.map { Self.joined(prefix, $0) } }
            } else {
                break
            }
            for node in values.nodes { used[node] = true }
        }
        let isRestricted = ranges != nil || prefixes != [[]]
        let whole = ranges ?? prefixes.map { OrderedRange(prefix: $0) }
        var isDescending = false
        if let order {
            guard index.isExact, let direction = order.direction(elements, fixedSlots) else { return nil }
            isDescending = direction
        } else if !isRestricted {
            return nil
        }
        let sorted = whole.sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
        var estimated = 0
        for range in sorted { estimated += try index.count(in: range) }
        let rest = zip(nodes, used).filter { !$0.1 }.map(\.0)
        let program = rest.isEmpty ? CompiledPredicate.Node.constant(true) : rest.count == 1 ? rest[0] : .all(rest)
        return IndexChoice(
            index: index, name: described.name, ranges: sorted, estimated: estimated,
            residual: CompiledPredicate(program: program, rest: compiled.rest),
            hasOthers: index.definition.entities.count > entities.count, isDescending: isDescending)
    }

    private static func joined(_ prefix: [UInt8], _ range: OrderedRange) -> OrderedRange {
        OrderedRange(
            lower: prefix + range.lower, upper: range.upper.map { prefix + $0 } ?? OrderedRange.successor(of: prefix))
    }

    /// What all nodes together allow a slot, and which they are; nil when none restricts it.
    private func values(of slot: Int) -> (ranges: [ComponentRange], nodes: [Int])? {
        var ranges: [ComponentRange]?
        var found: [Int] = []
        for (node, condition) in conditions.enumerated() {
            guard let condition, condition.slot == slot else { continue }
            ranges = ranges.map { ComponentRange.intersection($0, condition.ranges) } ?? condition.ranges
            found.append(node)
        }
        return ranges.map { ($0, found) }
    }

    // MARK: Partial indexes

    /// Whether every row that satisfies the predicate is in the index.
    private func hasAllMatches(_ described: StoreIndex) -> Bool {
        guard let filter = described.definition.filter else { return true }
        return implies(filter) || isNamed(described)
    }

    /// For each node whether it holds for all rows in the index, so that it need not be tested.
    private func holdInAllRows(of described: StoreIndex) -> [Bool] {
        conditions.map { condition in
            guard let condition, let filter = described.definition.filter else { return false }
            return Self.holds(condition.slot, condition.ranges, for: filter)
        }
    }

    /// Whether the conditions of the index are among those of the predicate, word for word.
    private func isNamed(_ described: StoreIndex) -> Bool {
        guard !described.conditions.isEmpty, let predicate = predicate() else { return false }
        return described.conditions.isSubset(of: PredicateResolver.conjuncts(predicate).map(\.formatString))
    }

    private func implies(_ filter: OrderedFilter) -> Bool {
        switch filter {
        case .all(let parts): parts.allSatisfy { implies($0) }
        case .any(let parts): parts.contains { implies($0) }
        case .not: false
        case .within(let slot, _, let ranges):
            values(of: slot).map { ComponentRange.isSubset($0.ranges, of: ranges) } ?? false
        }
    }

    private static func holds(_ slot: Int, _ ranges: [ComponentRange], for filter: OrderedFilter) -> Bool {
        switch filter {
        case .all(let parts): parts.contains { holds(slot, ranges, for: $0) }
        case .within(slot, _, let inside):
            inside.allSatisfy { part in ranges.contains { ComponentRange.contains($0.bytes, part) } }
        default: false
        }
    }

    // MARK: Costs, in nanoseconds

    /// Fewer rows are scanned in less time than it takes to choose.
    private static let smallRowCount = 256
    /// About so many rows are in a block.
    private static let rowsOfBlock = 500.0

    private func scanCost(_ rows: Int, _ wanted: IndexWish, isSorted: Bool) -> Double {
        let perRow = 1 + Double(min(compiled.program.cost, 200)) / 2 + (compiled.rest == nil ? 0 : 500)
        return Double(rows) * (perRow + (isSorted ? 4 : 0)) + selectionCost(rows, wanted, isSorted: isSorted) + 5_000
    }

    /// What it takes to keep the first rows of an order while rows come in another one: the n-th row that comes is
    /// among the first k in k of n cases.
    private func selectionCost(_ rows: Int, _ wanted: IndexWish, isSorted: Bool) -> Double {
        guard isSorted, case .page(let offset, let limit) = wanted else { return 0 }
        let (end, isEndless) = limit.addingReportingOverflow(offset)
        guard !isEndless, end > 0, end < rows else { return 0 }
        return Double(end) * (1 + log(Double(rows) / Double(end))) * Self.keptRowCost
    }

    private static let keptRowCost = 30.0
    /// Of a look into a block that is in memory. One that is not costs a scan as much.
    private static let blockCost = 500.0

    private func cost(_ choice: IndexChoice, _ rows: Int, _ wanted: IndexWish) -> Double {
        let looking = Double(choice.ranges.count) * 1_500 + 2_000
        var read = choice.estimated
        switch wanted {
        case .rows: break
        case .count:
            // The index has counted its entries already.
            if choice.isCounted { return looking }
        case .page(let offset, let limit):
            if choice.isCounted {
                read = min(limit, max(0, read - offset))
            } else {
                let (end, isEndless) = limit.addingReportingOverflow(offset)
                let looked = Double(end) / (choice.isCovered ? 1 : share(choice.residual)) * othersPerRow(choice, rows)
                if !isEndless, looked < Double(read) { read = Int(looked) }
            }
        }
        var perRow = 50.0
        var blocks = 0.0
        if !choice.isCovered {
            // Rows that lie scattered cost a look into a block each, but no more than all blocks.
            perRow = choice.residual.rest == nil ? 100 : 1_500
            blocks = min(Double(read), Double(rows) / Self.rowsOfBlock + 1)
        }
        return Double(read) * perRow + blocks * Self.blockCost + looking
    }

    /// How many rows of the index come for each of an entity that is asked for.
    private func othersPerRow(_ choice: IndexChoice, _ rows: Int) -> Double {
        guard choice.hasOthers else { return 1 }
        let all = choice.index.definition.entities.reduce(0) { $0 + snapshot.count(entity: $1) }
        return Double(all) / Double(max(1, rows))
    }

    // MARK: Matches

    /// Of rows that have to be looked at, one in ten is guessed to match.
    private static let guessedShare = 0.1

    /// About which part of all rows matches.
    private func share(_ residual: CompiledPredicate) -> Double {
        (knownShare(residual.program) ?? Self.guessedShare) * (residual.rest == nil ? 1 : Self.guessedShare)
    }

    /// The part of all rows that satisfies a program, as far as references and keys say; nil if they say nothing.
    private func knownShare(_ node: CompiledPredicate.Node) -> Double? {
        switch node {
        case .constant(let value): return value ? 1 : 0
        case .test(let test):
            switch test.condition {
            case .reference(let keys, let isNegated):
                return rowCount(behind: test.slot).map { Self.part(keys, isNegated, of: $0) }
            case .key(let keys, let isNegated):
                return Self.part(keys, isNegated, of: entities.reduce(0) { $0 + snapshot.count(entity: $1) })
            default: return nil
            }
        case .not(let node): return knownShare(node).map { 1 - $0 }
        case .all(let nodes):
            let known = nodes.compactMap(knownShare)
            if known.isEmpty { return nil }
            return known.reduce(1, *) * (known.count < nodes.count ? Self.guessedShare : 1)
        case .any(let nodes):
            let known = nodes.compactMap(knownShare)
            if known.isEmpty { return nil }
            return min(1, known.reduce(known.count < nodes.count ? Self.guessedShare : 0, +))
        case .join, .computed, .interpreted: return nil
        }
    }

    private static func part(_ keys: IntegerSet, _ isNegated: Bool, of count: Int) -> Double {
        let part = min(1, Double(keys.count) / Double(max(1, count)))
        return isNegated ? 1 - part : part
    }

    /// How many objects a to-one relationship may refer to.
    private func rowCount(behind slot: Int) -> Int? {
        guard let shape = entities.first.flatMap({ handle.map.shape($0) }), slot < shape.slots.count,
            shape.slots[slot].kind == .toOne
        else { return nil }
        let destination: EntityShape = shape.relationships[shape.slots[slot].relationshipIndex].destination
        return handle.rowCount(of: destination.family, in: snapshot)
    }
}
