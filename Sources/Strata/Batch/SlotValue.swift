import Foundation
import StrataLog

/// A value on its way into a slot of a row, as the slot keeps it.
///
/// What most attributes are (numbers, dates, strings) is held as it is: to put it into an `Any` and to cast it back
/// takes longer than to write it.
enum SlotValue {
    case null
    case bool(Bool)
    /// Cut to the slot's width.
    case integer(Int64)
    case float(Float)
    /// Of a double or, in seconds since the reference date, a date.
    case double(Double)
    case string(String)
    /// Of any other kind, in the slot's type.
    case boxed(Any)
    case reference(ObjectRef)

    /// Nil and `NSNull` are null.
    ///
    /// - Throws: `CocoaError` 134070 when the property does not take the value.
    init(_ value: Any?, _ info: SlotInfo, _ shape: EntityShape, _ handle: StoreHandle) throws {
        guard let value else {
            self = .null
            return
        }
        if let number = ValueConversion.misfit(value, info.kind) {
            throw BatchSession.outOfRange(number, info, shape)
        }
        if let exact = Self(exactly: value, info.kind) {
            self = exact
            return
        }
        guard let value = ValueConversion.flattened(value), !(value is NSNull) else {
            self = .null
            return
        }
        if info.kind == .toOne {
            self = .reference(try Self.reference(value, info, shape, handle))
            return
        }
        guard let converted = ValueConversion.converted(value, info.kind) else {
            throw BatchSession.error(
                "Unacceptable type of value for attribute \(shape.name).\(info.name): wants \(info.kind), was given "
                    + "a \(type(of: value)).")
        }
        self = Self(exactly: converted, info.kind) ?? .boxed(converted)
    }

    /// A value that is of just the type which the slot keeps; nil for others, and for types that are held in a box.
    private init?<Value>(exactly value: Value, _ kind: SlotKind) {
        switch kind {
        case .string where Value.self == String.self:
            self = .string(ExactValue.same(value, as: String.self))
        case .bool where Value.self == Bool.self:
            self = .bool(ExactValue.same(value, as: Bool.self))
        case .int16, .int32, .int64:
            if Value.self == Int.self {
                self = .integer(Int64(ExactValue.same(value, as: Int.self)))
            } else if Value.self == Int64.self {
                self = .integer(ExactValue.same(value, as: Int64.self))
            } else if Value.self == Int32.self {
                self = .integer(Int64(ExactValue.same(value, as: Int32.self)))
            } else if Value.self == Int16.self {
                self = .integer(Int64(ExactValue.same(value, as: Int16.self)))
            } else {
                return nil
            }
        case .double where Value.self == Double.self:
            self = .double(ExactValue.same(value, as: Double.self))
        case .float where Value.self == Float.self:
            self = .float(ExactValue.same(value, as: Float.self))
        case .date where Value.self == Date.self:
            self = .double(ExactValue.same(value, as: Date.self).timeIntervalSinceReferenceDate)
        default: return nil
        }
    }

    var isNull: Bool {
        switch self {
        case .null: true
        case .reference(let ref): ref.isNull
        default: false
        }
    }

    /// The value as key-value coding takes it; nil for null and for a reference.
    func boxed(_ kind: SlotKind) -> Any? {
        switch self {
        case .null, .reference: nil
        case .bool(let value): value
        case .integer(let value): value
        case .float(let value): value
        case .double(let value): kind == .date ? Date(timeIntervalSinceReferenceDate: value) : value
        case .string(let value): value
        case .boxed(let value): value
        }
    }

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
        let ref = id.identity === handle.identity ? handle.named(id.ref, in: handle.log.snapshot) : .null
        guard let target = handle.map.shape(ref.entity), target.isKind(of: relationship.destination) else {
            throw BatchSession.error(
                "\(shape.name).\(info.name) takes saved objects of \(relationship.destination.name) of the same store, "
                    + "not one of \(id.shape.name) or of another store.")
        }
        return ref
    }

    /// Bytes that the value takes, roughly.
    var byteCount: Int {
        switch self {
        case .string(let value): value.utf8.count
        case .boxed(let value): (value as? Data)?.count ?? 8
        default: 8
        }
    }

    /// Sets the slot of the row that was begun. Null slots are left alone.
    func write(_ slot: Int, of info: SlotInfo, to writer: EntityWriter) throws {
        switch self {
        case .null: return
        case .bool(let value): writer.set(slot, value)
        case .integer(let value):
            switch info.kind {
            case .int16: writer.set(slot, Int16(truncatingIfNeeded: value))
            case .int32: writer.set(slot, Int32(truncatingIfNeeded: value))
            default: writer.set(slot, value)
            }
        case .float(let value): writer.set(slot, value)
        case .double(let value): writer.set(slot, value)
        case .string(let value): writer.set(slot, value)
        case .boxed(let value): try writer.set(slot, converted: value, info)
        case .reference(let ref): if !ref.isNull { writer.set(slot, ref) }
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
