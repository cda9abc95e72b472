import Foundation
import StrataLog

/// An object without context that stands for one row after the other.
final class ScratchObject {
    let object: NSManagedObject
    private let shape: EntityShape

    init(_ shape: EntityShape) {
        self.shape = shape
        object = shape.objectClass.init(entity: shape.entity, insertInto: nil)
    }

    /// Gives the object its default values.
    func clear() {
        object.overlay?.free(shape)
        object.overlay = nil
        object.block = nil
        object.toMany = []
        object.flags = [.realized, .defaultsBelow]
    }

    /// Lets the object show a stored row.
    func show(_ row: Row) throws(StoreError) {
        clear()
        try row.block.verify()
        object.flags = []
        object.attach(row.block, row: row.index, location: row.location)
    }

    func set(_ value: Any?, slot: Int) {
        object.setBoxedValue(value, slot: slot)
    }

    /// The values that were set, by slot.
    func givenValues(_ handle: StoreHandle) throws -> [SlotValue?] {
        try (0..<shape.persistentSlotCount).map { slot in
            guard let overlay = object.overlay, overlay.isDirty(slot) else { return nil }
            let value = overlay.isNull(slot) ? nil : overlay.boxed(shape.slots[slot])
            return try SlotValue(value, shape.slots[slot], shape, handle)
        }
    }

    /// Bytes of the values that were set, roughly.
    var byteCount: Int {
        guard let overlay = object.overlay else { return 0 }
        var total = shape.persistentSlotCount * 8
        for slot in 0..<shape.persistentSlotCount where overlay.holdsValue(slot) {
            switch overlay.boxed(shape.slots[slot]) {
            case let text as String: total += text.utf8.count
            case let data as Data: total += data.count
            default: continue
            }
        }
        return total
    }

    /// Objects that a handler fills belong to no context, so that nothing could keep the other end of a relationship.
    ///
    /// - Throws: `CocoaError` 134070 when a relationship was set.
    func checkRelationships() throws {
        let isSet = shape.relationships.contains { relationship in
            if relationship.isToMany { return object.existingState(relationship)?.isChanged == true }
            return object.overlay?.holdsValue(relationship.slot) == true
        }
        guard isSet else { return }
        throw BatchSession.error(
            "A relationship of \(shape.name) was set in a batch insert's object: give dictionaries with IDs instead.")
    }

    /// Validates the object with these values.
    ///
    /// - Parameter isSet: whether a slot, which may be a relationship's, has a value.
    func validateForInsert(_ values: (String) -> Any?, isSet: (Int) -> Bool) throws {
        for (slot, info) in shape.slots.enumerated() where info.attribute != nil {
            if let value = values(info.name) { set(value is NSNull ? nil : value, slot: slot) }
        }
        do {
            try object.validateForInsert()
        } catch {
            try Self.rethrow(error, shape, isSet)
        }
    }

    func validateForUpdate(isSet: (Int) -> Bool) throws {
        do {
            try object.validateForUpdate()
        } catch {
            try Self.rethrow(error, shape, isSet)
        }
    }

    /// Throws the error without complaints about missing to-one relationships that the row does have: the object
    /// cannot hold them.
    private static func rethrow(_ error: any Error, _ shape: EntityShape, _ isSet: (Int) -> Bool) throws {
        let details = (error as? CocoaError)?.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
        let rest = details.filter { detail in
            guard let detail = detail as? CocoaError, detail.code == .validationMissingMandatoryProperty,
                let key = detail.validationKey, let slot = shape.relationship(key)?.slot, slot >= 0
            else { return true }
            return !isSet(slot)
        }
        if rest.count == details.count { throw error }
        if let error = ValidationErrors.combined(rest) { throw error }
    }
}
