/// How rows of an earlier schema version become rows of a later one. Immutable.
final class LiftPlan: Sendable {
    /// For each slot the one that the stored rows have, or -1.
    let sources: [Int]
    /// For each slot what takes the place of null; nil leaves null.
    let fills: [[UInt8]?]

    private init(sources: [Int], fills: [[UInt8]?]) {
        self.sources = sources
        self.fills = fills
    }

    /// Whether rows stay as they are.
    private func isIdentity(slotCount: Int) -> Bool {
        sources.count == slotCount && fills.allSatisfy { $0 == nil } && sources.elementsEqual(0..<slotCount)
    }

    /// The way of an entity's rows through later versions that have it; nil where nothing is to be done.
    ///
    /// - Parameters:
    ///   - layout: of the stored rows.
    ///   - later: the entity in the versions after that one, in order.
    static func through(_ later: [(layout: EntityLayout, isMigration: Bool)], from layout: EntityLayout) -> LiftPlan? {
        guard later.contains(where: \.isMigration), let last = later.last else { return nil }
        var sources = Array(0..<layout.slots.count)
        var fills = [[UInt8]?](repeating: nil, count: sources.count)
        for (layout, isMigration) in later {
            var nextSources = [Int](repeating: -1, count: layout.slots.count)
            var nextFills = [[UInt8]?](repeating: nil, count: layout.slots.count)
            for (slot, description) in layout.slots.enumerated() {
                let before = isMigration ? description.lift.source : slot
                if let before, before < sources.count {
                    nextSources[slot] = sources[before]
                    nextFills[slot] = fills[before]
                }
                // What an earlier version put in the place of null is a value already.
                if isMigration, nextFills[slot] == nil { nextFills[slot] = description.lift.fill }
            }
            (sources, fills) = (nextSources, nextFills)
        }
        // Of a damaged store: a column is never read as another kind.
        for (slot, source) in sources.enumerated() where source >= 0 {
            if layout.slots[source].kind != last.layout.slots[slot].kind { sources[slot] = -1 }
        }
        let plan = LiftPlan(sources: sources, fills: fills)
        return plan.isIdentity(slotCount: layout.slots.count) ? nil : plan
    }

    /// How rows that went this way become what they were; nil when values are gone or cannot be told from what was put
    /// in the place of null.
    ///
    /// - Parameter slotCount: of the rows as they were.
    func reversed(slotCount: Int) -> LiftPlan? {
        var slots: [Int] = []
        for slot in 0..<slotCount {
            guard let target = target(ofStored: slot) else { return nil }
            slots.append(target)
        }
        return LiftPlan(sources: slots, fills: Array(repeating: nil, count: slotCount))
    }

    /// The slot that a stored one has become, if its values are the same; nil if they are gone or may differ.
    func target(ofStored slot: Int) -> Int? {
        guard let target = sources.firstIndex(of: slot), fills[target] == nil else { return nil }
        return target
    }
}

/// What a block has to know of the schemas to show its rows: one reference for all blocks that are alike. Immutable.
final class BlockShape: Sendable {
    /// Of the rows as they are stored.
    let stored: EntityLayout
    /// Of the rows as they are shown.
    let layout: EntityLayout
    /// How the stored slots become those that are shown; nil where both are the same.
    let plan: LiftPlan?

    /// Rows that are shown as they are stored.
    init(_ layout: EntityLayout) {
        stored = layout
        self.layout = layout
        plan = nil
    }

    init(stored: EntityLayout, layout: EntityLayout, plan: LiftPlan) {
        self.stored = stored
        self.layout = layout
        self.plan = plan
    }
}
