import Foundation
import StrataLog

/// Runs a batch insert: from dictionaries or a reused object into the columns of a transaction.
final class BatchInsertExecutor {
    private let context: NSManagedObjectContext
    private let request: NSBatchInsertRequest
    private let shape: EntityShape
    private let handle: StoreHandle
    private let session: BatchSession
    private let entity: UInt16
    /// Default values by slot.
    private let defaults: [SlotValue?]
    private var outcome = BatchOutcome()
    /// Keys that have been reserved and not used yet.
    private var keys: Range<UInt64> = 0..<0
    private var reservation = 16
    /// Bytes of the values in the transaction that is being filled.
    private var bytes = 0

    init(_ context: NSManagedObjectContext, _ request: NSBatchInsertRequest) throws {
        self.context = context
        self.request = request
        shape = try BatchSession.shape(named: request.entityName, in: context)
        guard !shape.isAbstract else {
            throw BatchSession.error("The entity \(shape.name) is abstract and has no objects of its own.")
        }
        let handles = BatchSession.handles(request, [shape], in: context)
        guard let handle = handles.first(where: { !$0.isReadOnly }) ?? handles.first else {
            throw BatchSession.error("No persistent store holds objects of the entity \(shape.name).")
        }
        self.handle = handle
        session = try BatchSession(context, handle)
        entity = handle.map.numbers[shape.index]
        let shape = shape
        defaults = try shape.slots.prefix(shape.persistentSlotCount).map { info in
            try info.defaultValue.map { try SlotValue($0, info, shape, handle) }
        }
        request.resolvedEntity = shape.entity
    }

    func execute() throws -> NSBatchInsertResult {
        defer { session.finish() }
        if let handler = request.managedObjectHandler {
            try insertObjects(handler)
        } else if let handler = request.dictionaryHandler {
            let dictionary = NSMutableDictionary()
            try insertRows {
                dictionary.removeAllObjects()
                return handler(dictionary) ? nil : { dictionary[$0] }
            }
        } else {
            var rest = (request.objectsToInsert ?? [])[...]
            reservation = max(16, rest.count)
            try insertRows {
                guard let values = rest.popFirst() else { return nil }
                return { values[$0] }
            }
        }
        return NSBatchInsertResult(outcome, request.resultType)
    }

    private func nextRef() -> ObjectRef {
        if keys.isEmpty {
            let first = handle.log.allocateKeys(root: handle.map.numbers[shape.rootIndex], count: reservation)
            keys = first..<first + UInt64(reservation)
            reservation = min(reservation * 2, 4_096)
        }
        return ObjectRef(entity: entity, key: keys.removeFirst())
    }

    private func note(_ ref: ObjectRef) {
        outcome.count += 1
        if request.resultType == .objectIDs {
            outcome.objectIDs.append(NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape))
        }
    }

    /// Fills transactions until `fill` says that there are no more rows, and commits them.
    private func insert(_ fill: (WriteTransaction, _ isFull: () -> Bool) throws -> Bool) throws {
        var isDone = false
        while !isDone {
            let transaction = session.makeTransaction()
            bytes = 0
            let first = outcome.count
            isDone = try fill(transaction) {
                self.outcome.count - first >= max(1, request.maximumObjectsPerTransaction)
                    || self.bytes >= BatchLimits.maximumBytes
            }
            do {
                try session.commit(transaction)
            } catch {
                throw StoreFailure.cocoaError(error, saving: handle)
            }
        }
    }

    // MARK: Dictionaries

    private func insertRows(_ next: () -> ((String) -> Any?)?) throws {
        let scratch = request.appliesValidation ? ScratchObject(shape) : nil
        try insert { transaction, isFull in
            let writer = transaction.writer(for: entity)
            while !isFull() {
                guard let values = next() else { return true }
                try insertRow(values, writer, scratch)
            }
            return false
        }
    }

    private func insertRow(_ values: (String) -> Any?, _ writer: EntityWriter, _ scratch: ScratchObject?) throws {
        var row: [SlotValue?] = []
        row.reserveCapacity(shape.persistentSlotCount)
        for slot in 0..<shape.persistentSlotCount {
            let info = shape.slots[slot]
            if !info.isHidden, let value = values(info.name) {
                row.append(try SlotValue(value, info, shape, handle))
            } else {
                row.append(defaults[slot])
            }
        }
        if let scratch {
            scratch.clear()
            try scratch.validateForInsert(values) { row[$0]?.isNull == false }
        }
        let ref = nextRef()
        writer.beginInsert(key: ref.key)
        for (slot, value) in row.enumerated() {
            guard let value else { continue }
            bytes += value.byteCount
            try value.write(slot, to: writer)
        }
        writer.endRow()
        note(ref)
    }

    // MARK: Objects

    private func insertObjects(_ handler: (NSManagedObject) -> Bool) throws {
        let scratch = ScratchObject(shape)
        try insert { transaction, isFull in
            let writer = RowWriter(transaction, handle, 0)
            while !isFull() {
                scratch.clear()
                if handler(scratch.object) { return true }
                try scratch.checkRelationships()
                if request.appliesValidation { try scratch.object.validateForInsert() }
                let ref = nextRef()
                // An object that has not been saved keeps its key where a saved one has its row's place.
                scratch.object.version.location = Location(rawValue: ref.rawValue)
                _ = try writer.insert(scratch.object)
                bytes += scratch.byteCount
                note(ref)
            }
            return false
        }
    }
}
