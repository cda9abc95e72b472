import Foundation
import StrataLog
import StrataSupport

/// The values of one node of a custom store, in the form and order of a row's slots.
struct NodeValues {
    let shape: EntityShape
    /// By slot; nil for null. A to-one relationship is an ``ObjectRef``.
    private let values: [Any?]

    /// - Throws: what the store throws when it is asked for a to-one relationship that the node does not have.
    /// - Precondition: each value is of the type that its attribute takes.
    init(
        _ node: NSIncrementalStoreNode, _ objectID: NSManagedObjectID, _ store: NSIncrementalStore,
        _ handle: StoreHandle, _ context: NSManagedObjectContext
    ) throws {
        let shape = objectID.shape
        self.shape = shape
        values = try shape.slots.prefix(shape.persistentSlotCount).map { info in
            if info.relationshipIndex >= 0 {
                let relationship = shape.relationships[info.relationshipIndex]
                let value =
                    try node.value(for: relationship.description)
                    ?? store.newValue(
                        forRelationship: relationship.description, forObjectWith: objectID, with: context)
                let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID
                if let id {
                    guard id.identity === handle.identity else {
                        programmerError(
                            "\(shape.name).\(info.name)",
                            "a node's relationship leads to an object that is in another store",
                            "Give IDs of the node's own store")
                    }
                }
                return id?.ref
            }
            guard let attribute = info.attribute else { return nil }
            return ValueConversion.convert(node.value(for: attribute), for: info, entity: shape)
        }
    }

    /// Whether a row has the same values.
    func isSame(as row: Row, _ handle: StoreHandle) throws -> Bool {
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() where !info.isHidden {
            let column = try row.block.column(slot)
            guard let value = values[slot] else {
                if column.isNull(row.index) { continue }
                return false
            }
            if column.isNull(row.index) { return false }
            if let ref = value as? ObjectRef {
                if column.reference(row.index) != ref { return false }
                continue
            }
            let stored = ColumnBoxing.box(column, row.index, info.kind, info.attribute) { try? handle.log.read($0) }
            guard let a = Self.comparable(stored), let b = Self.comparable(value), a == b else { return false }
        }
        return true
    }

    private static func comparable(_ value: Any?) -> AnyHashable? {
        switch value {
        case let number as NSNumber: number
        case let decimal as Decimal: NSDecimalNumber(decimal: decimal)
        case let other?: ExactText.comparable(KeyValueAccess.boxed(other))
        case nil: nil
        }
    }

    func write(to writer: EntityWriter) throws {
        for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() {
            guard let value = values[slot] else { continue }
            try writer.set(slot, value, info)
        }
    }
}

extension EntityWriter {
    /// Sets a value that ``ValueConversion`` has converted, or the reference of a to-one relationship.
    fileprivate func set(_ slot: Int, _ value: Any, _ info: SlotInfo) throws {
        guard info.kind == .toOne else { return try set(slot, converted: value, info) }
        if let value = value as? ObjectRef { set(slot, value) }
    }
}
