internal import StrataSupport

/// All schemas of a store, and the one that rows are read as: rows of earlier versions are lifted to it.
struct SchemaVersions: Sendable {
    /// Ascending by version.
    private(set) var list: [NumberedSchema] = []
    /// Rows are read as this version has them.
    private(set) var target: UInt16 = 0
    /// Whether ``target`` stays where it is when newer schemas come: somebody reads by it.
    private(set) var isPinned = false
    /// Whether ``target`` is a version of before: rows that a later one wrote are taken back to it.
    private var isPast = false
    /// By entity and version.
    private var shapes = NumberTable<BlockShape>()

    func schema(version: UInt16) -> Schema? { list.first { $0.version == version }?.schema }

    /// Whether a version that is known makes rows of those of earlier versions.
    var hasMigrations: Bool { list.contains(where: \.schema.isMigration) }

    /// A store's schemas only become more: fewer come from an older checkpoint that is being read again, while others
    /// read rows of the newest.
    ///
    /// - Returns: whether rows are read in another way from now on.
    mutating func set(_ new: [NumberedSchema]) -> Bool {
        if list.starts(with: new) { return false }
        list = new
        return isPinned ? false : aim()
    }

    /// From now on rows are read as the newest version has them, whatever comes.
    ///
    /// - Returns: whether rows are read in another way from now on.
    mutating func pin() -> Bool {
        if isPast { return false }
        isPinned = true
        return aim()
    }

    /// From now on rows are read as an earlier version had them.
    mutating func pin(at version: UInt16) {
        isPinned = true
        isPast = true
        target = version
        shapes = NumberTable()
    }

    private mutating func aim() -> Bool {
        let before = target
        target = list.last?.version ?? 0
        shapes = NumberTable()
        return before != 0 && before != target && list.contains { $0.version > before && $0.schema.isMigration }
    }

    /// How a block of rows is read.
    ///
    /// - Returns: nil when its version does not have the entity.
    /// - Throws: `.schemaMismatch` for rows of a later version, in a model that the reader does not have.
    mutating func shape(version: UInt16, entity: UInt16) throws(StoreError) -> BlockShape? {
        let key = UInt32(version) << 16 | UInt32(entity)
        if let known = shapes[key] { return known }
        guard let stored = schema(version: version)?.entity(entity) else { return nil }
        if version > target,
            list.contains(where: { $0.version > target && $0.version <= version && $0.schema.isMigration })
        {
            guard isPast else { throw Self.tooNew }
            let shape = try earlierShape(of: stored, version: version)
            shapes[key] = shape
            return shape
        }
        let later = list.filter { $0.version > version && $0.version <= target }.compactMap { numbered in
            numbered.schema.entity(entity).map { (layout: $0, isMigration: numbered.schema.isMigration) }
        }
        var shape = BlockShape(stored)
        if let plan = LiftPlan.through(later, from: stored), let last = later.last {
            shape = BlockShape(stored: stored, layout: last.layout, plan: plan)
        }
        shapes[key] = shape
        return shape
    }

    /// How rows are read that a later version than the one in use wrote: compaction writes what is there as the newest
    /// has it.
    private func earlierShape(of stored: EntityLayout, version: UInt16) throws(StoreError) -> BlockShape? {
        guard let known = list.last(where: { $0.version <= target && $0.schema.entity(stored.id) != nil }),
            let layout = known.schema.entity(stored.id)
        else { return nil }
        let later = list.filter { $0.version > known.version && $0.version <= version }.compactMap { numbered in
            numbered.schema.entity(stored.id).map { (layout: $0, isMigration: numbered.schema.isMigration) }
        }
        guard let forward = LiftPlan.through(later, from: layout) else { return BlockShape(stored) }
        guard let plan = forward.reversed(slotCount: layout.slots.count) else {
            throw StoreError(
                .expired,
                "compaction has written rows of entity \(layout.name) anew by a later model, which does not have all of "
                    + "their values")
        }
        return BlockShape(stored: stored, layout: layout, plan: plan)
    }

    /// What a store says whose writer has gone on to another model.
    static var tooNew: StoreError {
        StoreError(
            .schemaMismatch,
            "the store has been migrated to another model since it was opened. Open it again with that model")
    }
}
