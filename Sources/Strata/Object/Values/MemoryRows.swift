import Foundation
import StrataLog

/// Gathers rows in memory for objects whose values do not come from a block of the log: those that a child context
/// takes from its parent or gives to it, and those of stores that keep their values elsewhere.
///
/// What comes out is a ``Row`` of an ordinary ``Block``, so an object takes it with
/// ``NSManagedObject/attach(_:row:location:)`` and its typed accessors read it as they read any other. Rows of one
/// entity that are gathered together share a block (up to 4,096 rows or 256 KiB), which lives as long as any object
/// that has taken one of its rows.
///
///     let rows = MemoryRows(shape, entity: map.numbers[shape.index])
///     rows.begin(key: ref.key)
///     try rows.set(slot, "a value as key-value coding has it")
///     rows.set(otherSlot, target.ref)
///     rows.end()
///     let row = rows.finish()[0]
///     object.attach(row.block, row: row.index, location: row.location)
///
/// Slots that are not set are null. Values of any length lie in the row itself. The block's location is one that no
/// log has, so `attach` may be given another one, such as that of the stored row that the values are based on. Not
/// thread-safe; the rows that come out are.
final class MemoryRows {
    /// When the next block is begun.
    private static let maximumBytes = 256 << 10
    private static let maximumRows = 4_096

    let shape: EntityShape
    private let buffer: RowBuffer
    private let sequence: UInt64
    private var rows: [Row] = []
    /// Blocks with values out of line that rows refer to.
    private var pinned: [Block] = []

    /// - Parameters:
    ///   - entity: the entity's number in the store, which the references of the rows will have; 0 for objects that
    ///     have temporary IDs.
    ///   - sequence: what the rows give as the number of the transaction that wrote them.
    init(_ shape: EntityShape, entity: UInt16, sequence: UInt64 = 0) {
        self.shape = shape
        self.sequence = sequence
        let slots = (0..<shape.persistentSlotCount).map { SlotLayout(shape.codes[$0].kind.valueKind) }
        buffer = RowBuffer(
            layout: EntityLayout(id: entity, rootID: entity, name: shape.name, slots: slots), schemaVersion: 0)
    }

    /// Starts a row. Every ``begin(key:)`` is followed by an ``end()``.
    func begin(key: UInt64) {
        if buffer.rowCount >= Self.maximumRows || buffer.rawByteCount >= Self.maximumBytes { cut() }
        buffer.beginRow(key: key)
    }

    func end() { buffer.endRow() }

    /// The finished rows, in the order in which they were begun. Can be called once.
    func finish() -> [Row] {
        cut()
        return rows
    }

    private func cut() {
        guard buffer.rowCount > 0 else { return }
        let block = buffer.takeBlock(sequence: sequence)
        if !pinned.isEmpty { block.keep(pinned) }
        pinned = []
        for index in 0..<block.rowCount { rows.append(Row(block: block, index: index)) }
    }

    // MARK: Values

    /// Sets an attribute to a value as key-value coding has it; nil and `NSNull` for null.
    ///
    /// - Throws: what the value transformer of a transformable attribute throws.
    /// - Precondition: the attribute takes a value of this type.
    func set(_ slot: Int, _ value: Any?) throws {
        guard let value = ValueConversion.convert(value, for: shape.slots[slot], entity: shape) else {
            buffer.setNull(slot)
            return
        }
        let kind = shape.codes[slot].kind
        switch value {
        case let value as Bool where kind == .bool: buffer.set(slot, value)
        case let value as Int16 where kind == .int16: buffer.set(slot, value)
        case let value as Int32 where kind == .int32: buffer.set(slot, value)
        case let value as Int64 where kind == .int64: buffer.set(slot, value)
        case let value as Float where kind == .float: buffer.set(slot, value)
        case let value as Double where kind == .double: buffer.set(slot, value)
        case let value as Date where kind == .date: buffer.set(slot, value.timeIntervalSinceReferenceDate)
        case let value as UUID where kind == .uuid: buffer.set(slot, uuid: value.words)
        case let value as String where kind == .string: set(slot, value)
        case let value as URL where kind == .uri: set(slot, value.absoluteString)
        case let value as Data where kind == .data: set(slot, value)
        case let value as Decimal where kind == .decimal: set(slot, Data(DecimalCoding.encode(value)))
        default:
            guard kind == .transformable, let attribute = shape.slots[slot].attribute else { return }
            if let data = try attribute.transformedData(from: value) { set(slot, data) } else { buffer.setNull(slot) }
        }
    }

    /// Sets a to-one relationship. The reference may be that of an object with a temporary ID.
    func set(_ slot: Int, _ target: ObjectRef) {
        if target.isNull { buffer.setNull(slot) } else { buffer.set(slot, target) }
    }

    private func set(_ slot: Int, _ value: String) {
        var value = value
        value.withUTF8 { buffer.set(slot, bytesOfAnyLength: UnsafeRawBufferPointer($0)) }
    }

    private func set(_ slot: Int, _ value: Data) {
        value.withUnsafeBytes { buffer.set(slot, bytesOfAnyLength: $0) }
    }

    /// Copies a value of another row. One that the log stores out of line stays there.
    func copy(_ slot: Int, from column: ColumnView, row: Int) {
        if column.kind.fixedWidth == 0, !column.isNull(row), !column.isExternal(row) {
            buffer.set(slot, bytesOfAnyLength: column.bytes(row))
        } else {
            buffer.row.copy(slot, from: column, row: row)
        }
    }
}

extension MemoryRows {
    /// One row with everything that the object holds at the moment, saved or not.
    ///
    /// - Throws: what value transformers throw.
    /// - Precondition: the object is not a fault.
    func append(_ object: NSManagedObject) throws {
        begin(key: object.ref.key)
        defer { end() }
        let overlay = object.overlay
        for slot in 0..<shape.persistentSlotCount {
            if let overlay, overlay.isPresent(slot) {
                if !overlay.isNull(slot) { try set(slot, from: overlay, of: object) }
            } else if let block = object.block {
                if slot < block.slotCount { copy(slot, from: block.verifiedColumn(slot), row: Int(object.row)) }
                if block.isPinned, pinned.last !== block { pinned.append(block) }
            } else if shape.codes[slot].hasDefault, object.flags.contains(.defaultsBelow) {
                try set(slot, shape.slots[slot].defaultValue)
            }
        }
    }

    private func set(_ slot: Int, from overlay: Overlay, of object: NSManagedObject) throws {
        let code = shape.codes[slot]
        let address = overlay.base + Int(code.offset)
        // SAFETY: the slot is present and not null, so its place holds a value of its kind.
        switch code.kind {
        case .bool: buffer.set(slot, address.assumingMemoryBound(to: Bool.self).pointee)
        case .int16: buffer.set(slot, address.assumingMemoryBound(to: Int16.self).pointee)
        case .int32: buffer.set(slot, address.assumingMemoryBound(to: Int32.self).pointee)
        case .int64: buffer.set(slot, address.assumingMemoryBound(to: Int64.self).pointee)
        case .float: buffer.set(slot, address.assumingMemoryBound(to: Float.self).pointee)
        case .double: buffer.set(slot, address.assumingMemoryBound(to: Double.self).pointee)
        case .date: buffer.set(slot, address.assumingMemoryBound(to: Date.self).pointee.timeIntervalSinceReferenceDate)
        case .uuid: buffer.set(slot, uuid: address.assumingMemoryBound(to: UUID.self).pointee.words)
        case .string: set(slot, address.assumingMemoryBound(to: String.self).pointee)
        case .data: set(slot, address.assumingMemoryBound(to: Data.self).pointee)
        case .decimal:
            set(slot, Data(DecimalCoding.encode(address.assumingMemoryBound(to: Decimal.self).pointee)))
        case .uri: set(slot, address.assumingMemoryBound(to: URL.self).pointee.absoluteString)
        case .transformable:
            guard let attribute = object.shape.slots[slot].attribute else { return }
            let value = address.assumingMemoryBound(to: TransformableBox.self).pointee.value
            if let data = try attribute.transformedData(from: value) { set(slot, data) }
        case .toOne:
            let target = overlay.object(at: Int(code.offset))
            // One that never was saved and never will be is nothing to refer to.
            let isNothing = target.flags.contains(.gone) || (target.isMarkedDeleted && target.flags.contains(.inserted))
            set(slot, isNothing ? .null : target.ref)
        }
    }
}
