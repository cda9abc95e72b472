import CoreData

// Generations, history, undo.
extension Run {
    func pin() throws {
        let context = try store.newContext()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            // The token is the newest generation when the context first reads.
            _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: model.entities[0].name))
        }
        pinned = context
    }

    func move(_ step: () -> Void) throws {
        context.processPendingChanges()
        step()
        context.processPendingChanges()
    }

    /// Compares what the history tells since it was last read with what the store held then and holds now.
    func checkHistory() throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        // Those of rows that went before the store was reopened are of another coordinator.
        var keys: [URL: Int] = [:]
        for (key, id) in ids { keys[id.uriRepresentation()] = key }
        var (inserted, deleted) = (Set<Int>(), Set<Int>())
        var updated: [Int: Set<String>] = [:]
        for change in transactions.flatMap({ $0.changes ?? [] }) {
            guard let key = keys[change.changedObjectID.uriRepresentation()] else {
                throw Difference("the history has \(change.changedObjectID), which nobody has inserted")
            }
            switch change.changeType {
            case .insert: inserted.insert(key)
            case .update: updated[key, default: []].formUnion((change.updatedProperties ?? []).map(\.name))
            case .delete: if inserted.remove(key) == nil { deleted.insert(key) }
            @unknown default: throw Difference("an unknown change")
            }
        }
        let (before, after) = (recorded.things, oracle.stored.things)
        try compare(inserted, Set(after.keys).subtracting(before.keys), "inserted")
        try compare(deleted, Set(before.keys).subtracting(after.keys), "deleted")
        for (key, thing) in after {
            guard let old = before[key] else { continue }
            let missing = changes(old, thing).subtracting(updated[key] ?? [])
            if !missing.isEmpty { throw Difference("the history does not say that \(key).\(missing.sorted()) changed") }
        }
        token = transactions.last?.token ?? token
        recorded = oracle.stored
    }

    /// The properties with other values that are in the object's row or in those of its links: derived ones follow
    /// from others, and a to-many relationship from the to-one at its other end.
    private func changes(_ old: World.Thing, _ new: World.Thing) -> Set<String> {
        let attributes = model.allAttributes[new.entity].filter { $0.counts == nil && old[$0.name] != new[$0.name] }
        let relationships = model.allRelationships[new.entity].filter { relation in
            let (before, now) = (old.links[relation.name] ?? [], new.links[relation.name] ?? [])
            guard relation.isToMany else { return before != now }
            if let inverse = relation.inverse, model.relation(inverse)?.isToMany == false { return false }
            return relation.isOrdered ? before != now : Set(before) != Set(now)
        }
        return Set(attributes.map { $0.composite ?? $0.name } + relationships.map(\.name))
    }

    private func compare(_ found: Set<Int>, _ wanted: Set<Int>, _ what: String) throws {
        guard found != wanted else { return }
        let (more, less) = (found.subtracting(wanted).sorted(), wanted.subtracting(found).sorted())
        throw Difference("the history has \(more.prefix(9)) \(what), but not \(less.prefix(9))")
    }
}
