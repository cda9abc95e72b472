import Foundation
import StrataLog

/// Carries out an entity mapping row by row, without objects: where attributes are taken over as they are, by no policy of the
/// program's own.
struct RowMapping {
    /// Which slot of the source a slot of the destination is taken from.
    private struct Copy {
        var target: Int
        var source: Int
        var isMandatory: Bool
    }

    private let from: StoreHandle
    private let to: StoreHandle
    /// The entity's number in the destination, and its root's.
    private let number: UInt16
    private let root: UInt16
    private let copies: [Copy]
    /// What attributes without a mapping begin with.
    private let defaults: (slots: [Int], row: Row)?
    /// Whether a row with values for all that is copied satisfies everything that is asked of an object.
    private let canBeWhole: Bool

    /// - Returns: nil where objects have to be made: a policy, an expression, other types, derived and unique attributes, and
    ///   stores without rows.
    init?(
        _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy, from source: MigrationEnd, to end: MigrationEnd
    ) {
        guard type(of: policy) == NSEntityMigrationPolicy.self, mapping.mappingType != .removeEntityMappingType,
            let from = source.store?.handle, let to = end.store?.handle, from.custom == nil, to.custom == nil,
            let old = mapping.sourceEntityName.flatMap({ from.shapes.byName[$0] }),
            let new = mapping.destinationEntityName.flatMap({ to.shapes.byName[$0] }), !new.entity.isAbstract,
            from.map.holds(old), to.map.holds(new)
        else { return nil }
        number = to.map.numbers[new.index]
        root = to.map.root(new)
        let own = number
        guard !to.constraints.contains(where: { $0.unique.entities.contains(own) }) else { return nil }
        var copies: [Copy] = []
        for property in mapping.attributeMappings ?? [] {
            guard let expression = property.valueExpression else { continue }
            guard let name = property.name, let key = NSMigrationManager.sourceKey(expression),
                let copy = Self.copy(key, of: old, to: name, of: new)
            else { return nil }
            copies.append(copy)
        }
        guard Set(copies.map(\.target)).count == copies.count, let defaults = try? Self.defaults(new, besides: copies)
        else { return nil }
        self.defaults = defaults.row.map { (defaults.slots, $0) }
        let attributes = (0..<new.persistentSlotCount).filter { new.slots[$0].attribute != nil }
        guard !attributes.contains(where: { new.slots[$0].attribute is NSDerivedAttributeDescription }) else {
            return nil
        }
        let filled = Set(defaults.slots + copies.map(\.target))
        canBeWhole =
            new.validation.isPlain && new.entity.relationshipsByName.isEmpty
            && attributes.allSatisfy { filled.contains($0) || new.slots[$0].attribute?.isOptional != false }
        (self.from, self.to, self.copies) = (from, to, copies)
    }

    private static func copy(_ key: String, of old: EntityShape, to name: String, of new: EntityShape) -> Copy? {
        guard case .slot(let source)? = old.place(key), case .slot(let target)? = new.place(name),
            old.slots[source].isPersistent, new.slots[target].isPersistent,
            old.slots[source].relationshipIndex < 0, new.slots[target].relationshipIndex < 0,
            old.slots[source].kind == new.slots[target].kind,
            old.slots[source].attribute?.valueTransformerName == new.slots[target].attribute?.valueTransformerName,
            let attribute = new.entity.attributesByName[name]
        else { return nil }
        return Copy(target: target, source: source, isMandatory: !attribute.isOptional)
    }

    private static func defaults(_ shape: EntityShape, besides copies: [Copy]) throws -> (slots: [Int], row: Row?) {
        let copied = Set(copies.map(\.target))
        let slots = (0..<shape.persistentSlotCount).filter {
            !copied.contains($0) && shape.slots[$0].relationshipIndex < 0 && shape.slots[$0].defaultValue != nil
        }
        guard !slots.isEmpty else { return ([], nil) }
        let rows = MemoryRows(shape, entity: 0)
        rows.begin(key: 0)
        for slot in slots { try rows.set(slot, shape.slots[slot].defaultValue) }
        rows.end()
        return (slots, rows.finish().first)
    }

    /// Makes a row of each of these objects' rows, and saves them.
    ///
    /// - Parameters:
    ///   - reader: of the source's rows.
    ///   - associate: called with the pairs in order, when they are saved.
    /// - Returns: whether nothing is left that validation could find.
    /// - Throws: the source's error when it cannot be read, the destination's when it cannot be written.
    func run(
        _ refs: ArraySlice<ObjectRef>, _ reader: inout RowReader, _ associate: (AssociationTable.Pair) -> Void
    ) throws -> Bool {
        let transaction = to.log.makeTransaction()
        let writer = transaction.writer(for: number)
        let first = to.log.allocateKeys(root: root, count: refs.count)
        var isWhole = canBeWhole
        var pairs: [AssociationTable.Pair] = []
        pairs.reserveCapacity(refs.count)
        do throws(StoreError) {
            for ref in refs {
                guard let row = try reader.row(ref) else { continue }
                let key = first + UInt64(pairs.count)
                writer.beginInsert(key: key)
                if let defaults {
                    for slot in defaults.slots { try Self.set(slot, defaults.row, writer) }
                }
                for copy in copies where try !self.copy(copy, row, writer) && copy.isMandatory { isWhole = false }
                writer.endRow()
                pairs.append(.init(source: ref, destination: ObjectRef(entity: number, key: key)))
            }
        } catch {
            throw StoreFailure.cocoaError(error, reading: from)
        }
        do throws(StoreError) {
            _ = try to.log.commit(transaction)
        } catch {
            throw StoreFailure.cocoaError(error, saving: to)
        }
        for pair in pairs { associate(pair) }
        return isWhole
    }

    /// Sets a slot to what a row in memory has, of whatever length.
    private static func set(_ slot: Int, _ row: Row, _ writer: EntityWriter) throws(StoreError) {
        let column = try row.block.column(slot)
        if column.isNull(row.index) { return }
        if column.kind.fixedWidth == 0 {
            writer.set(slot, bytes: column.bytes(row.index))
        } else {
            try writer.copy(slot, from: row, slot: slot)
        }
    }

    /// - Returns: whether there is a value.
    private func copy(_ copy: Copy, _ row: Row, _ writer: EntityWriter) throws(StoreError) -> Bool {
        guard copy.source < row.block.slotCount else { return false }
        let column = try row.block.column(copy.source)
        if column.isNull(row.index) { return false }
        if column.kind.fixedWidth == 0, column.isExternal(row.index) {
            let bytes = try from.log.read(column.external(row.index))
            bytes.withUnsafeBytes { writer.set(copy.target, bytes: $0) }
        } else {
            try writer.copy(copy.target, from: row, slot: copy.source)
        }
        return true
    }
}
