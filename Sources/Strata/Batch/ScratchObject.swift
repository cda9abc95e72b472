import Foundation
import StrataLog
import StrataRuntime
import StrataSupport

/// An object without context that stands for one row after the other.
final class ScratchObject {
    let object: NSManagedObject
    private let shape: EntityShape
    /// To-one relationships that a row can hold without its inverse being told, and those it cannot.
    private let references: [RelationshipShape]
    private let others: [RelationshipShape]
    private var hasHeldNumbers = false

    init(_ shape: EntityShape) {
        self.shape = shape
        object = shape.objectClass.made(shape.entity, insertInto: nil)
        let toOne = shape.relationships.filter { !$0.isToMany }
        let isFree = { (relationship: RelationshipShape) in
            relationship.inverse.map { $0.isToMany && !$0.isOrdered } ?? true
        }
        references = toOne.filter(isFree)
        others = toOne.filter { !isFree($0) }
    }

    deinit {
        guard hasHeldNumbers else { return }
        NumbersOutOfRange.ofScratchObjects.withLock { $0.remove(object) }
    }

    /// Gives the object its default values. Setting others then is no change that anybody is told of.
    func clear() {
        if let overlay = object.overlay {
            overlay.clearValues(shape.summary) { present, _ in present }
        } else {
            object.overlay = Overlay.allocate(shape)
        }
        object.block = nil
        if !object.toMany.isEmpty { object.toMany = [] }
        object.flags = ObjectFlags.writable.union([.defaultsBelow, .scratch])
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
            let boxed = overlay.isNull(slot) ? nil : overlay.boxed(shape.codes[slot])
            let value = (boxed as? NSManagedObject)?.objectID ?? boxed
            return try SlotValue(value, shape.slots[slot], shape, handle)
        }
    }

    /// Bytes of the values that were set, roughly.
    var byteCount: Int {
        guard let overlay = object.overlay else { return 0 }
        var total = shape.persistentSlotCount * 8
        for group in 0..<shape.groupCount {
            let words = overlay.group(group * 64)
            var slots = words[0] & ~words[1] & shape.masks.referenceCounted[group]
            while slots != 0 {
                let code = shape.codes[group * 64 + slots.trailingZeroBitCount]
                slots &= slots - 1
                let address = overlay.base + Int(code.offset)
                switch code.kind {
                case .string: total += address.assumingMemoryBound(to: String.self).pointee.utf8.count
                case .data: total += address.assumingMemoryBound(to: Data.self).pointee.count
                default: continue
                }
            }
        }
        return total
    }

    /// A handler's object belongs to no context, so that nobody could tell the other end of a relationship of it. That
    /// does no harm where the other end is an unordered to-many, which the store finds by the references to it.
    ///
    /// - Throws: `CocoaError` 134070 when another relationship was set, or one to an object that is not saved or of
    ///   another context.
    func checkRelationships(_ registry: ObjectRegistry) throws {
        for relationship in references {
            guard let overlay = object.overlay, overlay.holdsValue(relationship.slot) else { continue }
            let address = overlay.base + Int(shape.codes[relationship.slot].offset)
            // SAFETY: an Unmanaged has the layout of the reference it stands for, which the overlay keeps alive.
            let isSaved = ReferenceLayout.reference(at: address, to: NSManagedObject.self)
                .withBorrowed { target in
                    target.registry === registry && target.storeIndex != 0 && !target.flags.contains(.gone)
                }
            if isSaved { continue }
            throw BatchSession.error(
                "\(shape.name).\(relationship.name) was set in a batch insert's object to one that is not saved, or not of "
                    + "the context that executes the request.")
        }
        let isOther =
            !object.toMany.isEmpty
            || others.contains { object.overlay?.holdsValue($0.slot) == true }
        guard isOther else { return }
        throw BatchSession.error(
            "A relationship of \(shape.name) was set in a batch insert's object that has to be kept at both ends: insert "
                + "the objects into a context instead.")
    }

    /// The slots of the to-one relationships that were set, with what they refer to.
    func forEachReference(_ body: (Int, ObjectRef) throws -> Void) rethrows {
        for relationship in references {
            guard let overlay = object.overlay, overlay.holdsValue(relationship.slot) else { continue }
            try body(relationship.slot, overlay.object(at: shape.slots[relationship.slot].offset).ref)
        }
    }

    /// - Throws: `CocoaError` 134070 when an integer attribute has no room for a number that it was set to by key.
    func checkRanges() throws {
        guard object.flags.contains(.numberOutOfRange) else { return }
        hasHeldNumbers = true
        for slot in 0..<shape.persistentSlotCount {
            guard let number = object.numberOutOfRange(slot) else { continue }
            throw BatchSession.outOfRange(number, shape.slots[slot], shape)
        }
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
