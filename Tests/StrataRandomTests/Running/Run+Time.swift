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
        var keys: [NSManagedObjectID: Int] = [:]
        for (key, id) in ids { keys[id] = key }
        var (inserted, updated, deleted) = (Set<Int>(), Set<Int>(), Set<Int>())
        for change in transactions.flatMap({ $0.changes ?? [] }) {
            guard let key = keys[change.changedObjectID] else { continue }
            switch change.changeType {
            case .insert: inserted.insert(key)
            case .update: updated.insert(key)
            case .delete: if inserted.remove(key) == nil { deleted.insert(key) }
            @unknown default: throw Difference("an unknown change")
            }
        }
        let (before, after) = (recorded.things, oracle.stored.things)
        try compare(inserted, Set(after.keys).subtracting(before.keys), "inserted")
        try compare(deleted, Set(before.keys).subtracting(after.keys), "deleted")
        let changed = after.keys.filter { key in
            before[key].map { $0.values != after[key]?.values } ?? false && !changedByMigration(key)
        }
        let missing = Set(changed).subtracting(updated)
        if !missing.isEmpty { throw Difference("the history does not say that \(missing.sorted().prefix(9)) changed") }
        token = transactions.last?.token ?? token
        recorded = oracle.stored
    }

    /// A migration changes no rows.
    private func changedByMigration(_ key: Int) -> Bool {
        recorded.model.allAttributes.map(\.count) != model.allAttributes.map(\.count)
    }

    private func compare(_ found: Set<Int>, _ wanted: Set<Int>, _ what: String) throws {
        guard found != wanted else { return }
        let (more, less) = (found.subtracting(wanted).sorted(), wanted.subtracting(found).sorted())
        throw Difference("the history has \(more.prefix(9)) \(what), but not \(less.prefix(9))")
    }
}
