import Foundation
import StrataLog

/// Runs a batch insert: from dictionaries or a reused object into the columns of a transaction.
final class BatchInsertExecutor {
    private let context: NSManagedObjectContext
    private let request: NSBatchInsertRequest
    private let shape: EntityShape
    private let handle: StoreHandle
    private let session: BatchSession
    private var pace: ControlPace
    private let entity: UInt16
    /// Default values by slot.
    private let defaults: [SlotValue?]
    /// The slots of attributes that must have a value.
    private let mandatory: [Int]
    private let derivations: BatchDerivations?
    /// What was inserted or updated since the derived attributes were last computed; empty without any.
    private var written: [ObjectRef] = []
    private var outcome = BatchOutcome()
    /// Keys that have been reserved and not used yet.
    private var keys: Range<UInt64> = 0..<0
    private var reservation = 16
    /// Bytes of the values in the transaction that is being filled.
    private var bytes = 0

    init(_ context: NSManagedObjectContext, _ request: NSBatchInsertRequest, _ control: RequestControl?) throws {
        pace = ControlPace(control, every: 64)
        self.context = context
        self.request = request
        shape = try BatchSession.shape(named: request.entityName, in: context)
        guard !shape.isAbstract else {
            throw BatchSession.error("The entity \(shape.name) is abstract and has no objects of its own.")
        }
        let handles = try BatchSession.handles(request, [shape], in: context)
        guard let handle = handles.first(where: { !$0.isReadOnly }) ?? handles.first else {
            throw BatchSession.error("No persistent store holds objects of the entity \(shape.name).")
        }
        self.handle = handle
        session = try BatchSession(context, handle, nil, control)
        entity = handle.map.numbers[shape.index]
        derivations = BatchDerivations(context, handle, shape.family)
        let shape = shape
        defaults = try shape.slots.prefix(shape.persistentSlotCount).map { info in
            try info.defaultValue.map { try SlotValue($0, info, shape, handle) }
        }
        mandatory = (0..<shape.persistentSlotCount).filter { slot in
            guard let attribute = shape.slots[slot].attribute, !(attribute is NSDerivedAttributeDescription) else {
                return false
            }
            // A subentity may ask more of a value that it inherits.
            return !(shape.entity.attributesByName[attribute.name] ?? attribute).isOptional
        }
        request.resolvedEntity = shape.entity
    }

    func execute() throws -> NSBatchInsertResult {
        defer { session.finish() }
        if let handler = request.managedObjectHandler {
            try insertObjects(handler)
        } else if let handler = request.dictionaryHandler {
            let dictionary = BatchDictionary(shape)
            try insertRows {
                dictionary.clear()
                if handler(dictionary) { return nil }
                return GivenValues(
                    count: dictionary.count, names: { dictionary.allKeys.map { "\($0)" } },
                    named: { dictionary.object(forKey: $0) }, inSlot: { dictionary.value(inSlot: $0) })
            }
        } else {
            var rest = (request.objectsToInsert ?? [])[...]
            reservation = max(16, rest.count)
            try insertRows {
                guard let values = rest.popFirst() else { return nil }
                return GivenValues(
                    count: values.count, names: { Array(values.keys) }, named: { values[$0] },
                    inSlot: { [shape] in values[shape.slots[$0].name] })
            }
        }
        return NSBatchInsertResult(outcome, request.resultType)
    }

    private func nextRef() throws -> ObjectRef {
        if keys.isEmpty {
            let first = try handle.allocateKeys(root: handle.map.root(shape), count: reservation)
            keys = first..<first + UInt64(reservation)
            reservation = min(reservation * 2, 4_096)
        }
        return ObjectRef(entity: entity, key: keys.removeFirst())
    }

    private func record(_ ref: ObjectRef) {
        outcome.count += 1
        if derivations != nil { written.append(ref) }
        guard request.resultType == .objectIDs, let shape = handle.map.shape(ref.entity) else { return }
        outcome.objectIDs.append(NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape))
    }

    /// Whether a transaction of this many objects is as large as one may be.
    private func isFull(_ count: Int) -> Bool {
        count >= max(1, request.maximumObjectsPerTransaction) || bytes >= BatchLimits.maximumBytes
    }

    /// Fills and commits transactions until `next` has no more objects.
    ///
    /// - Parameter next: writes one object with the writer, and returns false when there are no more.
    private func insert(_ next: (WriteTransaction, inout BatchReferences) throws -> Bool) throws {
        var isDone = false
        while !isDone {
            let transaction = session.makeTransaction()
            var references = BatchReferences(handle, transaction, handle.log.snapshot)
            bytes = 0
            var count = 0
            while !isDone, !isFull(count) {
                try pace.step()
                isDone = try !next(transaction, &references)
                if !isDone { count += 1 }
            }
            do {
                try session.commit(transaction)
            } catch let error as StoreError {
                throw references.failure(error) ?? StoreFailure.cocoaError(error, saving: handle)
            }
            try derive()
        }
    }

    private func derive() throws {
        try context.unstoppable { try derivations?.update(written) }
        written = []
    }

    /// As above, with the values at hand until they are committed, since some must be unique.
    private func insertUnique(_ next: () throws -> [SlotValue?]?) throws {
        var isDone = false
        while !isDone {
            let part = BatchInsertPart(session, shape, defaults)
            bytes = 0
            var count = 0
            while !isDone, !isFull(count) {
                try pace.step()
                guard let values = try next() else {
                    isDone = true
                    break
                }
                part.append(try nextRef(), values)
                bytes += values.count * MemoryLayout<SlotValue?>.stride
                bytes += values.reduce(0) { $0 + ($1?.byteCount ?? 0) }
                count += 1
            }
            for ref in try part.commit() { record(ref) }
            try derive()
        }
    }

    // MARK: Dictionaries

    /// What the program gives for one object.
    private struct GivenValues {
        let count: Int
        let names: () -> [String]
        let named: (String) -> Any?
        /// Nil for what was not given.
        let inSlot: (Int) -> Any?
    }

    private func insertRows(_ next: () -> GivenValues?) throws {
        let scratch = request.appliesValidation ? ScratchObject(shape) : nil
        if BatchInsertPart.isNeeded(shape, handle) {
            return try insertUnique { try next().map { try given($0, scratch) } }
        }
        try insert { transaction, references in
            guard let values = next() else { return false }
            let row = try given(values, scratch)
            let ref = try nextRef()
            let writer = transaction.writer(for: entity)
            writer.beginInsert(key: ref.key)
            for (slot, value) in row.enumerated() {
                guard let value = value ?? defaults[slot] else { continue }
                bytes += value.byteCount
                try references.add(value, slot, of: shape)
                try value.write(slot, of: shape.slots[slot], to: writer)
            }
            writer.endRow()
            record(ref)
            return true
        }
    }

    /// The values given for an object, by slot.
    ///
    /// - Throws: `CocoaError` 134070 for a key that names no property which can be inserted; 1570 when a mandatory
    ///   attribute has no value; for validation, what that throws.
    private func given(_ given: GivenValues, _ scratch: ScratchObject?) throws -> [SlotValue?] {
        let named = shape.hasComposites ? try BatchComposites.flattened(given.named, shape) : given.named
        var row: [SlotValue?] = []
        row.reserveCapacity(shape.persistentSlotCount)
        var known = 0
        for slot in 0..<shape.persistentSlotCount {
            let info = shape.slots[slot]
            let value = info.isHidden ? nil : shape.hasComposites ? named(info.name) : given.inSlot(slot)
            guard let value else {
                row.append(nil)
                continue
            }
            known += 1
            row.append(try SlotValue(value, info, shape, handle))
        }
        if known != given.count || shape.hasComposites { try checkNames(given.names()) }
        for slot in mandatory where row[slot].map(\.isNull) ?? (defaults[slot] == nil) { throw missing(slot) }
        if let scratch {
            scratch.clear()
            try scratch.validateForInsert(named) { row[$0]?.isNull == false }
        }
        return row
    }

    /// - Throws: `CocoaError` 134070 when one of the names is that of no attribute or to-one relationship.
    private func checkNames(_ names: [String]) throws {
        for name in names {
            switch shape.property(name) {
            case .slot(let slot) where !shape.slots[slot].isHidden: continue
            case .composite: continue
            case .toMany:
                throw BatchSession.error(
                    "The to-many relationship \(shape.name).\(name) cannot be set by a batch insert.")
            default: throw BatchSession.error("The entity \(shape.name) has no property named \(name).")
            }
        }
    }

    private func missing(_ slot: Int) -> any Error {
        let name = shape.slots[slot].name
        return DescribedError(
            .validationMissingMandatoryProperty,
            userInfo: [
                NSLocalizedDescriptionKey: "A batch insert gives no value for the mandatory \(shape.name).\(name).",
                NSValidationKeyErrorKey: name,
            ])
    }

    // MARK: Objects

    private func insertObjects(_ handler: (NSManagedObject) -> Bool) throws {
        let scratch = ScratchObject(shape)
        /// Whether there was another object.
        func fill() throws -> Bool {
            scratch.clear()
            if handler(scratch.object) { return false }
            try scratch.checkRelationships(context.registry)
            try scratch.checkRanges()
            if request.appliesValidation { try scratch.object.validateForInsert() }
            if !scratch.object.lacksNothing {
                for slot in mandatory where scratch.object.boxedValue(slot) == nil { throw missing(slot) }
            }
            return true
        }
        if BatchInsertPart.isNeeded(shape, handle) {
            return try insertUnique { try fill() ? try scratch.givenValues(handle) : nil }
        }
        let storeIndex = context.registry.storeIndex(of: handle)
        var rows: (writer: RowWriter, transaction: WriteTransaction)?
        try insert { transaction, references in
            guard try fill() else { return false }
            try scratch.forEachReference { try references.add($1, $0, of: shape) }
            if rows?.transaction !== transaction { rows = (RowWriter(transaction, handle, storeIndex), transaction) }
            let ref = try nextRef()
            // The row is written under the key that is reserved for its object.
            scratch.object.reservedRef = ref
            _ = try rows?.writer.insert(scratch.object)
            bytes += scratch.byteCount
            record(ref)
            return true
        }
    }
}
