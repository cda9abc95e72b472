import Foundation
import StrataLog

/// Turns what the engine keeps of transactions into what history requests return.
struct HistoryConversion {
    let handle: StoreHandle
    let history: HistoryState
    /// What may stop the request.
    private let control: RequestControl?
    private let versions: SlotVersions
    private let links: LinkHistory

    init(_ handle: StoreHandle, _ control: RequestControl? = nil) {
        self.control = control
        self.handle = handle
        history = HistoryState(handle.log)
        versions = SlotVersions(handle.log)
        links = LinkHistory(handle.map, handle.log)
    }

    private static let changesPerCheck = 256

    func transaction(
        _ entry: HistoryTransaction, withChanges: Bool = true
    ) throws(StoreError) -> NSPersistentHistoryTransaction {
        let summary = TransactionSummary(
            timestamp: HistoryDates.date(entry), transactionNumber: Int64(entry.sequence),
            storeID: handle.identity.uuidString, contextName: entry.contextName, author: entry.author,
            writer: self.history.writer(of: entry.sequence))
        let transaction = summary.transaction
        if withChanges { transaction.changes = try changes(entry, summary) }
        return transaction
    }

    private func changes(
        _ entry: HistoryTransaction, _ summary: TransactionSummary
    ) throws(StoreError) -> [NSPersistentHistoryChange] {
        var changes: [NSPersistentHistoryChange] = []
        var linked = try links.changed(by: entry)
        // Numbers ascend through transactions as long as none has more than 2^24 changes.
        func add(
            _ ref: ObjectRef, _ shape: EntityShape, _ type: NSPersistentHistoryChangeType,
            tombstone: [AnyHashable: Any]? = nil, _ properties: Set<NSPropertyDescription>?
        ) {
            changes.append(
                NSPersistentHistoryChange(
                    changeID: Int64(entry.sequence) << 24 | Int64(changes.count),
                    changedObjectID: NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape),
                    changeType: type, tombstone: tombstone, updatedProperties: properties, of: summary))
        }
        for group in entry.groups {
            guard let shape = handle.map.shape(group.entity) else { continue }
            let type: NSPersistentHistoryChangeType =
                switch group.kind {
                case .insert: .insert
                case .update: .update
                case .delete: .delete
                }
            let properties =
                type == .update
                ? properties(try versions.slots(group.changed, of: group.entity, in: entry.sequence), shape) : nil
            for (index, key) in group.keys.enumerated() {
                // A transaction may have millions of changes.
                if index % Self.changesPerCheck == 0 { try control?.checkRead() }
                let ref = ObjectRef(entity: group.entity, key: key)
                let more = linked.isEmpty ? nil : linked.removeValue(forKey: ref)
                add(
                    ref, shape, type, tombstone: try tombstone(group, index, shape),
                    more.flatMap { properties?.union($0) } ?? properties)
            }
        }
        for (ref, properties) in linked.sorted(by: { $0.key < $1.key }) {
            if let shape = handle.map.shape(ref.entity) { add(ref, shape, .update, properties) }
        }
        return changes
    }

    private func properties(_ slots: SlotSet, _ shape: EntityShape) -> Set<NSPropertyDescription> {
        var properties: Set<NSPropertyDescription> = []
        slots.forEach { slot in
            if let property = shape.property(atSlot: slot) { properties.insert(property) }
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
        var found: [Int: Any] = [:]
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() {
            guard shape.isPreservedInHistory(slot: slot) else { continue }
            // The block shows what was deleted, in the slots of that time.
            guard let stored = try versions.slot(slot, of: block.entity, inVersion: block.schemaVersion) else {
                continue
            }
            let column = try block.column(stored)
            var failure: StoreError?
            let value = ColumnBoxing.box(column, index, info.kind, info.attribute) { external in
                do throws(StoreError) {
                    return try handle.log.read(external)
                } catch {
                    failure = error
                    return nil
                }
            }
            if let failure { throw failure }
            if let value { found[slot] = value }
        }
        // Of a composite its elements, as one value.
        var values: [AnyHashable: Any] = [:]
        for (slot, value) in found {
            guard let property = shape.property(atSlot: slot)?.name else { continue }
            if case .composite(let composite)? = shape.property(property) {
                values[property] = composite.dictionary { found[$0] }
            } else {
                values[property] = value
            }
        }
        return values.isEmpty ? nil : values
    }
}
