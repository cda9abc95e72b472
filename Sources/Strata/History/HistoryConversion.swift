import Foundation
import StrataLog

/// Turns what the engine keeps of transactions into what history requests return.
struct HistoryConversion {
    let handle: StoreHandle
    let facts: HistoryFacts

    init(_ handle: StoreHandle) {
        self.handle = handle
        facts = HistoryFacts(handle.log)
    }

    static func date(_ entry: HistoryTransaction) -> Date {
        Date(timeIntervalSince1970: Double(entry.timestampNanoseconds) / 1e9)
    }

    func transaction(
        _ entry: HistoryTransaction, withChanges: Bool = true
    ) throws(StoreError) -> NSPersistentHistoryTransaction {
        let transaction = NSPersistentHistoryTransaction(
            timestamp: Self.date(entry), transactionNumber: Int64(entry.sequence),
            storeID: handle.identity.uuidString, contextName: entry.contextName, author: entry.author,
            writer: facts.writer(of: entry.sequence))
        guard withChanges else { return transaction }
        let changes = try changes(entry)
        for change in changes { change.transaction = transaction }
        transaction.changes = changes
        return transaction
    }

    /// Changes of hidden entities are left out.
    private func changes(_ entry: HistoryTransaction) throws(StoreError) -> [NSPersistentHistoryChange] {
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
                        tombstone: try tombstone(group, index, shape), updatedProperties: properties))
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
        _ group: ChangeGroup, _ index: Int, _ shape: EntityShape
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
