import Foundation
import StrataLog

/// Objects of a batch insert whose values may have to be unique: kept until they are committed, so that the merge
/// policy can turn those that exist already into updates.
final class BatchInsertPart {
    private enum Fate {
        case insert
        /// The object that has values already which must be unique takes those given.
        case update(ObjectRef, UniqueValues?)
        /// It went into another object, or was given up.
        case dropped
    }

    private struct Entry {
        var ref: ObjectRef
        /// By slot; nil for what was not given.
        var given: [SlotValue?]
        var fate = Fate.insert
    }

    private let session: BatchSession
    private let shape: EntityShape
    private let defaults: [SlotValue?]
    private let policy: NSMergePolicyType
    private var entries: [Entry] = []
    /// The entry that updates a stored object, by the object's key.
    private var updates: [UInt64: Int] = [:]

    private var handle: StoreHandle { session.handle }

    init(_ session: BatchSession, _ shape: EntityShape, _ defaults: [SlotValue?]) {
        self.session = session
        self.shape = shape
        self.defaults = defaults
        policy = (session.context.mergePolicy as? NSMergePolicy ?? .error).mergeType
    }

    /// Whether the entity has values that must be unique in the store.
    static func isNeeded(_ shape: EntityShape, _ handle: StoreHandle) -> Bool {
        handle.constraints.contains { shape.isKind(of: $0.shape) }
    }

    private var objectWins: Bool {
        policy == .overwriteMergePolicyType || policy == .mergeByPropertyObjectTrumpMergePolicyType
    }

    func append(_ ref: ObjectRef, _ given: [SlotValue?]) {
        entries.append(Entry(ref: ref, given: given))
    }

    /// Commits what was appended.
    ///
    /// - Returns: the objects that were inserted or updated.
    /// - Throws: `CocoaError` 133021 when the policy does not resolve a conflict of unique values; 134070 when the rows
    ///   are to refer to an object that does not exist; 133020 when others change the rows again and again.
    func commit() throws -> [ObjectRef] {
        var rounds = 0
        while true {
            let transaction = session.makeTransaction()
            do {
                try write(to: transaction, handle.log.snapshot)
                try session.commit(transaction)
                break
            } catch let error as StoreError {
                rounds += 1
                let isLast = rounds > BatchLimits.maximumConflictRounds
                guard error.code == .conflict, !isLast || !error.uniqueConflicts.isEmpty else {
                    throw StoreFailure.cocoaError(error, saving: handle)
                }
                // The next round finds which object is gone, or the rows as they are now.
                if error.uniqueConflicts.isEmpty { continue }
                guard !isLast, resolve(error.uniqueConflicts, of: transaction) else {
                    throw session.constraintError(error)
                }
            }
        }
        return entries.compactMap { entry in
            switch entry.fate {
            case .insert: entry.ref
            case .update(let holder, _): holder
            case .dropped: nil
            }
        }
    }

    // MARK: Writing

    private func write(to transaction: WriteTransaction, _ snapshot: Snapshot) throws {
        let writer = transaction.writer(for: handle.map.numbers[shape.index])
        var references = BatchReferences(handle, transaction, snapshot)
        for index in entries.indices {
            if case .update(let holder, let values) = entries[index].fate {
                let isInTheWay = try values.map { try snapshot.has($0, holder) } ?? true
                if isInTheWay, let row = try snapshot.row(holder), let target = handle.map.shape(row.block.entity) {
                    try update(row, target, entries[index].given, transaction, &references)
                    continue
                }
                // Somebody has deleted it since, or has given it other values.
                updates[holder.key] = nil
                entries[index].fate = .insert
            }
            guard case .insert = entries[index].fate else { continue }
            writer.beginInsert(key: entries[index].ref.key)
            for (slot, value) in entries[index].given.enumerated() {
                guard let value = value ?? defaults[slot] else { continue }
                try references.add(value, slot, of: shape)
                try value.write(slot, of: shape.slots[slot], to: writer)
            }
            writer.endRow()
        }
    }

    private func update(
        _ row: Row, _ target: EntityShape, _ given: [SlotValue?], _ transaction: WriteTransaction,
        _ references: inout BatchReferences
    ) throws {
        var changed = SlotSet()
        var values: [(slot: Int, value: SlotValue)] = []
        for (slot, value) in given.enumerated() where !shape.slots[slot].isHidden {
            guard case .slot(let targetSlot)? = target.property(shape.slots[slot].name) else { continue }
            if let value {
                values.append((targetSlot, value))
            } else if policy == .overwriteMergePolicyType {
                if let value = defaults[slot] { values.append((targetSlot, value)) }
            } else {
                continue
            }
            changed.insert(targetSlot)
        }
        let writer = transaction.writer(for: row.ref.entity)
        try writer.beginUpdate(key: row.ref.key, replacing: row.version, changed: changed)
        try writer.copyRow(row, target, except: changed)
        for (slot, value) in values {
            try references.add(value, slot, of: target)
            try value.write(slot, of: target.slots[slot], to: writer)
        }
        writer.endRow()
    }

    // MARK: Conflicts

    /// Returns whether the transaction can be tried again.
    private func resolve(_ conflicts: [UniqueConflict], of transaction: WriteTransaction) -> Bool {
        guard policy != .errorMergePolicyType else { return false }
        var inserts: [UInt64: Int] = [:]
        for (index, entry) in entries.enumerated() {
            if case .insert = entry.fate { inserts[entry.ref.key] = index }
        }
        var isResolved = false
        for conflict in conflicts {
            guard let index = inserts[conflict.ref.key] else {
                // An update that runs into a third object can only be given up.
                guard !objectWins, let index = updates[conflict.ref.key] else { continue }
                entries[index].fate = .dropped
                isResolved = true
                continue
            }
            guard case .insert = entries[index].fate else { continue }
            isResolved = true
            if !objectWins {
                entries[index].fate = .dropped
            } else if let other = updates[conflict.holder.key] ?? inserts[conflict.holder.key], other != index {
                entries[other].given = Self.merged(entries[other].given, entries[index].given)
                entries[index].fate = .dropped
            } else {
                entries[index].fate = .update(conflict.holder, transaction.values(of: conflict))
                updates[conflict.holder.key] = index
            }
        }
        return isResolved
    }

    private static func merged(_ first: [SlotValue?], _ second: [SlotValue?]) -> [SlotValue?] {
        zip(first, second).map { $1 ?? $0 }
    }
}
