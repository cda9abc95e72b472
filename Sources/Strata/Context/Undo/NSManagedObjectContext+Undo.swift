import Foundation
import StrataLog

extension NSManagedObjectContext {
    final func setUndoManager(_ manager: UndoManager?) {
        guard manager !== undoRecorder?.manager else { return }
        // A context is set up anywhere before it is used.
        if !pipeline.event.isEmpty || !pipeline.refreshed.isEmpty { processPendingChanges() }
        undoRecorder = manager.map { UndoRecorder(self, $0) }
    }

    /// Takes the changes of one event back, which is an event of its own.
    final func revert(_ changes: [ObjectUndo]) {
        processPendingChanges()
        var touched: [(object: NSManagedObject, reason: NSSnapshotEventType)] = []
        // Objects come back before anything refers to them again, and go after everything has let go of them.
        for change in changes where change.revives {
            if revive(change) { touched.append((change.object, .undoDeletion)) }
        }
        for change in changes where change.object.registry === registry {
            guard !change.values.isEmpty || !change.toMany.isEmpty else { continue }
            change.object.restore(change)
            if !change.revives, !change.dies { touched.append((change.object, .undoUpdate)) }
        }
        for change in changes where change.dies && change.object.registry === registry {
            let object = change.object
            // Its row will be gone when somebody wants it back.
            object.realize()
            if object.flags.contains(.gone) { continue }
            pipeline.list(object, in: self)
            object.flags.insert([.deleted, .deletePropagated])
            touched.append((object, .undoInsertion))
        }
        for (object, reason) in touched {
            object.dropUndoneChanges()
            undoRecorder?.recordRestored(object, isRevived: reason == .undoDeletion)
            undisturbed { object.withoutChangeTracking { object.awake(fromSnapshotEvents: reason) } }
        }
        processPendingChanges()
    }

    /// Brings a deleted object back: the same object with the same ID, to be inserted if its deletion has been saved.
    ///
    /// - Returns: false if there is nothing to bring back.
    private func revive(_ change: ObjectUndo) -> Bool {
        let object = change.object
        if object.registry === registry {
            guard object.isMarkedDeleted else { return false }
            pipeline.list(object, in: self)
            object.flags.subtract([.deleted, .deletePropagated, .insertReported])
            return true
        }
        guard object.registry == nil, object.flags.contains(.gone) else { return false }
        // Somebody may have asked for the ID in the meantime and got an object without a row.
        if let other = registry.object(object.ref, object.storeIndex) {
            registry.forget(other)
            other.registry = nil
        }
        registry.add(object)
        if isRetaining { retained.append(object) }
        object.becomeUnsaved(change.members)
        pipeline.list(object, in: self)
        object.flags.subtract([.gone, .deletionSaved])
        object.flags.formUnion([.inserted, .realized, .dirtySlots])
        return true
    }
}

extension NSManagedObject {
    /// Sets back what an event changed, on this side alone: the other sides have changes of their own.
    fileprivate final func restore(_ change: ObjectUndo) {
        for (slot, value) in change.values {
            let index = shape.slots[slot].relationshipIndex
            if index >= 0 {
                let target = value as? NSManagedObject
                // Another context may have deleted it.
                writeReference(shape.relationships[index], target?.flags.contains(.gone) == true ? nil : target)
            } else {
                setBoxedValue(value, slot: slot)
            }
        }
        for undo in change.toMany {
            let relationship = undo.relationship
            let state = relationship.isOrdered ? loadedState(relationship) : state(relationship)
            recordChange(.dirtyToMany)
            let isObserved = observedWillChange(relationship)
            defer { if isObserved { observedDidChange(relationship.name) } }
            for member in undo.came { state.remove(member, isOrdered: relationship.isOrdered) }
            for member in undo.left where !member.flags.contains(.gone) {
                state.insert(member, isOrdered: relationship.isOrdered)
            }
            guard relationship.isOrdered, let order = undo.order else { continue }
            let wanted = Set(order)
            state.setOrder(order.filter(state.members.contains) + state.order.filter { !wanted.contains($0) })
        }
    }

    /// Makes everything the object has values of its own, as those of an object that was never saved.
    fileprivate final func becomeUnsaved(_ members: [[NSManagedObject]]) {
        let overlay = ensuredOverlay
        for slot in 0..<shape.persistentSlotCount where !overlay.isPresent(slot) {
            let info = shape.slots[slot]
            var value: Any?
            if info.relationshipIndex >= 0, info.relationshipIndex < members.count {
                value = members[info.relationshipIndex].first
            } else if let block {
                value = committedValue(slot, (block, Int(row)))
            } else if flags.contains(.defaultsBelow) || storeIndex == 0 {
                value = info.defaultValue
            }
            let converted = value.map { ValueConversion.convert($0, for: info, entity: shape) } ?? nil
            if let converted { overlay.initialize(info, to: converted) }
            overlay.markCached(slot, isNull: converted == nil)
        }
        for slot in 0..<shape.persistentSlotCount { overlay.markDirty(slot) }
        block = nil
        // A key that was reserved before stays with an object that has no permanent ID.
        if storeIndex != 0 { version = .none }
        flags.subtract([.rowIsCommitted, .defaultsBelow, .unreadable])
        toMany = []
        for relationship in shape.relationships where relationship.isToMany {
            guard relationship.index < members.count, !members[relationship.index].isEmpty else { continue }
            let state = ToManyState()
            state.isLoaded = true
            for member in members[relationship.index] { state.insert(member, isOrdered: relationship.isOrdered) }
            if toMany.isEmpty { toMany = ContiguousArray(repeating: nil, count: shape.relationships.count) }
            toMany[relationship.index] = state
            flags.insert(.dirtyToMany)
        }
    }

    /// Takes an object that is again as it is stored out of those that a save would write.
    fileprivate final func dropUndoneChanges() {
        guard storeIndex != 0, flags.contains(.updated), flags.isDisjoint(with: [.inserted, .deleted, .gone]),
            !isUnread
        else { return }
        if flags.contains(.dirtySlots), let overlay {
            guard let committed = committedRow() else { return }
            var isDirty = false
            for slot in 0..<shape.persistentSlotCount where overlay.isDirty(slot) {
                if overlay.equals(slot, committed.block.verifiedColumn(slot), committed.row, self) {
                    overlay.markClean(slot)
                } else {
                    isDirty = true
                }
            }
            if !isDirty { flags.remove(.dirtySlots) }
        }
        var isDirty = false
        for state in toMany {
            guard let state else { continue }
            state.dropRestoredOrder()
            if state.isChanged { isDirty = true }
        }
        if !isDirty { flags.remove(.dirtyToMany) }
        if flags.isDisjoint(with: [.dirtySlots, .dirtyToMany]) { flags.remove(.updated) }
    }
}

extension Overlay {
    /// Marks a present slot as changed since the last save, but not in this event.
    func markDirty(_ slot: Int) { group(slot)[2] |= SlotBits.bit(slot) }

    /// Marks a present slot as not changed since the last save.
    func markClean(_ slot: Int) { group(slot)[2] &= ~SlotBits.bit(slot) }
}
