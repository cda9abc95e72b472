import StrataLog

// Stores that were made before uniqueness constraints were part of version hashes.
extension StoreOpening {
    /// Takes such a store for one of the model if nothing but constraints can differ: objects are looked at for those
    /// that the store does not know, and the hashes are noted as they are today.
    ///
    /// Durable when it returns. A store that is opened read-only stays as it is.
    ///
    /// - Returns: the model as the store keeps it; nil for another store, and where it has to be migrated: another
    ///   coordinator of the process uses it, or objects have to be copied before it can be said what is unique.
    /// - Throws: `CocoaError` 134111 when objects break a constraint; the store's error when it cannot be written.
    /// - Complexity: O(1) without a new constraint, else O(n) in the objects that it binds.
    func withConstraints(_ stored: StoredModel, _ log: LogStore) throws -> StoredModel? {
        let names = Set(stored.entities.filter { $0.versionHash != nil }.map(\.name))
        let held = held(stored)
        guard names == held, stored.hasHashesWithoutConstraints(of: shapes) else { return nil }
        let wanted = try StoredModel(shapes, holding: held, previous: stored)
        guard wanted.entities.allSatisfy({ stored.entity($0.name)?.slots == $0.slots }) else { return nil }
        guard !log.isReadOnly, options.access == .readWrite else { return stored }
        var before = try stored.decodedModel
        if before == nil {
            before = shapes.model.copy() as? NSManagedObjectModel
            for entity in before?.entities ?? [] { entity.uniquenessConstraints = [] }
        }
        guard let reservation = SharedLogs.reserve(log) else { return nil }
        defer { SharedLogs.endReservation(log, reservation) }
        if let before {
            var planner = LightMigrationPlanner(
                log, stored, ModelMatch(before, shapes.model), shapes, holding: held)
            try planner.checkConstraints()
            guard planner.obstacles.isEmpty else { return nil }
        }
        var known = stored
        known.hashForm = StoredModel.hashesWithConstraints
        for index in known.entities.indices {
            known.entities[index].versionHash = shapes.byName[known.entities[index].name]?.entity.versionHash
        }
        try log.register(try known.schema(shapes))
        return known
    }
}
