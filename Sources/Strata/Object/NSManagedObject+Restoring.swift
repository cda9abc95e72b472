import Foundation
import StrataLog

extension NSManagedObject {
    /// Takes the changes since the last save or fetch back. The object keeps what it has read and stays no fault.
    ///
    /// The other ends of its relationships have changes of their own, which are taken back with theirs. What was
    /// committed comes from the row that the object goes by, not from the store's newest one. An object whose row
    /// cannot be had becomes a fault.
    ///
    /// - Complexity: O(n) in the object's slots and the members of its changed relationships.
    final func restoreCommitted() {
        guard !isUnread, !flags.contains(.unreadable) else { return giveUpChanges() }
        if !flags.contains(.unobserved) { observedEverythingWillChange() }
        defer { if !flags.contains(.unobserved) { observedEverythingDidChange() } }
        let isStale = !isRowCommitted && (overlay != nil || blockReference != nil)
        if isStale || overlay?.isAnyDirty(summary) == true {
            guard restoreSlots() else { return turnIntoFault(keepingChanges: false) }
        }
        restoreMembers()
        flags.subtract([.dirtySlots, .dirtyToMany])
        endEvent()
    }

    /// Whether the row that the object holds is the committed one.
    private var isRowCommitted: Bool { flags.contains(.rowIsCommitted) && blockReference != nil }

    /// A fault stays one; what it knows of to-many relationships is not read again.
    private func giveUpChanges() {
        let kept = flags.contains(.unreadable) ? [] : toMany
        turnIntoFault(keepingChanges: false)
        toMany = kept
        restoreMembers()
    }

    private func restoreMembers() {
        for (relationship, state) in zip(shape.relationships, toMany) {
            state?.takeBack(isOrdered: relationship.isOrdered)
        }
    }

    /// Makes the changed slots read from the committed row. False if that cannot be had.
    private func restoreSlots() -> Bool {
        if isRowCommitted {
            overlay?.clearValues(summary) { present, dirty in present & dirty }
            return true
        }
        // What a child's object was read as is not in the log.
        guard registry?.context?.link == nil, registry?.handle(storeIndex)?.isDetached == false,
            let row = committedRow()
        else { return false }
        if let overlay { keepTransientDefaults(overlay) }
        let version = version
        overlay?.clearValues(summary) { present, dirty in present & dirty }
        attach(row.block, row: row.row, location: version.location)
        self.version = version
        flags.remove(.defaultsBelow)
        return true
    }

    /// Takes the change of one slot back, which then reads from the committed row. The object need not hold that: after
    /// a save, the values that were written lie over the row before it, which has another one in this slot.
    final func restoreSlot(_ slot: Int) {
        guard let overlay else { return }
        if !isRowCommitted, let row = committedRow() {
            let version = version
            flags.remove(.defaultsBelow)
            attach(row.block, row: row.row, location: version.location)
            self.version = version
        }
        overlay.clearValue(slot, shape)
    }

    /// No row has the defaults of transient attributes that an object was inserted with.
    final func keepTransientDefaults(_ overlay: Overlay) {
        guard flags.contains(.defaultsBelow) else { return }
        for slot in shape.persistentSlotCount..<shape.slots.count {
            guard !overlay.isPresent(slot) || overlay.isDirty(slot) else { continue }
            let info = shape.slots[slot]
            guard let value = ValueConversion.convert(info.defaultValue, for: info, entity: shape) else { continue }
            if overlay.holdsValue(slot) { overlay.release(shape.codes[slot]) }
            overlay.initialize(info, to: value)
            overlay.markCached(slot, isNull: false)
            overlay.markClean(slot)
        }
    }
}
