import Foundation
import StrataLog

/// What a commit was refused for, in words for logs: objects, properties and transactions, but nothing of their values.
struct ConflictNames {
    /// So many objects are named.
    private static let maximum = 3

    private let ending: StoreEnding

    init(_ ending: StoreEnding) { self.ending = ending }

    /// Looked up before a merge policy takes changes or objects away.
    func names(of error: StoreError) -> [String] {
        let changed = error.conflicts.prefix(Self.maximum).compactMap { ref in
            ending.context.registry.object(ref, ending.storeIndex).map(changes)
        }
        return changed + error.uniqueConflicts.prefix(Self.maximum - changed.count).map(constraint)
    }

    /// For instance `Book/p1: others set price and stock until transaction 42, this save sets stock`.
    private func changes(of object: NSManagedObject) -> String {
        let theirs: String
        do {
            if let row = try ObjectMerge.newestRow(of: object) {
                let names = object.committedRow().map { changed(object, $0, (row.block, row.index)) } ?? []
                theirs =
                    "others \(names.isEmpty ? "changed it" : "set \(list(names))") until transaction \(row.version.sequence)"
            } else {
                theirs = "others deleted it"
            }
        } catch {
            // The merge policy meets it, too, and the save tells of it.
            theirs = "others changed it, and its row cannot be read"
        }
        return "\(name(of: object.ref)): \(theirs), \(ours(object))"
    }

    private func ours(_ object: NSManagedObject) -> String {
        if object.isMarkedDeleted { return "this save deletes it" }
        let slots = object.shape.slots.prefix(object.shape.persistentSlotCount).enumerated().filter { slot, info in
            !info.isHidden && object.overlay?.isDirty(slot) == true
        }
        let members = object.shape.relationships.filter { object.existingState($0)?.isChanged == true }
        let names = (slots.map(\.element.name) + members.map(\.name)).sorted()
        return names.isEmpty ? "this save relies on it" : "this save sets \(list(names))"
    }

    /// What one row has otherwise than another.
    private func changed(
        _ object: NSManagedObject, _ old: (block: Block, row: Int), _ new: (block: Block, row: Int)
    ) -> [String] {
        let comparison = ColumnComparison(object)
        return object.shape.slots.prefix(object.shape.persistentSlotCount).enumerated().filter { slot, info in
            if info.isHidden { return false }
            let (before, after) = (old.block.verifiedColumn(slot), new.block.verifiedColumn(slot))
            if before.isNull(old.row) || after.isNull(new.row) {
                return before.isNull(old.row) != after.isNull(new.row)
            }
            // A line of a log is no reason to call a transformer, or to read a large value.
            if before.kind.fixedWidth == 0 { return !before.bytes(old.row).elementsEqual(after.bytes(new.row)) }
            return comparison.value(slot, old.block, old.row) != comparison.value(slot, new.block, new.row)
        }.map(\.element.name).sorted()
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

    private func list(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
