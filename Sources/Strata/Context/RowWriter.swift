import Foundation
import StrataLog

/// Streams objects into a transaction's columns, slot by slot.
final class RowWriter {
    private let transaction: WriteTransaction
    private let handle: StoreHandle
    private let storeIndex: UInt16
    /// By shape index.
    @exclusivity(unchecked) private var writers: [EntityWriter?]

    init(_ transaction: WriteTransaction, _ handle: StoreHandle, _ storeIndex: UInt16) {
        self.transaction = transaction
        self.handle = handle
        self.storeIndex = storeIndex
        writers = [EntityWriter?](repeating: nil, count: handle.map.numbers.count)
    }

    private func writer(_ shape: EntityShape) -> EntityWriter {
        if let writer = writers[shape.index] { return writer }
        let writer = transaction.writer(for: handle.map.numbers[shape.index])
        writers[shape.index] = writer
        return writer
    }

    func insert(_ object: NSManagedObject) throws -> EntityWriter.RowTicket {
        let writer = writer(object.shape)
        let ref = object.storeIndex == 0 ? ObjectRef(rawValue: object.version.location.rawValue) : object.ref
        writer.beginInsert(key: ref.key)
        try writeSlots(object, writer)
        return writer.endRow()
    }

    func update(_ object: NSManagedObject) throws -> EntityWriter.RowTicket {
        let writer = writer(object.shape)
        var changed = SlotSet()
        if let overlay = object.overlay {
            for group in 0..<object.shape.groupCount {
                var dirty = overlay.group(group * 64)[2] & object.shape.persistentMask[group]
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
        let shape = object.shape
        let overlay = object.overlay
        let base = object.block.map { Row(block: $0, index: Int(object.row)) }
        for slot in 0..<shape.persistentSlotCount {
            if let overlay, overlay.isPresent(slot) {
                if !overlay.isNull(slot) { try write(overlay, shape.codes[slot], slot, object, writer) }
            } else if let base {
                try writer.copy(slot, from: base, slot: slot)
            } else if shape.codes[slot].hasDefault {
                try writeDefault(shape.slots[slot], slot, shape, writer)
            }
        }
    }

    private func write(
        _ overlay: Overlay, _ code: SlotCode, _ slot: Int, _ object: NSManagedObject, _ writer: EntityWriter
    ) throws {
        let place = overlay.base + Int(code.offset)
        // SAFETY: the slot is present and not null, so its place holds a value of its kind.
        switch code.kind {
        case .bool: writer.set(slot, place.assumingMemoryBound(to: Bool.self).pointee)
        case .int16: writer.set(slot, place.assumingMemoryBound(to: Int16.self).pointee)
        case .int32: writer.set(slot, place.assumingMemoryBound(to: Int32.self).pointee)
        case .int64: writer.set(slot, place.assumingMemoryBound(to: Int64.self).pointee)
        case .float: writer.set(slot, place.assumingMemoryBound(to: Float.self).pointee)
        case .double, .date: writer.set(slot, place.assumingMemoryBound(to: Double.self).pointee)
        case .uuid: writer.set(slot, uuid: place.assumingMemoryBound(to: UUID.self).pointee.words)
        case .string: writer.set(slot, place.assumingMemoryBound(to: String.self).pointee)
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
            try attribute.transformedData(from: value).withUnsafeBytes { writer.set(slot, bytes: $0) }
        case .toOne:
            let target = place.assumingMemoryBound(to: NSManagedObject.self).pointee
            writer.set(slot, try storedRef(target, of: object, slot))
        }
    }

    private func writeDefault(_ info: SlotInfo, _ slot: Int, _ shape: EntityShape, _ writer: EntityWriter) throws {
        guard let value = ValueConversion.convert(info.defaultValue, for: info, entity: shape) else { return }
        switch value {
        case let value as Bool where info.kind == .bool: writer.set(slot, value)
        case let value as Int16 where info.kind == .int16: writer.set(slot, value)
        case let value as Int32 where info.kind == .int32: writer.set(slot, value)
        case let value as Int64 where info.kind == .int64: writer.set(slot, value)
        case let value as Float where info.kind == .float: writer.set(slot, value)
        case let value as Double where info.kind == .double: writer.set(slot, value)
        case let value as Date where info.kind == .date: writer.set(slot, value.timeIntervalSinceReferenceDate)
        case let value as UUID where info.kind == .uuid: writer.set(slot, uuid: value.words)
        case let value as String where info.kind == .string: writer.set(slot, value)
        case let value as URL where info.kind == .uri: writer.set(slot, value.absoluteString)
        case let value as Decimal where info.kind == .decimal:
            DecimalCoding.encode(value).withUnsafeBytes { writer.set(slot, bytes: $0) }
        case let value as Data where info.kind == .data: value.withUnsafeBytes { writer.set(slot, bytes: $0) }
        default:
            guard info.kind == .transformable, let attribute = info.attribute else { return }
            try attribute.transformedData(from: value).withUnsafeBytes { writer.set(slot, bytes: $0) }
        }
    }

    /// What is stored for a reference to another object; null for one that is deleted and was never saved.
    func storedRef(_ target: NSManagedObject, of object: NSManagedObject, _ slot: Int) throws -> ObjectRef {
        if target.storeIndex == storeIndex { return target.ref }
        if target.storeIndex == 0 {
            if target.isInserted, target.registry === object.registry {
                let ref = ObjectRef(rawValue: target.version.location.rawValue)
                return ref
            }
            if target.isDeleted || target.flags.contains(.gone) { return .null }
            throw CocoaError(
                .managedObjectReferentialIntegrity,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(object.shape.name).\(object.shape.slots[slot].name) refers to an object that is in no context.",
                    NSAffectedObjectsErrorKey: [object, target],
                ])
        }
        throw CocoaError(
            .managedObjectExternalRelationship,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(object.shape.name).\(object.shape.slots[slot].name) refers to an object of another store.",
                NSAffectedObjectsErrorKey: [object, target],
            ])
    }
}
