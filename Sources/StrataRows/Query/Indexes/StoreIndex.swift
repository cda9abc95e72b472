import Foundation
import StrataLog

/// An index of a model as one store keeps it: a fetch index, an attribute with `isIndexed`, or a constraint.
struct StoreIndex: Sendable {
    /// Entity and index, for people.
    let name: String
    let definition: OrderedIndexDefinition
    /// What the conjuncts of the partial index's predicate look like; empty for a whole index.
    let conditions: Set<String>

    /// The indexes on the entities that a store holds, none twice. An index is left out when one of its elements is no
    /// stored attribute or to-one relationship with an order: an expression, a transformable.
    static func all(_ handle: StoreHandle) -> [StoreIndex] {
        var indexes: [StoreIndex] = []
        func add(_ index: StoreIndex?) {
            guard let index, !indexes.contains(where: { $0.definition == index.definition }) else { return }
            indexes.append(index)
        }
        for shape in handle.shapes.shapes where handle.map.holds(shape) {
            for index in shape.entity.indexes { add(make(index, shape, handle)) }
            for property in shape.entity.ownProperties where property.hasOwnIndex {
                add(make([(property.name, false)], named: property.name, shape, handle))
            }
            for group in shape.entity.legacyCompoundIndexes {
                let names = group.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
                guard names.count == group.count else { continue }
                add(make(names.map { ($0, false) }, named: names.joined(separator: ","), shape, handle))
            }
        }
        for constraint in handle.constraints {
            add(
                make(
                    constraint.names.map { ($0, false) }, named: constraint.names.joined(separator: ","),
                    constraint.shape, handle))
        }
        return indexes
    }

    /// The indexes of the rows that keep links: from either end to the other, so that members and owners are found
    /// without reading a row for each.
    static func links(_ handle: StoreHandle) -> [OrderedIndexDefinition] {
        handle.shapes.links.flatMap { link -> [OrderedIndexDefinition] in
            let number = handle.map.linkNumber(link)
            if number == 0 { return [] }
            return [[0, 1], [1, 0]].map { slots in
                OrderedIndexDefinition(
                    root: number, entities: [number], elements: slots.map { .init(slot: $0, kind: .reference) })
            }
        }
    }

    private static func make(
        _ index: NSFetchIndexDescription, _ shape: EntityShape, _ handle: StoreHandle
    ) -> StoreIndex? {
        var elements: [(String, Bool)] = []
        for element in index.elements {
            guard let property = element.property, !(property is NSExpressionDescription) else { return nil }
            elements.append((property.name, !element.isAscending))
        }
        var filter: (OrderedFilter, Set<String>)?
        if let predicate = index.partialIndexPredicate { filter = Self.filter(predicate, shape, handle) }
        return make(elements, named: index.name, shape, handle, filter: filter)
    }

    private static func make(
        _ elements: [(name: String, isDescending: Bool)], named name: String, _ shape: EntityShape,
        _ handle: StoreHandle, filter: (OrderedFilter, Set<String>)? = nil
    ) -> StoreIndex? {
        var slots: [OrderedIndexDefinition.Element] = []
        for element in elements {
            guard case .slot(let slot)? = shape.property(element.name), shape.slots[slot].isPersistent else {
                return nil
            }
            let kind = shape.slots[slot].kind.valueKind
            guard OrderedKey.isOrdered(kind) else { return nil }
            // A property that comes twice says nothing the second time.
            if slots.contains(where: { $0.slot == slot }) { continue }
            slots.append(.init(slot: slot, kind: kind, isDescending: element.isDescending))
        }
        let entities = shape.family.map { handle.map.numbers[$0.index] }.filter { $0 != 0 }
        let root = handle.map.root(shape)
        guard !slots.isEmpty, !entities.isEmpty, root != 0 else { return nil }
        let definition = OrderedIndexDefinition(root: root, entities: entities, elements: slots, filter: filter?.0)
        return StoreIndex(name: "\(shape.name).\(name)", definition: definition, conditions: filter?.1 ?? [])
    }

    // MARK: Partial indexes

    /// A predicate as the engine evaluates it; nil for one that it cannot, and then the index has all rows.
    private static func filter(
        _ predicate: NSPredicate, _ shape: EntityShape, _ handle: StoreHandle
    ) -> (OrderedFilter, Set<String>)? {
        var folding = ConstantFolding()
        let folded = folding.apply(to: predicate)
        guard !folding.needsObjects,
            let compiled = try? PredicateCompiler(shape, handle, handle.log.snapshot).compile(folded),
            compiled.rest == nil, let filter = filter(compiled.program)
        else { return nil }
        // Requests say it in their own form. What of that leaves null out, the index may have, too.
        let asked = ThreeValuedLogic(shape).apply(to: folded)
        return (filter, Set(PredicateResolver.conjuncts(asked).map(\.formatString)))
    }

    private static func filter(_ node: CompiledPredicate.Node) -> OrderedFilter? {
        func all(_ nodes: [CompiledPredicate.Node]) -> [OrderedFilter]? {
            let filters = nodes.compactMap(filter)
            return filters.count == nodes.count ? filters : nil
        }
        switch node {
        case .constant(let value): return value ? .all([]) : .any([])
        case .all(let nodes): return all(nodes).map { .all($0) }
        case .any(let nodes): return all(nodes).map { .any($0) }
        case .not(let node): return filter(node).map { .not($0) }
        case .join, .computed, .interpreted: return nil
        case .test(let test):
            // A reference's target may go without the row being written.
            guard test.kind != .toOne else { return nil }
            if case .integers(let low, let high, true) = test.condition {
                let inside = ColumnPredicate(
                    slot: test.slot, kind: test.kind, condition: .integers(low: low, high: high, isNegated: false))
                return filter(.test(inside)).map { .not($0) }
            }
            guard let ranges = ComponentRange.all(test) else { return nil }
            return .within(slot: test.slot, kind: test.kind.valueKind, ranges: ranges.map(\.bytes))
        }
    }
}
