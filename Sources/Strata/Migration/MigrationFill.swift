import Foundation
import StrataLog

/// What rows of an older model get where they have no value for an attribute of a newer one.
struct MigrationFill {
    private let shape: EntityShape
    private let slot: Int

    init(_ shape: EntityShape, _ slot: Int) {
        self.shape = shape
        self.slot = slot
    }

    /// The stored form of the default value; nil if null stays null.
    ///
    /// - Parameters:
    ///   - source: the slot that the rows have, nil for a new one.
    ///   - attribute: what it was of.
    ///   - entity: the entity's number in the log.
    /// - Throws: `CocoaError` 134110 when the attribute is not optional, there is no default value, and some row needs
    ///   one.
    func bytes(
        replacing source: Int?, of attribute: NSAttributeDescription?, in log: LogStore, entity: UInt16
    ) throws -> [UInt8]? {
        guard let new = shape.slots[slot].attribute else { return nil }
        let isMandatory = !new.isOptional && !new.isTransient && !(new is NSDerivedAttributeDescription)
        if source != nil, attribute?.isOptional == false || !isMandatory { return nil }
        if let value = shape.slots[slot].defaultValue { return try encoded(value) }
        guard isMandatory, try hasNull(log, entity, source) else { return nil }
        let reason = "Validation error missing attribute values on mandatory destination attribute"
        throw DescribedError(
            .migration,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The store cannot be migrated: \(shape.name).\(shape.slots[slot].name) is not optional, has no default "
                    + "value, and there are objects without a value for it.",
                "reason": reason, "entity": shape.name, "attribute": shape.slots[slot].name,
            ])
    }

    private func encoded(_ value: Any) throws -> [UInt8]? {
        let rows = MemoryRows(shape, entity: 0)
        rows.begin(key: 0)
        try rows.set(slot, value)
        rows.end()
        guard let row = rows.finish().first else { return nil }
        let column = try row.block.column(slot)
        if column.isNull(row.index) { return nil }
        let width = column.kind.fixedWidth
        if width == 0 { return Array(column.bytes(row.index)) }
        return Array(UnsafeRawBufferPointer(start: column.values + row.index * width, count: width))
    }

    /// Whether some row has no value.
    ///
    /// - Complexity: O(1) for a slot that rows do not have, else O(n) in the rows.
    private func hasNull(_ log: LogStore, _ entity: UInt16, _ source: Int?) throws -> Bool {
        let snapshot = log.snapshot
        guard snapshot.count(entity: entity) > 0 else { return false }
        guard let source, let root = log.schema.entity(entity)?.rootID else { return true }
        var isFound = false
        try snapshot.forEachRun(root: root) { run throws(StoreError) in
            let block = try log.block(at: run.location)
            guard block.entity == entity, block.nullCount(source) != 0 else { return true }
            let column = try block.column(source)
            for row in run.location.row..<run.location.row + run.count where column.isNull(row) { isFound = true }
            return !isFound
        }
        return isFound
    }
}
