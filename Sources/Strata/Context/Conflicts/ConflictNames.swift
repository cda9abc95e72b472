import Foundation
import StrataLog

/// What a commit was refused for, in words for logs: objects, properties and transactions, but nothing of their values.
struct ConflictNames {
    /// So many objects are named.
    private static let maximum = 3

    private let ending: StoreEnding
    private let snapshot: Snapshot

    init(_ ending: StoreEnding) {
        self.ending = ending
        snapshot = ending.handle.log.snapshot
    }

    /// Looked up before a merge policy takes changes or objects away.
    func names(of error: StoreError) -> [String] {
        let changed = error.conflicts.prefix(Self.maximum).compactMap { ref in
            ending.context.registry.object(ref, ending.storeIndex).map(changes)
        }
        return changed + error.uniqueConflicts.prefix(Self.maximum - changed.count).map(constraint)
    }

    /// For instance `Book/p1: others set price and stock until transaction 42, this save sets stock`.
    private func changes(of object: NSManagedObject) -> String {
        let name = name(of: object.ref)
        let ours =
            object.isMarkedDeleted
            ? "this save deletes it" : "this save sets \(list(object.changedValues().keys.sorted()))"
        // What cannot be read is left out: the save itself tells of it.
        guard let row = try? snapshot.row(object.ref) else { return "\(name): others deleted it, \(ours)" }
        return
            "\(name): others set \(list(changedByOthers(object, row))) until transaction \(row.version.sequence), \(ours)"
    }

    /// What the newest row has otherwise than the one that the object's changes are based on.
    private func changedByOthers(_ object: NSManagedObject, _ row: Row) -> [String] {
        guard let base = object.committedRow(), (try? row.block.verify()) != nil else { return [] }
        let comparison = ColumnComparison(object)
        return object.shape.slots.prefix(object.shape.persistentSlotCount).enumerated().compactMap { slot, info in
            guard !info.isHidden,
                comparison.value(slot, base.block, base.row) != comparison.value(slot, row.block, row.index)
            else { return nil }
            return info.name
        }.sorted()
    }

    /// For instance `Book/p9: isbn is taken by Book/p1`.
    private func constraint(_ conflict: UniqueConflict) -> String {
        let names = ending.handle.constraints[conflict.constraint].names
        let holder = conflict.isHolderStored ? name(of: conflict.holder) : "another object of this save"
        return "\(name(of: conflict.ref)): \(list(names)) \(names.count == 1 ? "is" : "are") taken by \(holder)"
    }

    private func name(of ref: ObjectRef) -> String {
        "\(ending.handle.map.shape(ref.entity)?.entity.name ?? "")/p\(ref.key)"
    }

    /// What has changed without a property of the model, such as the other end of a relationship, has no name.
    private func list(_ names: [String]) -> String {
        guard let last = names.last else { return "no property of its own" }
        return names.count == 1 ? last : names.dropLast().joined(separator: ", ") + " and " + last
    }
}
