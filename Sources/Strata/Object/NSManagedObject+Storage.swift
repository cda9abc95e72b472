import Foundation
import StrataLog
import StrataRuntime
import StrataSupport

extension NSManagedObject {
    /// The block that the object's row lies in.
    final var block: Block? {
        get { blockReference?.takeUnretainedValue() }
        set {
            let old = blockReference
            blockReference = newValue.map { .passRetained($0) }
            old?.release()
        }
    }

    /// The object's registry, and through it its context; nil when it belongs to none.
    final var registry: ObjectRegistry? {
        get { registryReference?.takeUnretainedValue() }
        set {
            let old = registryReference
            registryReference = newValue.map { .passRetained($0) }
            old?.release()
        }
    }

    /// Whether the object is one of the registry's context.
    @inline(__always)
    final func belongs(to registry: ObjectRegistry) -> Bool {
        registryReference?.toOpaque() == Unmanaged.passUnretained(registry).toOpaque()
    }

    /// Whether both belong to the same context, and to one at all.
    @inline(__always)
    final func isInContext(of other: NSManagedObject) -> Bool {
        guard let own = registryReference, let others = other.registryReference else { return false }
        return own.toOpaque() == others.toOpaque()
    }

    /// The object belongs to no context any more, and has no changes: whoever still holds it reads what it had. A fault
    /// has nothing and never will, but reads as realized.
    ///
    /// - Returns: whether it is a fault.
    @discardableResult
    final func leaveContext() -> Bool {
        flags.subtract([
            .listed, .inEvent, .inserted, .updated, .deleted, .deletePropagated, .insertReported,
        ])
        guard isUnread else { return false }
        flags.insert([.realized, .gone])
        return true
    }

    /// Tells the context that the object changes. A change of an object without context is only a change of its memory.
    final func recordChange(_ what: ObjectFlags) {
        if registryReference != nil, flags.isSuperset(of: [.listed, .inEvent]),
            flags.isDisjoint(with: [.gone, .awaking, .confined])
        {
            // The context knows already. One that goes takes the marks back.
            flags.insert(what)
            if flags.isDisjoint(with: [.inserted, .deleted]) { flags.insert(.updated) }
            return
        }
        guard let context = registry?.context, flags.isDisjoint(with: [.gone, .awaking]) else { return }
        context.pipeline.list(self, in: context)
        flags.insert(what)
        if flags.isDisjoint(with: [.inserted, .deleted]) { flags.insert(.updated) }
        context.stateMayHaveChanged()
    }

    /// Fires the fault. A row that cannot be read leaves the object without values; see ``ObjectFlags/unreadable``.
    ///
    /// - Parameter slot: the slot whose value is wanted, -1 for none in particular.
    final func realize(_ slot: Int = -1) {
        guard isUnread else { return }
        if flags.contains(.gone) {
            // The deletion came from elsewhere: nothing is left to be read.
            flags.insert(.realized)
            return
        }
        guard let context = registryReference?.withBorrowed({ $0.contextReference }) else {
            realizeWithoutContext()
            return
        }
        // SAFETY: what is called on the context's queue, and by its objects, has the context.
        context.withBorrowed { $0.fulfill(self, slot) }
    }

    /// Takes a row as the committed state.
    final func attach(_ block: Block, row: Int, location: Location) {
        self.block = block
        self.row = UInt32(row)
        version = RowVersion(location: location, sequence: block.sequence(row))
        flags.insert([.realized, .rowIsCommitted])
    }

    /// As ``attach(_:row:location:)`` for an object that has no row; takes over a reference to the block.
    final func attach(taking block: Unmanaged<Block>, _ location: Location) {
        blockReference?.release()
        blockReference = block
        row = UInt32(location.row)
        version = RowVersion(location: location, sequence: block.withBorrowed { $0.sequence(location.row) })
        flags.insert([.realized, .rowIsCommitted])
    }

    /// Gives up the values; keeps changes and transient values only if `keepingChanges`, as the object does not become
    /// a fault then for those who look at it. Then the caller tells who observes it.
    final func turnIntoFault(keepingChanges: Bool) {
        let wasRealized = flags.contains(.realized) && !keepingChanges
        if !keepingChanges, !flags.contains(.unobserved) { observedEverythingWillChange() }
        if wasRealized { willTurnIntoFault() }
        block = nil
        if let overlay {
            if keepingChanges {
                // No row has transient values.
                overlay.clearUnchanged(summary, persistentSlots: shape.persistentSlotCount)
            } else {
                overlay.free(summary)
                self.overlay = nil
            }
        }
        for state in toMany { state?.unload() }
        if !keepingChanges {
            toMany = []
            flags.subtract([.dirtySlots, .dirtyToMany])
        }
        flags.subtract([.realized, .rowIsCommitted, .defaultsBelow, .unreadable])
        if wasRealized { didTurnIntoFault() }
        if !keepingChanges, !flags.contains(.unobserved) { observedEverythingDidChange() }
    }

    /// Whether it holds a value that no row has.
    final var hasTransientValues: Bool {
        guard let overlay, !overlay.isShort else { return false }
        return (shape.persistentSlotCount..<shape.slots.count).contains { overlay.isPresent($0) }
    }

    /// The bytes of a value that lies outside of its row; nil after a read error, which marks the object.
    final func readExternal(_ value: ExternalValue) -> [UInt8]? {
        guard let context = registry?.context, let handle = registry?.handle(storeIndex) else { return nil }
        do {
            return try handle.log.read(value)
        } catch {
            context.recordUnreadable(self, error, value: value)
            return nil
        }
    }

    /// The overlay with room for all values, made if need be.
    final var ensuredOverlay: Overlay {
        if let overlay, !overlay.isShort { return overlay }
        return exchangeOverlay(for: Overlay.allocate(shape))
    }

    /// Gives the object an overlay that has room for all values, in the place of one that has not, or of none.
    @discardableResult
    final func exchangeOverlay(for new: Overlay) -> Overlay {
        overlay?.move(to: new, summary)
        overlay = new
        return new
    }

    // MARK: Boxed values

    /// An attribute's value as key-value coding hands it out. Fires the fault.
    final func boxedValue(_ slot: Int) -> Any? {
        if isUnread { realize(slot) }
        if let overlay, overlay.isPresent(slot) {
            if flags.contains(.numberOutOfRange), let number = numberOutOfRange(slot) { return number }
            return overlay.isNull(slot) ? nil : overlay.boxed(shape.codes[slot])
        }
        let isPersistent = slot < shape.persistentSlotCount
        if let block, isPersistent { return boxed(in: block, row: Int(row), slot: slot) }
        return flags.contains(.defaultsBelow) || !isPersistent || storeIndex == 0 ? shape.slots[slot].defaultValue : nil
    }

    /// A row's value, boxed.
    final func boxed(in block: Block, row: Int, slot: Int) -> Any? {
        ColumnBoxing.box(block.verifiedColumn(slot), row, shape.codes[slot].kind, shape.slots[slot].attribute) {
            self.readExternal($0)
        }
    }

    /// Sets an attribute's value with all that belongs to a change.
    final func setBoxedValue(_ value: Any?, slot: Int) {
        let kind = shape.codes[slot].kind
        defer { if kind.hasRange { recordRange(value, slot) } }
        if let value, ExactValue.isTaken(value, by: kind) {
            return setExactValue(value, slot)
        }
        // Before anybody is told: a value of the wrong type stops the program here.
        let converted = ValueConversion.convert(value, for: shape.slots[slot], entity: shape)
        if flags.isSuperset(of: .writable) { return storeConverted(converted, slot: slot) }
        prepareToChange(slot)
        storeConverted(converted, slot: slot)
        if !flags.contains(.unobserved) { completeObservedChange(slot) }
    }

    /// As ``setBoxedValue(_:slot:)``, for a value that ``ExactValue`` takes.
    private func setExactValue(_ value: Any, _ slot: Int) {
        let isWritable = flags.isSuperset(of: .writable)
        if !isWritable { prepareToChange(slot) }
        let overlay = ensuredOverlay
        let code = shape.codes[slot]
        if overlay.holdsValue(slot) { overlay.release(code) }
        overlay.initializeExactly(code, to: value)
        overlay.markChanged(slot, isNull: false)
        if !isWritable, !flags.contains(.unobserved) { completeObservedChange(slot) }
    }

    /// Puts a value into the overlay and marks it as changed there.
    final func store(_ value: Any?, slot: Int) {
        storeConverted(ValueConversion.convert(value, for: shape.slots[slot], entity: shape), slot: slot)
    }

    private func storeConverted(_ converted: Any?, slot: Int) {
        let info = shape.slots[slot]
        let overlay = ensuredOverlay
        if overlay.holdsValue(slot) { overlay.release(shape.codes[slot]) }
        if let converted { overlay.initialize(info, to: converted) }
        overlay.markChanged(slot, isNull: converted == nil)
    }
}

extension Overlay {
    /// A present value that is not null, as key-value coding hands it out.
    func boxed(_ code: SlotCode) -> Any {
        let address = base + Int(code.offset)
        // SAFETY: the slot holds a value of its kind.
        switch code.kind {
        case .bool: return NSNumber(value: address.assumingMemoryBound(to: Bool.self).pointee)
        case .int16: return NSNumber(value: address.assumingMemoryBound(to: Int16.self).pointee)
        case .int32: return NSNumber(value: address.assumingMemoryBound(to: Int32.self).pointee)
        case .int64: return NSNumber(value: address.assumingMemoryBound(to: Int64.self).pointee)
        case .float: return NSNumber(value: address.assumingMemoryBound(to: Float.self).pointee)
        case .double: return NSNumber(value: address.assumingMemoryBound(to: Double.self).pointee)
        case .date: return address.assumingMemoryBound(to: Date.self).pointee
        case .uuid: return address.assumingMemoryBound(to: UUID.self).pointee
        case .string: return address.assumingMemoryBound(to: String.self).pointee
        case .data: return address.assumingMemoryBound(to: Data.self).pointee
        case .decimal: return NSDecimalNumber(decimal: address.assumingMemoryBound(to: Decimal.self).pointee)
        case .uri: return address.assumingMemoryBound(to: URL.self).pointee
        case .transformable: return address.assumingMemoryBound(to: TransformableBox.self).pointee.value
        case .toOne: return address.assumingMemoryBound(to: NSManagedObject.self).pointee
        }
    }

    /// Puts a value that ``ValueConversion`` has converted into a place that holds none.
    func initialize(_ info: SlotInfo, to value: Any) {
        func put<T>(_ type: T.Type) {
            guard let typed = value as? T else {
                preconditionFailure("a value of \(info.name) was not converted: \(Swift.type(of: value))")
            }
            (base + info.offset).assumingMemoryBound(to: T.self).initialize(to: typed)
        }
        switch info.kind {
        case .bool: put(Bool.self)
        case .int16: put(Int16.self)
        case .int32: put(Int32.self)
        case .int64: put(Int64.self)
        case .float: put(Float.self)
        case .double: put(Double.self)
        case .date: put(Date.self)
        case .uuid: put(UUID.self)
        case .string: put(String.self)
        case .data: put(Data.self)
        case .decimal: put(Decimal.self)
        case .uri: put(URL.self)
        case .transformable:
            (base + info.offset).assumingMemoryBound(to: TransformableBox.self).initialize(to: TransformableBox(value))
        case .toOne: put(NSManagedObject.self)
        }
    }
}
