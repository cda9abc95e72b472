import Foundation
import StrataLog

/// Reads the persistent history of a coordinator's stores.
struct HistoryExecutor {
    private let context: NSManagedObjectContext
    private let request: NSPersistentHistoryChangeRequest

    init(_ context: NSManagedObjectContext, _ request: NSPersistentHistoryChangeRequest) {
        self.context = context
        self.request = request
    }

    func execute() throws -> NSPersistentHistoryResult {
        var transactions: [NSPersistentHistoryTransaction] = []
        for store in context.coordinator?.persistentStores ?? [] {
            guard request.affectedStores?.contains(where: { $0 === store }) ?? true, let handle = store.handle,
                handle.custom == nil
            else {
                continue
            }
            do {
                transactions += try read(handle)
            } catch {
                throw StoreFailure.cocoaError(error, reading: handle)
            }
        }
        transactions.sort { $0.timestamp < $1.timestamp }
        return NSPersistentHistoryResult(result(transactions), request.resultType)
    }

    private func result(_ transactions: [NSPersistentHistoryTransaction]) -> Any {
        let changes = { transactions.flatMap { $0.changes ?? [] } }
        switch request.resultType {
        case .statusOnly: return NSNumber(value: !transactions.isEmpty)
        case .objectIDs: return changes().map(\.changedObjectID)
        case .count: return NSNumber(value: transactions.count)
        case .transactionsOnly:
            for transaction in transactions { transaction.changes = nil }
            return transactions
        case .changesOnly: return changes()
        case .transactionsAndChanges: return transactions
        }
    }

    private func read(_ handle: StoreHandle) throws(StoreError) -> [NSPersistentHistoryTransaction] {
        let uuid = handle.identity.uuidString
        var first: UInt64 = 0
        var earliest = Int64.min
        switch request.start {
        case .token(let token): first = token?.sequences[uuid] ?? 0
        case .date(let date): earliest = Int64(clamping: Int(date.timeIntervalSince1970 * 1e9))
        }
        var reader = try handle.log.history(after: first)
        var transactions: [NSPersistentHistoryTransaction] = []
        while let entry = try reader.next() {
            if entry.timestampNanoseconds <= earliest { continue }
            let transaction = NSPersistentHistoryTransaction(
                timestamp: Date(timeIntervalSince1970: Double(entry.timestampNanoseconds) / 1e9),
                transactionNumber: Int64(entry.sequence), storeID: uuid, contextName: entry.contextName,
                author: entry.author)
            let changes = try changes(entry, handle)
            for change in changes { change.transaction = transaction }
            transaction.changes = changes
            transactions.append(transaction)
        }
        return transactions
    }

    /// Changes of hidden entities are left out.
    private func changes(
        _ entry: HistoryTransaction, _ handle: StoreHandle
    ) throws(StoreError) -> [NSPersistentHistoryChange] {
        var changes: [NSPersistentHistoryChange] = []
        for group in entry.groups {
            guard let shape = handle.map.shape(group.entity) else { continue }
            let type: NSPersistentHistoryChangeType =
                switch group.kind {
                case .insert: .insert
                case .update: .update
                case .delete: .delete
                }
            let properties = type == .update ? properties(group.changed, shape) : nil
            for (index, key) in group.keys.enumerated() {
                let id = NSManagedObjectID(
                    ref: ObjectRef(entity: group.entity, key: key), identity: handle.identity, shape: shape)
                // Numbers ascend through transactions as long as none has more than 2^24 changes.
                let number = Int64(entry.sequence) << 24 | Int64(changes.count)
                changes.append(
                    NSPersistentHistoryChange(
                        changeID: number, changedObjectID: id, changeType: type,
                        tombstone: try tombstone(group, index, shape, handle), updatedProperties: properties))
            }
        }
        return changes
    }

    private func properties(_ slots: SlotSet, _ shape: EntityShape) -> Set<NSPropertyDescription> {
        var properties: Set<NSPropertyDescription> = []
        slots.forEach { slot in
            guard slot < shape.slots.count else { return }
            let info = shape.slots[slot]
            if let attribute = info.attribute {
                properties.insert(attribute)
            } else if info.relationshipIndex >= 0 {
                properties.insert(shape.relationships[info.relationshipIndex].description)
            }
        }
        return properties
    }

    private func tombstone(
        _ group: ChangeGroup, _ index: Int, _ shape: EntityShape, _ handle: StoreHandle
    ) throws(StoreError) -> [AnyHashable: Any]? {
        var index = index
        var blocks = group.tombstones[...]
        while let block = blocks.first, index >= block.rowCount {
            index -= block.rowCount
            blocks.removeFirst()
        }
        guard let block = blocks.first else { return nil }
        var values: [AnyHashable: Any] = [:]
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() {
            guard info.attribute?.preservesValueInHistoryOnDeletion == true else { continue }
            let column = try block.column(slot)
            if let value = ColumnBoxing.box(column, index, info, external: { try? handle.log.read($0) }) {
                values[info.name] = value
            }
        }
        return values.isEmpty ? nil : values
    }
}
