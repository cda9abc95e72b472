import Foundation
import StrataLog
import StrataRuntime

/// Streams objects into a transaction's columns, slot by slot.
final class RowWriter {
    private let transaction: WriteTransaction
    private let handle: StoreHandle
    private let storeIndex: UInt16
    /// By shape index.
    @exclusivity(unchecked) private var writers: [EntityWriter?]
    /// The writer of the last object's entity, which `writers` holds. No shape has the ID 0.
    @exclusivity(unchecked) private var lastShapeID: UInt32 = 0
    @exclusivity(unchecked) private var lastWriter: Unmanaged<EntityWriter>?

    init(_ transaction: WriteTransaction, _ handle: StoreHandle, _ storeIndex: UInt16) {
        self.transaction = transaction
        self.handle = handle
        self.storeIndex = storeIndex
        writers = [EntityWriter?](repeating: nil, count: handle.map.numbers.count)
    }

    @inline(__always)
    private func writer(of object: NSManagedObject) -> Unmanaged<EntityWriter> {
        if object.shapeID == lastShapeID, let lastWriter { return lastWriter }
        return changeWriter(object.shape)
    }

    private func changeWriter(_ shape: EntityShape) -> Unmanaged<EntityWriter> {
        let writer = writers[shape.index] ?? transaction.writer(for: handle.map.numbers[shape.index])
        writers[shape.index] = writer
        let reference = Unmanaged.passUnretained(writer)
        (lastShapeID, lastWriter) = (shape.id, reference)
        return reference
    }

    func insert(_ object: NSManagedObject) throws -> EntityWriter.RowTicket {
        // SAFETY: the list holds the writers.
        try writer(of: object).withBorrowed { try insert(object, $0) }
    }

    func update(_ object: NSManagedObject) throws -> EntityWriter.RowTicket {
        try writer(of: object).withBorrowed { try update(object, $0) }
    }

    @inline(__always)
    private func insert(_ object: NSManagedObject, _ writer: EntityWriter) throws -> EntityWriter.RowTicket {
        writer.beginInsert(key: object.futureRef.key)
        try writeSlots(object, writer)
        return writer.endRow()
    }

    private func update(_ object: NSManagedObject, _ writer: EntityWriter) throws -> EntityWriter.RowTicket {
        var changed = SlotSet()
        if let overlay = object.overlay {
            for group in 0..<object.shape.groupCount {
                var dirty = overlay.group(group * 64)[2] & object.shape.masks.persistent[group]
                while dirty != 0 {
                    changed.insert(group * 64 + dirty.trailingZeroBitCount)
                    dirty &= dirty - 1
                }
            }
        }
        try writer.beginUpdate(key: object.ref.key, replacing: object.version, changed: changed)
        try writeSlots(object, writer)
        return writer.endRow()
    }

    private func writeSlots(_ object: NSManagedObject, _ writer: EntityWriter) throws {
        let row = writer.row
        let summary = object.summary
        let codes = summary.pointee.codes
        if let overlay = object.overlay {
            for group in 0..<summary.pointee.groupCount {
                let words = overlay.group(group * 64)
                var slots = words[0] & ~words[1] & summary.pointee.masks.persistent[group]
                while slots != 0 {
                    let slot = group * 64 + slots.trailingZeroBitCount
                    slots &= slots - 1
                    let place = overlay.base + Int(codes[slot].offset)
                    try write(place, codes[slot].kind, slot, object, writer, row)
                }
            }
        }
        if object.blockReference == nil, !summary.pointee.hasDefaults { return }
        try writeUnset(object, writer)
    }

    /// Writes what the overlay does not hold: the values of the row below, or defaults.
    private func writeUnset(_ object: NSManagedObject, _ writer: EntityWriter) throws {
        let shape = object.shape
        let base = object.block.map { Row(block: $0, index: Int(object.row)) }
        for slot in 0..<shape.persistentSlotCount where object.overlay?.isPresent(slot) != true {
            if let base {
                try writer.copy(slot, from: base, slot: slot)
            } else if shape.codes[slot].hasDefault {
                try writeDefault(shape.slots[slot], slot, shape, writer)
            }
        }
    }

    /// Writes the value of a kind that lies at a place.
    @inline(__always)
    private func write(
        _ place: UnsafeMutableRawPointer, _ kind: SlotKind, _ slot: Int, _ object: NSManagedObject,
        _ writer: EntityWriter, _ row: OpenRow
    ) throws {
        // SAFETY: the slot is present and not null, so its place holds a value of its kind.
        switch kind {
        case .bool: row.set(slot, place.assumingMemoryBound(to: Bool.self).pointee)
        case .int16: row.set(slot, place.assumingMemoryBound(to: Int16.self).pointee)
        case .int32: row.set(slot, place.assumingMemoryBound(to: Int32.self).pointee)
        case .int64: row.set(slot, place.assumingMemoryBound(to: Int64.self).pointee)
        case .float: row.set(slot, place.assumingMemoryBound(to: Float.self).pointee)
        case .double: row.set(slot, place.assumingMemoryBound(to: Double.self).pointee)
        case .date: row.set(slot, place.assumingMemoryBound(to: Date.self).pointee.timeIntervalSinceReferenceDate)
        case .uuid: row.set(slot, uuid: place.assumingMemoryBound(to: UUID.self).pointee.words)
        case .string:
            let place = place.assumingMemoryBound(to: String.self)
            if !row.set(slot, stringAt: place) { writer.set(slot, place.pointee) }
        case .toOne:
            // SAFETY: an Unmanaged has the layout of the reference it stands for, which the overlay keeps alive.
            let target = ReferenceLayout.reference(at: place, to: NSManagedObject.self)
            try target.withBorrowed { writer.set(slot, try storedRef($0, of: object, slot)) }
        default: try writeBytes(place, kind, slot, object, writer)
        }
    }

    /// Writes a value of the kinds that are turned into bytes first.
    private func writeBytes(
        _ place: UnsafeMutableRawPointer, _ kind: SlotKind, _ slot: Int, _ object: NSManagedObject,
        _ writer: EntityWriter
    ) throws {
        switch kind {
        case .data:
            place.assumingMemoryBound(to: Data.self).pointee.withUnsafeBytes { writer.set(slot, bytes: $0) }
        case .decimal:
            DecimalCoding.encode(place.assumingMemoryBound(to: Decimal.self).pointee).withUnsafeBytes {
                writer.set(slot, bytes: $0)
            }
        case .uri: writer.set(slot, place.assumingMemoryBound(to: URL.self).pointee.absoluteString)
        case .transformable:
            let value = place.assumingMemoryBound(to: TransformableBox.self).pointee.value
            guard let attribute = object.shape.slots[slot].attribute else { return }
            try attribute.transformedData(from: value)?.withUnsafeBytes { writer.set(slot, bytes: $0) }
        case .bool, .int16, .int32, .int64, .float, .double, .date, .uuid, .string, .toOne:
            preconditionFailure("values of kind \(kind) are written directly")
        }
    }

    private func writeDefault(_ info: SlotInfo, _ slot: Int, _ shape: EntityShape, _ writer: EntityWriter) throws {
        guard let value = ValueConversion.convert(info.defaultValue, for: info, entity: shape) else { return }
        try writer.set(slot, converted: value, info)
    }

    /// What is stored for a reference to another object; null for one that is deleted and was never saved.
    func storedRef(_ target: NSManagedObject, of object: NSManagedObject, _ slot: Int) throws -> ObjectRef {
        if target.storeIndex == storeIndex { return target.ref }
        if target.storeIndex == 0 {
            if target.isInserted, target.isInContext(of: object) { return target.reservedRef }
            if target.isMarkedDeleted || target.flags.contains(.gone) { return .null }
            throw DescribedError(
                .managedObjectReferentialIntegrity,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(object.shape.name).\(object.shape.slots[slot].name) refers to an object that is in no context.",
                    NSAffectedObjectsErrorKey: [object, target],
                ])
        }
        throw SaveFailure.external(object.shape.slots[slot].name, of: object, target)
    }
}
