import Foundation
import StrataLog

/// Carries out an entity mapping row by row, without objects: where attributes are taken over as they are, and nobody
/// but the library has a say.
struct RowMapping {
    /// Which slot of the source a slot of the destination is taken from.
    private struct Copy {
        var target: Int
        var source: Int
        var isMandatory: Bool
    }

    private let from: StoreHandle
    private let to: StoreHandle
    private let context: NSManagedObjectContext
    /// What the source's objects have to be.
    private let old: EntityShape
    /// The entity's number in the destination, and its root's.
    private let number: UInt16
    private let root: UInt16
    private let copies: [Copy]
    /// What attributes without a mapping begin with.
    private let defaults: (slots: [Int], row: Row)?
    /// Whether a row with values for all that is copied satisfies everything that is asked of an object.
    private let canBeWhole: Bool

    /// A transaction ends when it has this much of large values, which lie in memory until then.
    private static let transactionMaximumBytes = 16 << 20

    /// - Returns: nil where objects have to be made: a manager or a policy of the program's own, an expression, other
    ///   types, derived and unique attributes, and stores without rows.
    init?(
        _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy, of manager: NSMigrationManager,
        from source: MigrationEnd, to end: MigrationEnd
    ) {
        // Whoever overrides a manager may want to hear of each pair.
        guard type(of: manager) == NSMigrationManager.self, type(of: policy) == NSEntityMigrationPolicy.self,
            mapping.mappingType != .removeEntityMappingType,
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
            guard let name = property.name, let expression = property.valueExpression else { continue }
            guard let key = NSMigrationManager.sourceKey(expression),
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
            new.validation.isPlain && new.entity.relationshipsByName.isEmpty && !new.hasComposites
            && attributes.allSatisfy { filled.contains($0) || !Self.isMandatory($0, of: new) }
        (self.from, self.to, self.copies, self.old, context) = (from, to, copies, old, end.context)
    }

    /// A subentity may ask more of an attribute that it inherits.
    private static func isMandatory(_ slot: Int, of shape: EntityShape) -> Bool {
        let info = shape.slots[slot]
        return info.attribute?.isOptional == false || shape.entity.attributesByName[info.name]?.isOptional == false
    }

    private static func copy(_ key: String, of old: EntityShape, to name: String, of new: EntityShape) -> Copy? {
        guard case .slot(let source)? = old.property(key), case .slot(let target)? = new.property(name),
            old.slots[source].isPersistent, new.slots[target].isPersistent,
            let before = old.slots[source].attribute, let after = new.slots[target].attribute,
            old.slots[source].kind == new.slots[target].kind, before.valueTransformerName == after.valueTransformerName
        else { return nil }
        return Copy(target: target, source: source, isMandatory: isMandatory(target, of: new))
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

    /// Whether these are objects of the mapping's entity, or of one that inherits from it: a source expression may find
    /// others, whose values lie elsewhere.
    func fits(_ refs: [ObjectRef]) -> Bool {
        var known: UInt16 = 0
        return refs.allSatisfy { ref in
            if ref.entity == known { return true }
            guard from.map.shape(ref.entity)?.isKind(of: old) == true else { return false }
            known = ref.entity
            return true
        }
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
        var isWhole = canBeWhole
        var left = refs
        var key = try to.allocateKeys(root: root, count: refs.count)
        while !left.isEmpty {
            let transaction = to.log.makeTransaction()
            transaction.author = context.transactionAuthor
            transaction.contextName = context.name
            var pairs: [AssociationTable.Pair] = []
            do throws(StoreError) {
                if try !fill(transaction, &left, &key, &reader, &pairs) { isWhole = false }
            } catch {
                throw StoreFailure.cocoaError(error, reading: from)
            }
            do throws(StoreError) {
                _ = try to.log.commit(transaction)
            } catch {
                throw StoreFailure.cocoaError(error, saving: to)
            }
            for pair in pairs { associate(pair) }
        }
        return isWhole
    }

    /// - Returns: whether all values that are mandatory are there.
    private func fill(
        _ transaction: WriteTransaction, _ left: inout ArraySlice<ObjectRef>, _ key: inout UInt64,
        _ reader: inout RowReader, _ pairs: inout [AssociationTable.Pair]
    ) throws(StoreError) -> Bool {
        let writer = transaction.writer(for: number)
        var isWhole = true
        var largeBytes = 0
        pairs.reserveCapacity(left.count)
        while largeBytes < Self.transactionMaximumBytes, let ref = left.popFirst() {
            guard let row = try reader.row(ref) else { continue }
            writer.beginInsert(key: key)
            if let defaults {
                for slot in defaults.slots { try Self.set(slot, defaults.row, writer) }
            }
            for copy in copies where try !self.copy(copy, row, writer, &largeBytes) && copy.isMandatory {
                isWhole = false
            }
            writer.endRow()
            pairs.append(.init(source: ref, destination: ObjectRef(entity: number, key: key)))
            key += 1
        }
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
    private func copy(
        _ copy: Copy, _ row: Row, _ writer: EntityWriter, _ largeBytes: inout Int
    ) throws(StoreError) -> Bool {
        guard copy.source < row.block.slotCount else { return false }
        let column = try row.block.column(copy.source)
        if column.isNull(row.index) { return false }
        if column.kind.fixedWidth == 0, column.isExternal(row.index) {
            let bytes = try from.log.read(column.external(row.index))
            bytes.withUnsafeBytes { writer.set(copy.target, bytes: $0) }
            largeBytes += bytes.count
        } else {
            try writer.copy(copy.target, from: row, slot: copy.source)
        }
        return true
    }
}
