import Foundation
import StrataRuntime

/// The changed and cached values of one object: a block of memory laid out by its ``EntityShape``.
///
/// First, for every 64 slots, four words of bits: *present* (the overlay holds the value; otherwise it is read from
/// the row), *null*, *dirty* (differs from what was saved) and *event* (changed since pending changes were last
/// processed). Then the values, natively, at the offsets that the shape gives: references to other objects first. An
/// `Overlay` is an unowned pointer; the object that has it frees it.
///
/// One that was made to keep such references of a row has room for nothing else (``isShort``). An object with
/// `dirtySlots` never has such a one.
@usableFromInline
struct Overlay {
    @usableFromInline let base: UnsafeMutableRawPointer

    @inlinable
    init(base: UnsafeMutableRawPointer) {
        self.base = base
    }

    /// Memory for a shape's overlay with every bit clear; values are not initialised.
    static func allocate(_ shape: EntityShape) -> Overlay {
        Overlay(clearing: OverlayArena.allocateAlone(shape.overlayBytes), shape.summary)
    }

    /// As ``allocate(_:)``, from the memory that a context's overlays share.
    @inline(__always)
    static func allocate(_ summary: UnsafePointer<ShapeSummary>, in arena: inout OverlayArena) -> Overlay {
        Overlay(clearing: arena.allocate(summary.pointee.overlayBytes), summary)
    }

    /// As ``allocate(_:)`` for references only, which objects that are just read keep by the thousand.
    static func allocateShort(_ summary: UnsafePointer<ShapeSummary>) -> Overlay {
        Overlay(clearing: OverlayArena.allocateAlone(summary.pointee.referenceBytes, isShort: true), summary)
    }

    /// Whether there is room for references only.
    @usableFromInline var isShort: Bool { OverlayArena.isShort(base) }

    /// Gives way to one with room for all values.
    func move(to other: Overlay, _ summary: UnsafePointer<ShapeSummary>) {
        other.base.copyMemory(from: base, byteCount: summary.pointee.referenceBytes)
        OverlayArena.free(base)
    }

    @inline(__always)
    private init(clearing base: UnsafeMutableRawPointer, _ summary: UnsafePointer<ShapeSummary>) {
        let words = base.bindMemory(to: UInt64.self, capacity: summary.pointee.groupCount * 4)
        for group in 0..<summary.pointee.groupCount {
            // Four words of bits, without the call that an initialisation in a loop of unknown length becomes.
            let bits = words + group * 4
            (bits[0], bits[1], bits[2], bits[3]) = (0, 0, 0, 0)
        }
        self.base = base
    }

    /// Releases the values and the memory.
    func free(_ summary: UnsafePointer<ShapeSummary>) {
        clearValues(summary, where: { present, _ in present })
        OverlayArena.free(base)
    }

    /// The four words of the group that `slot` is in.
    @inlinable
    func group(_ slot: Int) -> UnsafeMutablePointer<UInt64> {
        // SAFETY: slot is below the shape's slot count, whose groups the header covers.
        (base + (slot &>> 6) &* SlotBits.groupBytes).assumingMemoryBound(to: UInt64.self)
    }

    @inlinable
    func isPresent(_ slot: Int) -> Bool { group(slot)[0] & SlotBits.bit(slot) != 0 }

    @inlinable
    func isNull(_ slot: Int) -> Bool { group(slot)[1] & SlotBits.bit(slot) != 0 }

    func isDirty(_ slot: Int) -> Bool { group(slot)[2] & SlotBits.bit(slot) != 0 }

    func isChangedInEvent(_ slot: Int) -> Bool { group(slot)[3] & SlotBits.bit(slot) != 0 }

    /// Marks a value that was just written as changed.
    @inlinable
    func markChanged(_ slot: Int, isNull: Bool) {
        let words = group(slot)
        let bit = SlotBits.bit(slot)
        words[0] |= bit
        if isNull { words[1] |= bit } else { words[1] &= ~bit }
        words[2] |= bit
        words[3] |= bit
    }

    /// Marks a value that was just written as a cached copy of what the row says.
    func markCached(_ slot: Int, isNull: Bool) {
        let words = group(slot)
        let bit = SlotBits.bit(slot)
        words[0] |= bit
        if isNull { words[1] |= bit } else { words[1] &= ~bit }
    }

    /// Whether a value lies in memory, which must be released before another is put there.
    @inlinable
    func holdsValue(_ slot: Int) -> Bool {
        let words = group(slot)
        let bit = SlotBits.bit(slot)
        return words[0] & ~words[1] & bit != 0
    }

    /// Releases the values of all present slots that `condition` (present word, dirty word -> bits) selects and marks
    /// them absent and clean.
    @inline(__always)
    func clearValues(
        _ summary: UnsafePointer<ShapeSummary>, where condition: (_ present: UInt64, _ dirty: UInt64) -> UInt64
    ) {
        for index in 0..<summary.pointee.groupCount {
            let words = (base + index * SlotBits.groupBytes).assumingMemoryBound(to: UInt64.self)
            let selected = condition(words[0], words[2]) & words[0]
            var owned = selected & ~words[1] & summary.pointee.masks.referenceCounted[index]
            while owned != 0 {
                let slot = index * 64 + owned.trailingZeroBitCount
                owned &= owned - 1
                release(summary.pointee.codes[slot])
            }
            words[0] &= ~selected
            words[1] &= ~selected
            words[2] &= ~selected
            words[3] &= ~selected
        }
    }

    /// Releases what was not changed of the first `count` slots, so that it is read from the row again.
    func clearUnchanged(_ summary: UnsafePointer<ShapeSummary>, persistentSlots count: Int) {
        var first = 0
        clearValues(summary) { present, dirty in
            let persistent = min(64, max(0, count - first))
            first += 64
            return present & ~dirty & (persistent == 64 ? ~0 : (1 << UInt64(persistent)) - 1)
        }
    }

    /// Releases the references to other objects and marks them absent; other values stay.
    func clearReferences(_ summary: UnsafePointer<ShapeSummary>) {
        for index in 0..<summary.pointee.groupCount where summary.pointee.masks.toOne[index] != 0 {
            let words = (base + index * SlotBits.groupBytes).assumingMemoryBound(to: UInt64.self)
            let selected = words[0] & summary.pointee.masks.toOne[index]
            var held = selected & ~words[1]
            for word in 0..<4 { words[word] &= ~selected }
            while held != 0 {
                release(summary.pointee.codes[index * 64 + held.trailingZeroBitCount])
                held &= held - 1
            }
        }
    }

    /// Releases the value of one slot; the bits stay as they are.
    func release(_ info: SlotCode) {
        let address = base + Int(info.offset)
        // SAFETY: callers have checked that the slot holds a value of its kind.
        switch info.kind {
        case .string: address.assumingMemoryBound(to: String.self).deinitialize(count: 1)
        case .data: address.assumingMemoryBound(to: Data.self).deinitialize(count: 1)
        case .uri: address.assumingMemoryBound(to: URL.self).deinitialize(count: 1)
        case .transformable: address.assumingMemoryBound(to: TransformableBox.self).deinitialize(count: 1)
        case .toOne: address.assumingMemoryBound(to: NSManagedObject.self).deinitialize(count: 1)
        default: break
        }
    }

    /// The object a to-one slot holds. The slot must be present and not null.
    func object(at offset: Int) -> NSManagedObject {
        (base + offset).assumingMemoryBound(to: NSManagedObject.self).pointee
    }

    /// Whether the object that a to-one slot holds is deleted. The slot must be present and not null.
    @inline(__always)
    func isObjectDeleted(at offset: Int) -> Bool {
        // SAFETY: an Unmanaged has the layout of the reference it stands for, which the overlay keeps alive.
        ReferenceLayout.reference(at: base + offset, to: NSManagedObject.self)
            .withBorrowed { $0.flags.contains(.deleted) }
    }

    /// Whether any value was changed, transient or not.
    func isAnyDirty(_ summary: UnsafePointer<ShapeSummary>) -> Bool {
        (0..<summary.pointee.groupCount).contains { group($0 * 64)[2] != 0 }
    }

    @inline(__always)
    func clearDirty(_ summary: UnsafePointer<ShapeSummary>) {
        for index in 0..<summary.pointee.groupCount {
            let words = (base + index * SlotBits.groupBytes).assumingMemoryBound(to: UInt64.self)
            words[2] = 0
            words[3] = 0
        }
    }

    @inline(__always)
    func clearEvent(_ summary: UnsafePointer<ShapeSummary>) {
        for index in 0..<summary.pointee.groupCount {
            (base + index * SlotBits.groupBytes).assumingMemoryBound(to: UInt64.self)[3] = 0
        }
    }
}
