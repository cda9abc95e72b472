import CoreData

/// Counts objects by replaying a store's history instead of reading its objects.
struct HistoryReplay {
    private(set) var transactionCount = 0
    private(set) var changeCount = 0
    /// Objects by entity, after everything replayed.
    private(set) var counts: [String: Int] = [:]

    /// Replays all history that the store has. On the context's queue.
    init(_ context: NSManagedObjectContext) throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.resultType = .transactionsAndChanges
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        for transaction in transactions { replay(transaction) }
    }

    private mutating func replay(_ transaction: NSPersistentHistoryTransaction) {
        transactionCount += 1
        for change in transaction.changes ?? [] {
            changeCount += 1
            let entity = change.changedObjectID.entity.name ?? ""
            switch change.changeType {
            case .insert: counts[entity, default: 0] += 1
            case .delete: counts[entity, default: 0] -= 1
            case .update: break
            @unknown default: break
            }
        }
    }
}
