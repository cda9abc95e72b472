import Foundation
import StrataLog

/// Merges one object of a context with the newest row of the store.
struct ObjectMerge {
    let object: NSManagedObject
    private let shape: EntityShape

    init(_ object: NSManagedObject) {
        self.object = object
        shape = object.shape
    }

    /// Resolves a conflict of the object as a type of policy says, so that a save can be tried again.
    ///
    /// - Throws: the store's error when the newest row cannot be read.
    static func resolve(_ object: NSManagedObject, _ type: NSMergePolicyType) throws {
        guard let row = try newestRow(of: object) else {
            ObjectMerge(object).rowIsGone()
            return
        }
        let merge = ObjectMerge(object)
        if object.isMarkedDeleted {
            switch type {
            case .rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType: merge.rollBack(row)
            default: merge.accept(row)
            }
            return
        }
        guard object.hasChanges else {
            merge.rollBack(row)
            return
        }
        switch type {
        case .overwriteMergePolicyType: merge.overwrite(row)
        case .rollbackMergePolicyType: merge.rollBack(row)
        case .mergeByPropertyStoreTrumpMergePolicyType: merge.rebase(row) { _, before, after in before == after }
        default: merge.rebase(row) { _, _, _ in true }
        }
    }

    /// The row as the store has it now; nil when it has been deleted.
    static func newestRow(of object: NSManagedObject) throws -> Row? {
        guard let handle = object.registry?.handle(object.storeIndex) else { return nil }
        do {
            let row = try handle.log.snapshot.row(object.ref)
            try row?.block.verify()
            return row
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    // MARK: Ways to merge

    /// The object stays deleted, although others have changed its row.
    private func accept(_ row: Row) {
        let references = ReferenceRebase(object)
        goBy(row)
        references?.apply()
    }

    /// Puts a row beneath the object's changes. A version without its row would have what is changed next written over
    /// values that nobody has seen here: the deletion may be taken back after all.
    private func goBy(_ row: Row) {
        if !object.flags.contains(.unobserved) { object.observedEverythingWillChange() }
        defer { if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() } }
        if let overlay = object.overlay {
            object.keepTransientDefaults(overlay)
            overlay.clearUnchanged(object.summary, persistentSlots: shape.persistentSlotCount)
        }
        attach(row)
    }

    /// What is absent has the row's values from now on, not the model's defaults.
    private func attach(_ row: Row) {
        object.flags.remove(.defaultsBelow)
        object.attach(row.block, row: row.index, location: row.location)
    }

    /// The object keeps all its values, changed or not, and replaces the row.
    func overwrite(_ row: Row) {
        let references = ReferenceRebase(object)
        defer { references?.apply() }
        // What is derived from members must not be derived from those that are known here.
        for state in object.toMany { state?.unload() }
        // No row is written for it.
        guard let overlay = object.overlay, object.flags.contains(.dirtySlots), !object.isMarkedDeleted else {
            goBy(row)
            return
        }
        object.version = row.version
        object.flags.remove(.rowIsCommitted)
        // All values that the store has now differ, perhaps, so all are changes for the history and for relationships.
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated()
        where !info.isHidden && !overlay.isDirty(slot) {
            if info.relationshipIndex >= 0 {
                let relationship = shape.relationships[info.relationshipIndex]
                let target = object.toOneTarget(relationship)
                let stored = row.block.verifiedColumn(slot).reference(row.index)
                if (target?.ref ?? .null) != stored { object.writeReference(relationship, target) }
            } else if info.kind == .transformable || !isStored(object.boxedValue(slot), slot, row) {
                object.setBoxedValue(object.boxedValue(slot), slot: slot)
            }
        }
        // A change that is given up after all must not bring back what was read before.
        attach(row)
    }

    private func isStored(_ value: Any?, _ slot: Int, _ row: Row) -> Bool {
        ExactText.comparable(value) == ColumnComparison(object).value(slot, row.block, row.index)
    }

    /// The object gives up its changes and becomes a fault.
    func rollBack(_ row: Row) {
        var kept: ContiguousArray<ToManyState?> = []
        if object.isMarkedDeleted { undoDeletion(row) } else { kept = undoReferences(row) }
        giveUp()
        let isChanged = kept.contains { $0 != nil }
        object.turnIntoFault(keepingChanges: false)
        if isChanged {
            object.toMany = kept
            for state in kept { state?.unload() }
            object.flags.insert([.updated, .dirtyToMany])
        }
        showStore()
    }

    /// The object takes all values from the newest row, except the changes that `keeps` wants (slot, the value before
    /// either changed it, the store's).
    func rebase(_ row: Row, keeps: (Int, AnyHashable?, AnyHashable?) -> Bool) {
        if !object.flags.contains(.unobserved) { object.observedEverythingWillChange() }
        defer { if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() } }
        let comparison = ColumnComparison(object)
        let base = object.committedRow()
        let references = ReferenceRebase(object)
        for slot in 0..<shape.persistentSlotCount {
            let after = comparison.value(slot, row.block, row.index)
            let before = base.map { comparison.value(slot, $0.block, $0.row) } ?? after
            let isDirty = object.overlay?.isDirty(slot) == true
            if isDirty, !isUnchanged(slot, base), keeps(slot, before, after) { continue }
            if !isDirty, before == after { continue }
            alignInverse(slot, row)
            if isDirty { object.overlay?.clearValue(slot, shape) }
        }
        object.overlay?.clearValues(object.summary) { present, dirty in present & ~dirty }
        attach(row)
        for state in object.toMany { state?.unload() }
        references?.apply()
        showStore()
    }

    /// Whether a slot was set to what it was before.
    private func isUnchanged(_ slot: Int, _ base: (block: Block, row: Int)?) -> Bool {
        guard let base, let overlay = object.overlay else { return false }
        return overlay.equals(slot, base.block.verifiedColumn(slot), base.row, object)
    }

    /// The row has been deleted: the object leaves the context as deleted.
    func rowIsGone() {
        guard let context = object.registry?.context else { return }
        context.drop(object)
        context.pipeline.dropped.append(object)
    }

    /// The row has been deleted: what refers to the object anew must not do so any more, and what the object itself
    /// refers to anew has to be as if it had never done so.
    func cutReferences() {
        for (relationship, state) in zip(shape.relationships, object.toMany) {
            guard let state, let inverse = relationship.inverse, !inverse.isToMany else { continue }
            for other in state.added.objects where !other.isMarkedDeleted { other.writeReference(inverse, nil) }
        }
        for relationship in shape.relationships where !relationship.isToMany {
            guard let inverse = relationship.inverse, !inverse.isToMany, let overlay = object.overlay,
                overlay.isDirty(relationship.slot),
                let other = object.toOneTarget(relationship), !other.isMarkedDeleted,
                other.toOneTarget(inverse) === object
            else { continue }
            other.writeReference(inverse, nil)
        }
        _ = undoReferences(nil)
        giveUp()
    }

    private func giveUp() {
        object.flags.subtract([.updated, .deleted, .deletePropagated, .dirtySlots, .dirtyToMany])
    }

    private func showStore() {
        object.awake(fromSnapshotEvents: .mergePolicy)
        object.registry?.context?.pipeline.refreshed.insert(object)
    }

    // MARK: The other ends of relationships

    /// Takes the object's changes of relationships back on their other sides, in favour of the row; without a row
    /// nothing refers to the object any more. Returns the states of relationships that are facts of other objects' rows
    /// and stay as they are.
    private func undoReferences(_ row: Row?) -> ContiguousArray<ToManyState?> {
        for relationship in shape.relationships where !relationship.isToMany {
            alignInverse(relationship.slot, row)
        }
        var kept: ContiguousArray<ToManyState?> = []
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            let relationship = shape.relationships[index]
            if case .inverse = relationship.storage {
                if kept.isEmpty { kept = ContiguousArray(repeating: nil, count: shape.relationships.count) }
                kept[index] = state
            } else if let inverse = relationship.inverse {
                // Others may have done the same: whether it is a member is to be read.
                for other in state.added.objects + state.removed.objects {
                    other.existingState(inverse)?.forget(object, isMember: false)
                    other.existingState(inverse)?.unload()
                }
            }
        }
        return kept
    }

    /// The object is not deleted after all: those that its deletion made forget it know it again.
    private func undoDeletion(_ row: Row) {
        for relationship in shape.relationships {
            guard let inverse = relationship.inverse, relationship.deleteRule == .nullifyDeleteRule else { continue }
            if !relationship.isToMany { alignInverse(relationship.slot, row) }
            for other in object.targets(relationship) where !other.isMarkedDeleted {
                if !inverse.isToMany {
                    restoreReference(inverse, of: other)
                } else if relationship.isToMany {
                    other.existingState(inverse)?.forget(object, isMember: true)
                }
            }
        }
    }

    /// Takes it back that a reference to this object was cleared.
    private func restoreReference(_ inverse: RelationshipShape, of other: NSManagedObject) {
        guard let overlay = other.overlay, overlay.isDirty(inverse.slot), overlay.isNull(inverse.slot),
            let committed = other.committedRow(),
            committed.block.verifiedColumn(inverse.slot).reference(committed.row) == object.ref
        else { return }
        other.restoreSlot(inverse.slot)
    }

    /// The object's reference is about to become the one in `row`, or nothing without a row: the objects that it leads
    /// or led to must agree.
    private func alignInverse(_ slot: Int, _ row: Row?) {
        let index = shape.slots[slot].relationshipIndex
        guard index >= 0, let context = object.registry?.context, let inverse = shape.relationships[index].inverse
        else {
            return
        }
        func target(_ row: (block: Block, row: Int)?) -> NSManagedObject? {
            guard let row else { return nil }
            let ref = row.block.verifiedColumn(slot).reference(row.row)
            return ref.isNull ? nil : context.registry.object(ref, object.storeIndex)
        }
        let committed = target(object.committedRow())
        let final = row.flatMap { target(($0.block, $0.index)) }
        var current: NSManagedObject?
        if let overlay = object.overlay, overlay.holdsValue(slot) {
            current = overlay.object(at: shape.slots[slot].offset)
        }
        for other in [committed, current, final].compactMap(\.self) {
            if inverse.isToMany {
                other.existingState(inverse)?.forget(object, isMember: other === final)
            } else if other !== final, let overlay = other.overlay, overlay.holdsValue(inverse.slot),
                overlay.object(at: other.shape.slots[inverse.slot].offset) === object
            {
                if row == nil, overlay.isDirty(inverse.slot), !other.isMarkedDeleted {
                    other.writeReference(inverse, nil)
                } else {
                    other.restoreSlot(inverse.slot)
                }
            }
        }
    }
}

/// Compares stored values of an object's entity.
struct ColumnComparison {
    private let object: NSManagedObject

    init(_ object: NSManagedObject) {
        self.object = object
    }

    /// A row's value; nil for null. Values of classes that cannot be compared are equal only to themselves.
    func value(_ slot: Int, _ block: Block, _ row: Int) -> AnyHashable? {
        let column = block.verifiedColumn(slot)
        if column.isNull(row) { return nil }
        let info = object.shape.slots[slot]
        if info.kind == .toOne { return column.reference(row).rawValue }
        if info.kind == .transformable {
            let isExternal = column.isExternal(row)
            guard let bytes = isExternal ? object.readExternal(column.external(row)) : Array(column.bytes(row))
            else { return nil }
            return TransformedValue(bytes: bytes) { [object] in object.committedValue(slot, (block, row)) }
        }
        return ExactText.comparable(
            ColumnBoxing.box(column, row, info.kind, info.attribute) { object.readExternal($0) })
    }
}

/// What a transformer has written. The bytes of equal values may differ, as archives do. What the transformer makes of
/// them need not be comparable: then the bytes decide.
private struct TransformedValue: Hashable {
    let bytes: [UInt8]
    let value: () -> Any?

    static func == (left: TransformedValue, right: TransformedValue) -> Bool {
        left.bytes == right.bytes || Operand(left.value()).equals(Operand(right.value()))
    }

    /// Nothing: equal values have nothing in common but that they are equal.
    func hash(into hasher: inout Hasher) {}
}

extension ToManyState {
    /// Whether an object is a member is up to the store again.
    func forget(_ object: NSManagedObject, isMember: Bool) {
        added.remove(object)
        removed.remove(object)
        guard isLoaded else { return }
        if isMember {
            closeGaps()
            if members.insert(object).inserted, !order.isEmpty || isOrderChanged { order.append(object) }
        } else if members.remove(object) != nil {
            leaveGap(object)
        }
        // Without changes the members are read again when they are wanted.
        if !isChanged { unload() }
    }
}

extension Overlay {
    /// Makes one slot absent and clean.
    func clearValue(_ slot: Int, _ shape: EntityShape) {
        if holdsValue(slot), shape.codes[slot].kind.isReferenceCounted { release(shape.codes[slot]) }
        let words = group(slot)
        for word in 0..<4 { words[word] &= ~SlotBits.bit(slot) }
    }
}
