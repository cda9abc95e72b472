import Foundation
import StrataLog

/// A value on its way into a slot of a row, in the type that the slot keeps.
struct SlotValue {
    private let value: Any?
    /// Of a to-one relationship; null otherwise.
    private let ref: ObjectRef

    /// Nil and `NSNull` are null.
    ///
    /// - Throws: `CocoaError` 134070 when the property does not take the value.
    init(_ value: Any?, _ info: SlotInfo, _ shape: EntityShape, _ handle: StoreHandle) throws {
        // Nearly every value converts as it is; looking for an optional inside of it is slow.
        if let value, info.kind != .toOne, info.kind != .transformable, !(value is NSNull),
            let converted = ValueConversion.converted(value, info.kind)
        {
            self.value = converted
            ref = .null
            return
        }
        if let value, info.kind == .toOne, type(of: value) == NSManagedObjectID.self {
            ref = try Self.reference(value, info, shape, handle)
            self.value = nil
            return
        }
        guard let value = ValueConversion.flattened(value), !(value is NSNull) else {
            self.value = nil
            ref = .null
            return
        }
        if info.kind == .toOne {
            ref = try Self.reference(value, info, shape, handle)
            self.value = nil
            return
        }
        guard let converted = ValueConversion.converted(value, info.kind) else {
            throw BatchSession.error(
                "Unacceptable type of value for attribute \(shape.name).\(info.name): wants \(info.kind), was given "
                    + "a \(type(of: value)).")
        }
        self.value = converted
        ref = .null
    }

    var isNull: Bool { value == nil && ref.isNull }

    /// The value as key-value coding takes it; a reference is not.
    var boxed: Any? { value }

    private static func reference(
        _ value: Any, _ info: SlotInfo, _ shape: EntityShape, _ handle: StoreHandle
    ) throws -> ObjectRef {
        let relationship = shape.relationships[info.relationshipIndex]
        if let inverse = relationship.inverse, !inverse.isToMany {
            throw BatchSession.error(
                "\(shape.name).\(info.name) is a one-to-one relationship, which batch requests cannot set.")
        }
        guard let id = value as? NSManagedObjectID ?? (value as? NSManagedObject)?.objectID else {
            throw BatchSession.error("\(shape.name).\(info.name) takes an object or its ID, not a \(type(of: value)).")
        }
        guard id.identity === handle.identity, id.shape.isKind(of: relationship.destination) else {
            throw BatchSession.error(
                "\(shape.name).\(info.name) takes saved objects of \(relationship.destination.name) of the same store, "
                    + "not one of \(id.shape.name) or of another store.")
        }
        return id.ref
    }

    /// Bytes that the value takes, roughly.
    var byteCount: Int {
        guard let value else { return 8 }
        if type(of: value) == String.self { return (value as? String)?.utf8.count ?? 8 }
        if type(of: value) == Data.self { return (value as? Data)?.count ?? 8 }
        return 8
    }

    /// Sets the slot of the row that was begun. Null slots are left alone.
    func write(_ slot: Int, of info: SlotInfo, to writer: EntityWriter) throws {
        if let value {
            try writer.set(slot, converted: value, info)
        } else if !ref.isNull {
            writer.set(slot, ref)
        }
    }
}

extension EntityWriter {
    /// Copies all slots of a row that are not in `changed` into the row that was begun.
    func copyRow(_ row: Row, _ shape: EntityShape, except changed: SlotSet) throws(StoreError) {
        for slot in 0..<min(shape.persistentSlotCount, row.block.slotCount) where !changed.contains(slot) {
            try copy(slot, from: row, slot: slot)
        }
    }
}
