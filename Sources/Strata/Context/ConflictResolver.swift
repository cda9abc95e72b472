import Foundation
import StrataLog

/// Applies a context's merge policy to the objects whose rows have changed since they were read.
struct ConflictResolver {
    private let context: NSManagedObjectContext
    private let save: StoreSave

    init(_ context: NSManagedObjectContext, _ save: StoreSave) {
        self.context = context
        self.save = save
    }

    /// Brings the objects into a state in which the save can be tried again.
    ///
    /// - Throws: error 133020 with the conflicts if the policy is to fail.
    func resolve(_ refs: [ObjectRef]) throws {
        let policy = context.mergePolicy as? NSMergePolicy ?? .error
        let snapshot = save.handle.log.snapshot
        var conflicts: [(object: NSManagedObject, row: Row?)] = []
        for ref in refs {
            // Hidden links have no object; trying again reads their newest rows.
            guard save.handle.map.shape(ref.entity) != nil,
                let object = context.registry.object(ref, save.storeIndex)
            else { continue }
            let row = try snapshot.row(ref)
            if let row { try row.block.verify() }
            conflicts.append((object, row))
        }
        if policy.mergeType == .errorMergePolicyType {
            guard !conflicts.isEmpty else { return }
            throw error(conflicts.map(conflict))
        }
        for (object, row) in conflicts { resolve(object, row, policy.mergeType) }
        save.changes.updated.removeAll { !$0.isUpdated }
        save.changes.deleted.removeAll { !$0.isDeleted || $0.flags.contains(.gone) }
    }

    private func resolve(_ object: NSManagedObject, _ row: Row?, _ type: NSMergePolicyType) {
        guard let row else {
            // Deleted in the store: there is nothing to lay changes over.
            giveUp(object)
            object.turnIntoFault(keepingChanges: false)
            object.flags.insert([.realized, .gone])
            return
        }
        if object.isDeleted {
            if type == .rollbackMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType {
                giveUp(object)
                object.turnIntoFault(keepingChanges: false)
            } else {
                object.version = row.version
            }
            return
        }
        switch type {
        case .overwriteMergePolicyType:
            object.version = row.version
            object.flags.remove(.rowIsCommitted)
        case .rollbackMergePolicyType:
            giveUp(object)
            object.turnIntoFault(keepingChanges: false)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            dropWhatTheStoreChanged(object, row)
            rebase(object, row)
        default:
            rebase(object, row)
        }
    }

    /// The object keeps its changed values and takes all others from the newest row.
    private func rebase(_ object: NSManagedObject, _ row: Row) {
        object.overlay?.clearValues(object.shape) { present, dirty in present & ~dirty }
        object.flags.remove(.defaultsBelow)
        object.attach(row.block, row: row.index, location: row.location)
    }

    private func dropWhatTheStoreChanged(_ object: NSManagedObject, _ row: Row) {
        guard let overlay = object.overlay, let base = object.committedRow() else { return }
        for slot in 0..<object.shape.persistentSlotCount where overlay.isDirty(slot) {
            let before = StoredValue(base.block.verifiedColumn(slot), base.row, object.shape.slots[slot], object)
            let after = StoredValue(row.block.verifiedColumn(slot), row.index, object.shape.slots[slot], object)
            if before == after { continue }
            overlay.clearValue(slot, object.shape)
        }
    }

    private func giveUp(_ object: NSManagedObject) {
        object.flags.subtract([.updated, .deleted, .deletePropagated, .dirtySlots, .dirtyToMany])
    }

    private func conflict(_ object: NSManagedObject, _ row: Row?) -> NSMergeConflict {
        let base = object.committedRow()
        return NSMergeConflict(
            source: object, newVersion: Int(row?.version.sequence ?? 0), oldVersion: Int(object.version.sequence),
            cachedSnapshot: base.map { values(object, $0.block, $0.row) },
            persistedSnapshot: row.map { values(object, $0.block, $0.index) })
    }

    private func values(_ object: NSManagedObject, _ block: Block, _ row: Int) -> [String: Any] {
        var values: [String: Any] = [:]
        for (slot, info) in object.shape.slots.prefix(object.shape.persistentSlotCount).enumerated()
        where !info.isHidden {
            let value: Any? =
                info.kind == .toOne
                ? (object.committedValue(slot, (block, row)) as? NSManagedObject)?.objectID
                : object.boxed(in: block, row: row, slot: slot)
            values[info.name] = value ?? NSNull()
        }
        return values
    }

    private func error(_ conflicts: [NSMergeConflict]) -> CocoaError {
        CocoaError(
            .managedObjectMerge,
            userInfo: [
                NSLocalizedDescriptionKey: "Rows have changed since they were read: \(conflicts).",
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
            ])
    }
}

/// A stored value, comparable.
private struct StoredValue: Equatable {
    private let value: AnyHashable?

    init(_ column: ColumnView, _ row: Int, _ info: SlotInfo, _ object: NSManagedObject) {
        if info.kind == .toOne {
            value = column.reference(row).rawValue
        } else {
            value = ColumnBoxing.box(column, row, info) { object.readExternal($0) } as? AnyHashable
        }
    }
}

extension Overlay {
    /// Makes one slot absent and clean.
    func clearValue(_ slot: Int, _ shape: EntityShape) {
        if holdsValue(slot), shape.codes[slot].kind.isReferenceCounted { release(shape.codes[slot]) }
        let words = group(slot)
        for word in 0..<4 { words[word] &= ~Self.bit(slot) }
    }
}
