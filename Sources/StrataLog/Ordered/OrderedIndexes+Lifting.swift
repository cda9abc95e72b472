// Ordered indexes across a migration: entries do not change when a slot gets another number.
extension OrderedIndexes {
    /// The indexes by the slots of newer schemas. Those whose values a migration changes are left out, and have to be
    /// built anew.
    func lifted(from before: [NumberedSchema], to after: [NumberedSchema]) -> OrderedIndexes {
        guard !list.isEmpty, let old = before.last else { return self }
        let later = after.filter { $0.version > old.version }
        guard later.contains(where: \.schema.isMigration) else { return self }
        return OrderedIndexes(
            list.compactMap { index in
                index.definition.lifted(from: old.schema, through: later).map { index.redefined($0) }
            })
    }
}

extension OrderedIndexDefinition {
    /// The same index by the slots of a newer schema; nil if its entries are others there.
    fileprivate func lifted(from old: Schema, through later: [NumberedSchema]) -> OrderedIndexDefinition? {
        var moved: [Int: Int]?
        var kept: [UInt16] = []
        for entity in entities {
            guard let layout = old.entity(entity) else { return nil }
            // The rows of an entity that is gone are out of sight, but their entries are not.
            guard later.last?.schema.entity(entity) != nil else { return nil }
            kept.append(entity)
            let steps = later.compactMap { numbered in
                numbered.schema.entity(entity).map { (layout: $0, isMigration: numbered.schema.isMigration) }
            }
            var slots: [Int: Int] = [:]
            let plan = LiftPlan.through(steps, from: layout)
            for slot in elements.map(\.slot) + (filter?.slots ?? []) {
                guard let target = plan == nil ? slot : plan?.target(ofStored: slot) else { return nil }
                slots[slot] = target
            }
            guard moved == nil || moved == slots else { return nil }
            moved = slots
        }
        guard let moved else { return nil }
        var copy = self
        copy.entities = kept
        for index in copy.elements.indices { copy.elements[index].slot = moved[copy.elements[index].slot] ?? 0 }
        copy.filter = copy.filter?.moved(moved)
        return copy
    }
}

extension OrderedFilter {
    fileprivate func moved(_ slots: [Int: Int]) -> OrderedFilter {
        switch self {
        case .all(let parts): .all(parts.map { $0.moved(slots) })
        case .any(let parts): .any(parts.map { $0.moved(slots) })
        case .not(let part): .not(part.moved(slots))
        case .within(let slot, let kind, let ranges): .within(slot: slots[slot] ?? slot, kind: kind, ranges: ranges)
        }
    }
}

extension OrderedIndex {
    /// The same entries under another definition.
    fileprivate func redefined(_ definition: OrderedIndexDefinition) -> OrderedIndex {
        OrderedIndex(definition, lineage: lineage, base: base, runs: runs)
    }
}
