import Foundation
import StrataLog

extension NSManagedObject {
    /// The persistent properties that were set to something else since the last save or fetch, with their new values;
    /// `NSNull` for nil.
    public final func changedValues() -> [String: Any] {
        changes { overlay, slot in overlay.isDirty(slot) && !hasCommittedValue(slot, in: overlay) }
    }

    /// The persistent properties that were set since pending changes were last processed, with the values they had
    /// before; `NSNull` for nil. While changes are reported, that is what the report is about.
    ///
    /// Of an object that was never saved, properties that were not set before have their defaults. Of one that was
    /// read anew, by a merge or by ``NSManagedObjectContext/refresh(_:mergeChanges:)``, those are there whose values
    /// have become others by that.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        let context = registry?.context
        let memento = context?.undoRecorder?.memento(of: self)
        let earlier = context?.earlierValues.values(of: self) ?? [:]
        let row = storeIndex == 0 ? nil : committedRow()
        var values: [String: Any] = [:]
        if let overlay {
            for slot in 0..<shape.persistentSlotCount {
                let info = shape.slots[slot]
                guard overlay.isChangedInEvent(slot), !info.isHidden else { continue }
                var old = info.defaultValue
                if let memento, memento.life != .absent {
                    old = memento.value(slot, of: self)
                } else if let value = earlier[slot] {
                    old = value
                } else if let row {
                    old = committedValue(slot, row)
                }
                values[info.name] = old ?? NSNull()
            }
        }
        for relationship in shape.relationships where relationship.isToMany {
            guard existingState(relationship)?.isChangedInEvent == true else { continue }
            values[relationship.name] = membersBeforeEvent(relationship)
        }
        context?.pipeline.refreshBases[ObjectIdentifier(self)]?.addOldValues(of: self, to: &values)
        return values
    }

    /// Whether a save would write anything of the object: whether a persistent property differs from what is stored.
    public final var hasPersistentChangedValues: Bool {
        guard hasChanges else { return false }
        return !changedValues().isEmpty
    }

    /// The values as they were last fetched or saved; `NSNull` for nil. Nothing for an object that was never saved.
    ///
    /// - Parameter keys: the properties wanted, nil for all.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        guard storeIndex != 0 else { return [:] }
        if isUnread { realize() }
        guard let row = committedRow() else { return [:] }
        var values: [String: Any] = [:]
        for (name, reference) in shape.properties where keys?.contains(name) ?? true {
            switch reference {
            case .slot(let slot) where shape.slots[slot].isPersistent:
                if shape.hasComposites, name.contains(".") { continue }
                values[name] = committedValue(slot, row) ?? NSNull()
            case .toMany(let index):
                values[name] = committedMembers(shape.relationships[index])
            case .composite(let composite) where !composite.name.contains("."):
                values[name] = composite.dictionary { committedValue($0, row) } ?? NSNull()
            default: continue
            }
        }
        return values
    }

    private func changes(_ isChanged: (Overlay, Int) -> Bool) -> [String: Any] {
        var values: [String: Any] = [:]
        if let overlay {
            for slot in 0..<shape.persistentSlotCount where !shape.slots[slot].isHidden && isChanged(overlay, slot) {
                values[shape.slots[slot].name] = overlay.isNull(slot) ? NSNull() : overlay.boxed(shape.codes[slot])
            }
        }
        gatherComposites(&values) { boxedValue($0) }
        for relationship in shape.relationships where relationship.isToMany && hasChangedMembers(relationship) {
            values[relationship.name] = keyedValue(relationship.name)
        }
        return values
    }

    /// Whether a to-many relationship has other members than it last had in the store, or has them in another order.
    private func hasChangedMembers(_ relationship: RelationshipShape) -> Bool {
        guard let state = existingState(relationship), state.isChanged else { return false }
        if state.isOrderChanged {
            // Of an order that was set only the difference is known until the members are read.
            _ = loadedState(relationship)
            state.dropRestoredOrder()
        }
        return state.isChanged
    }

    /// The row as this object last read or saved it; nil when it cannot be had.
    final func committedRow() -> (block: Block, row: Int)? {
        if flags.contains(.rowIsCommitted), let block { return (block, Int(row)) }
        guard storeIndex != 0, let handle = registry?.handle(storeIndex) else { return nil }
        guard let row = try? handle.log.row(ref, at: version), (try? row.block.verify()) != nil else { return nil }
        return (row.block, row.index)
    }

    final func committedValue(_ slot: Int, _ row: (block: Block, row: Int)) -> Any? {
        if shape.slots[slot].kind != .toOne { return boxed(in: row.block, row: row.row, slot: slot) }
        let target = row.block.verifiedColumn(slot).reference(row.row)
        return target.isNull ? nil : registry?.context?.object(target, storeIndex)
    }

    /// What a to-many relationship that changed in the event held before.
    private func membersBeforeEvent(_ relationship: RelationshipShape) -> Any {
        let state = loadedState(relationship)
        guard let difference = state.eventDifference else { return committedMembers(relationship) }
        let left = difference.left.objects
        let members = state.members.subtracting(difference.came.objects).union(left)
        guard relationship.isOrdered else { return members }
        let order = (difference.order ?? state.order).filter(members.contains)
        let placed = left.isEmpty ? [] : Set(order)
        return NSOrderedSet(array: order + left.filter { !placed.contains($0) })
    }

    private func committedMembers(_ relationship: RelationshipShape) -> Any {
        let state = loadedState(relationship)
        return relationship.isOrdered ? NSOrderedSet(array: state.committedOrder) : state.committedMembers
    }

    /// Lets go of what was set to what is stored already, so that a save writes no row for it, if that is all that was
    /// set. The object stays updated. A parent is told of transient values, too.
    ///
    /// - Complexity: O(1) for an object whose first changed property differs from its row.
    final func forgetUnchangedValues(in context: NSManagedObjectContext) {
        guard flags.isSuperset(of: [.dirtySlots, .updated]),
            flags.isDisjoint(with: [.inserted, .deleted]),
            !context.pipeline.isRequired(self), let overlay, let (block, row) = storedRow(in: context)
        else { return }
        for slot in 0..<shape.persistentSlotCount where overlay.isDirty(slot) {
            guard overlay.equals(slot, block.verifiedColumn(slot), row, self) else { return }
        }
        if context.link != nil, (shape.persistentSlotCount..<shape.slots.count).contains(where: overlay.isDirty) {
            return
        }
        overlay.clearDirty(summary)
        flags.remove(.dirtySlots)
    }

    /// Lets go of each value that was set to what it was before, since that is no change to lay over the row that the
    /// object is about to read. The object stays updated.
    final func dropUnchangedValues() {
        guard flags.contains(.dirtySlots), flags.isDisjoint(with: [.inserted, .deleted]), let overlay,
            let context = registry?.context, let (block, row) = storedRow(in: context)
        else { return }
        for slot in 0..<shape.persistentSlotCount where overlay.isDirty(slot) && !shape.slots[slot].isHidden {
            if overlay.equals(slot, block.verifiedColumn(slot), row, self) { overlay.clearValue(slot, shape) }
        }
        if !overlay.isAnyDirty(summary) { flags.remove(.dirtySlots) }
    }

    /// Lets go of changes of ordered relationships that have led back to the stored order, so that a save has nothing
    /// to do for them. The object stays updated.
    final func forgetRestoredOrders() {
        guard flags.isSuperset(of: [.dirtyToMany, .updated]), flags.isDisjoint(with: [.inserted, .deleted]) else {
            return
        }
        var isChanged = false
        for (relationship, _) in zip(shape.relationships, toMany) where hasChangedMembers(relationship) {
            isChanged = true
        }
        if !isChanged { flags.remove(.dirtyToMany) }
    }

    /// As ``committedRow()``, with the context's last block at hand: of many objects, neighbours mostly come together.
    private func storedRow(in context: NSManagedObjectContext) -> (block: Block, row: Int)? {
        if flags.contains(.rowIsCommitted), let block { return (block, Int(row)) }
        // A parent may have something else than its store, and the log behind a custom store knows only what was asked.
        guard context.link == nil, storeIndex != 0, !version.location.isAbsent,
            let handle = registry?.handle(storeIndex), !handle.isDetached, handle.custom == nil
        else { return nil }
        return context.faults.row(ref, at: version, of: handle)
    }

    /// Whether a dirty slot was set to what it was before.
    final func hasCommittedValue(_ slot: Int, in overlay: Overlay) -> Bool {
        guard !flags.contains(.inserted), let row = committedRow() else { return false }
        return overlay.equals(slot, row.block.verifiedColumn(slot), row.row, self)
    }
}

extension Overlay {
    /// Whether a present slot's value is the same as a row's.
    func equals(_ slot: Int, _ column: ColumnView, _ row: Int, _ object: NSManagedObject) -> Bool {
        if isNull(slot) || column.isNull(row) { return isNull(slot) && column.isNull(row) }
        let code = object.shape.codes[slot]
        let address = base + Int(code.offset)
        func isSame<Value: AttributeValue & Equatable>(_ type: Value.Type) -> Bool {
            address.assumingMemoryBound(to: Value.self).pointee == Value._read(column, row)
        }
        // SAFETY: a present slot that is not null holds a value of its kind.
        switch code.kind {
        case .bool: return isSame(Bool.self)
        case .int16: return isSame(Int16.self)
        case .int32: return isSame(Int32.self)
        case .int64: return isSame(Int64.self)
        case .double: return isSame(Double.self)
        case .date: return isSame(Date.self)
        case .uuid: return isSame(UUID.self)
        case .toOne: return self.object(at: Int(code.offset)).ref == column.reference(row)
        case .string where !column.isExternal(row):
            return address.assumingMemoryBound(to: String.self).pointee.utf8.elementsEqual(
                String._read(column, row).utf8)
        default: break
        }
        let info = object.shape.slots[slot]
        guard
            let stored = ColumnBoxing.box(column, row, info.kind, info.attribute, external: { object.readExternal($0) })
                as? AnyHashable
        else {
            return false
        }
        let own = boxed(code)
        // Swift holds texts equal that are written with other scalars; a store does not.
        if let own = own as? String, let stored = stored.base as? String { return own.utf8.elementsEqual(stored.utf8) }
        return (own as? AnyHashable) == stored
    }
}
