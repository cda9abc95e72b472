import Foundation
import StrataLog

/// How much of a batch request goes into one transaction.
enum BatchLimits {
    static let maximumObjects = 1 << 20
    /// Bytes of values, as they are before they are packed.
    static let maximumBytes = 256 << 20
    /// How often a part is tried again when other contexts changed its rows at the same time, as busy ones may do again
    /// and again.
    static let maximumConflictRounds = 1_000
}

/// What the batch requests share: one store, and the transactions that a request commits to it.
final class BatchSession {
    let context: NSManagedObjectContext
    let handle: StoreHandle
    /// What may stop the request.
    let control: RequestControl?
    private var last: CommitReceipt?
    /// The newest transaction of which it is known that all since the rows were looked up are the request's own.
    private var known: UInt64

    /// - Parameter rows: what the request works on, if it looked that up.
    init(
        _ context: NSManagedObjectContext, _ handle: StoreHandle, _ rows: BatchRows? = nil, _ control: RequestControl?
    ) throws {
        self.control = control
        if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
        self.context = context
        self.handle = handle
        known = rows?.sequence ?? 0
    }

    /// Whether others have committed something since the rows were looked up.
    func isBehind(_ snapshot: Snapshot) -> Bool { snapshot.sequence != known }

    func makeTransaction() -> WriteTransaction {
        let transaction = handle.log.makeTransaction()
        // The top of a line of contexts writes, for its descendants, too.
        let writer = context.top
        transaction.author = writer.transactionAuthor
        transaction.contextName = writer.name
        return transaction
    }

    /// - Throws: also why the request stopped, if that was before the commit's turn.
    func commit(_ transaction: WriteTransaction) throws {
        if transaction.isEmpty { return }
        let receipt = try handle.commit(transaction, control)
        if receipt.sequence == known + 1 { known = receipt.sequence }
        last = receipt
    }

    /// Builds and commits one part; builds it anew when rows have been changed meanwhile.
    func commitPart(_ build: (WriteTransaction, Snapshot) throws -> Void) throws {
        var rounds = 0
        while true {
            do {
                let transaction = makeTransaction()
                try build(transaction, handle.log.snapshot)
                try commit(transaction)
                return
            } catch let error as StoreError {
                rounds += 1
                if !error.uniqueConflicts.isEmpty { throw constraintError(error) }
                guard error.code == .conflict, rounds <= BatchLimits.maximumConflictRounds else {
                    throw StoreFailure.cocoaError(error, saving: handle)
                }
            }
        }
    }

    /// Error 133021 for rows whose values other rows have.
    func constraintError(_ error: StoreError) -> any Error {
        let conflicts = error.uniqueConflicts.map { conflict in
            let constraint = handle.constraints[conflict.constraint]
            let shape = handle.map.shape(conflict.holder.entity) ?? constraint.shape
            let holder =
                conflict.isHolderStored
                ? context.object(with: NSManagedObjectID(ref: conflict.holder, identity: handle.identity, shape: shape))
                : nil
            return NSConstraintConflict(
                constraint: constraint.names, database: holder,
                databaseSnapshot: holder.map { Self.values($0, constraint.names) }, conflicting: [],
                conflictingSnapshots: [])
        }
        return ConflictErrors.constraint(conflicts)
    }

    private static func values(_ object: NSManagedObject, _ names: [String]) -> [AnyHashable: Any] {
        Dictionary(names.map { ($0, object.value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Tells those who follow the store. Called also when a later part has failed.
    func finish() {
        guard let last else { return }
        context.coordinator?.storeDidGrow(handle, to: last.sequence)
    }

    /// The stores that a request works on and that hold some of the entities.
    ///
    /// - Throws: `CocoaError` 134070 when the request names a foreign store, no store holds the entities, or those that
    ///   do are binary, XML and custom ones.
    static func handles(
        _ request: NSPersistentStoreRequest, _ family: [EntityShape], in context: NSManagedObjectContext
    ) throws -> [StoreHandle] {
        guard let coordinator = context.coordinator else { return [] }
        let handles = try coordinator.handles(of: family, named: request.affectedStores)
        let able = handles.filter { $0.custom == nil }
        if able.isEmpty, !handles.isEmpty {
            throw error(
                "Batch requests work on log and in-memory stores, not on binary, XML and custom ones, in which"
                    + " \(family.first?.name ?? "the entity") is.")
        }
        return able
    }

    static func shape(named name: String, in context: NSManagedObjectContext) throws -> EntityShape {
        guard let shapes = context.modelShapes else {
            throw error("The context has no persistent store coordinator.")
        }
        guard let shape = shapes.shape(named: name) else { throw error("The model has no entity named \(name).") }
        return shape
    }

    static func outOfRange(_ number: NSNumber, _ attribute: SlotInfo, _ shape: EntityShape) -> any Error {
        error("\(number) is out of the range of the attribute \(shape.name).\(attribute.name).")
    }

    static func error(_ text: String) -> any Error {
        DescribedError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
