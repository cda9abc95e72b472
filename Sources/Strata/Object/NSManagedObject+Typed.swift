import Foundation
import StrataLog
import StrataRuntime

extension NSManagedObject {
    /// The value of an attribute. Fires the fault.
    @inlinable
    public subscript<Value: AttributeValue>(slot: AttributeSlot<Value>) -> Value {
        get { _value(slot._cache) ?? Value._whenNull }
        set { _setPresent(newValue, slot._cache) }
    }

    /// The value of an attribute, nil for null. Fires the fault.
    @inlinable
    public subscript<Value: AttributeValue>(slot: AttributeSlot<Value?>) -> Value? {
        get { _value(slot._cache) }
        set { _setValue(newValue, slot._cache) }
    }

    /// The value of a transformable attribute, or of any attribute as a Foundation class. Fires the fault.
    public subscript<Value>(slot: ObjectAttributeSlot<Value>) -> Value? {
        get {
            if flags.contains(.observable) { reportAccess(slot.name) }
            return boxedValue(slot._cache.token(for: self).index) as? Value
        }
        set { setBoxedValue(newValue, slot: slot._cache.token(for: self).index) }
    }

    /// Not API.
    @inlinable @inline(__always)
    public final func _value<Value: AttributeValue>(_ cache: _SlotCache) -> Value? {
        _value(cache.token(shapeID: shapeID, for: self))
    }

    @inlinable @inline(__always)
    final func _value<Value: AttributeValue>(_ token: SlotToken) -> Value? {
        let slot = token.index
        if !flags.isDisjoint(with: .readsNoted) { reportAccess(slot) }
        if let overlay, overlay.isPresent(slot) {
            if overlay.isNull(slot) { return nil }
            // SAFETY: a present slot that is not null holds a value of the attribute's type, which the cache checked.
            return (overlay.base + token.offset).assumingMemoryBound(to: Value.self).pointee
        }
        if blockReference == nil, fire(slot) { return valueOfFired(token) }
        if let blockReference, token.isStored {
            let row = Int(truncatingIfNeeded: row)
            // SAFETY: the object has a reference to the block until it takes another one.
            let column = blockReference.withBorrowed { $0.verifiedColumn(slot) }
            if column.isNull(row) { return nil }
            if !Value._mayBeExternal || !column.isExternal(row) { return Value._read(column, row) }
        }
        return readSlowly(token)
    }

    /// Not API. As `_setValue` for a value that is not null: it is moved to its place without another reference.
    @inlinable @inline(__always)
    public final func _setPresent<Value: AttributeValue>(_ value: consuming Value, _ cache: _SlotCache) {
        _setPresent(value, cache.token(shapeID: shapeID, for: self))
    }

    @inlinable @inline(__always)
    final func _setPresent<Value: AttributeValue>(_ value: consuming Value, _ token: SlotToken) {
        let slot = token.index
        guard flags.isSuperset(of: .writable), let overlay else { return setAnnounced(value, token) }
        assert(!overlay.isShort, "an object with dirtySlots has an overlay for all values")
        // SAFETY: as for reading.
        let address = (overlay.base + token.offset).assumingMemoryBound(to: Value.self)
        if overlay.holdsValue(slot) { address.pointee = value } else { address.initialize(to: value) }
        overlay.markChanged(slot, isNull: false)
    }

    /// Not API.
    @inlinable @inline(__always)
    public final func _setValue<Value: AttributeValue>(_ value: __owned Value?, _ cache: _SlotCache) {
        _setValue(value, cache.token(shapeID: shapeID, for: self))
    }

    @inlinable @inline(__always)
    final func _setValue<Value: AttributeValue>(_ value: __owned Value?, _ token: SlotToken) {
        guard flags.isSuperset(of: .writable) else { return setAnnounced(value, token) }
        put(value, slot: token.index, offset: token.offset)
    }

    /// As `_setValue` where the context or observers have to be told.
    @inlinable @inline(never)
    final func setAnnounced<Value: AttributeValue>(_ value: __owned Value?, _ token: SlotToken) {
        prepareToChange(token.index)
        put(value, slot: token.index, offset: token.offset)
        if !flags.contains(.unobserved) { completeObservedChange(token.index) }
    }

    @inlinable @inline(__always)
    final func put<Value: AttributeValue>(_ value: __owned Value?, slot: Int, offset: Int) {
        guard let overlay else { return }
        assert(!overlay.isShort, "an object with dirtySlots has an overlay for all values")
        // SAFETY: as for reading; prepareToChange has made the overlay.
        let address = (overlay.base + offset).assumingMemoryBound(to: Value.self)
        let holdsValue = overlay.holdsValue(slot)
        if let value {
            if holdsValue { address.pointee = value } else { address.initialize(to: value) }
            overlay.markChanged(slot, isNull: false)
        } else {
            if holdsValue { address.deinitialize(count: 1) }
            overlay.markChanged(slot, isNull: true)
        }
    }

    /// Fires the fault for a slot; false if the object is none.
    @usableFromInline @inline(never)
    final func fire(_ slot: Int) -> Bool {
        guard isUnread else { return false }
        realize(slot)
        return true
    }

    /// The value, once more: awakeFromFetch may have set it.
    @inlinable @inline(never)
    final func valueOfFired<Value: AttributeValue>(_ token: SlotToken) -> Value? { _value(token) }

    /// The ways of reading that are not the common one: a default value, a value stored out of line, a slot the row
    /// does not have.
    @usableFromInline @inline(never)
    final func readSlowly<Value: AttributeValue>(_ token: SlotToken) -> Value? {
        let slot = token.index
        let info = shape.slots[slot]
        if let block, info.isPersistent {
            let column = block.verifiedColumn(slot)
            return column.isExternal(Int(row)) ? largeValue(column.external(Int(row))) : nil
        }
        guard flags.contains(.defaultsBelow) || !info.isPersistent || storeIndex == 0, let value = info.defaultValue
        else {
            return nil
        }
        return convertDefault(value)
    }

    /// A value that lies outside of its row; nil after a read error, which marks the object.
    private final func largeValue<Value: AttributeValue>(_ location: ExternalValue) -> Value? {
        guard let context = registry?.context else { return nil }
        if let known: Value = context.largeValues.value(at: location, storeIndex) { return known }
        guard let bytes = readExternal(location) else { return nil }
        let value = bytes.withUnsafeBytes { Value._decode($0) }
        context.largeValues.keep(value, at: location, storeIndex)
        return value
    }

    /// Makes the object writable and tells the context that it changes, and observers that the slot is about to;
    /// ``completeObservedChange(_:)`` has to follow.
    @usableFromInline @inline(never)
    final func prepareToChange(_ slot: Int) {
        if isUnread { realize(slot) }
        if overlay?.isShort ?? true {
            exchangeOverlay(
                for: registryReference?.withBorrowed { Overlay.allocate(summary, in: &$0.overlays) }
                    ?? Overlay.allocate(shape))
        }
        if !flags.contains(.unobserved) { observedWillChange(shape.slots[slot].name) }
        // What is transient needs no new row.
        recordChange(slot < summary.pointee.persistentSlotCount ? .dirtySlots : [])
    }

    /// Tells observers, of which there may be some, that a slot has changed.
    @usableFromInline @inline(never)
    final func completeObservedChange(_ slot: Int) { observedDidChange(shape.slots[slot].name) }
}

/// A model's default value, which may be an NSNumber, as an accessor's type.
func convertDefault<Value: AttributeValue>(_ value: Any) -> Value? {
    if let value = value as? Value { return value }
    guard let number = value as? NSNumber else { return nil }
    // A cast fails when the number does not fit the type exactly, as 0.1 does not fit a Float.
    switch Value.self {
    case is Float.Type: return number.floatValue as? Value
    case is Double.Type: return number.doubleValue as? Value
    case is Decimal.Type: return number.decimalValue as? Value
    case is Bool.Type: return number.boolValue as? Value
    default: return nil
    }
}
