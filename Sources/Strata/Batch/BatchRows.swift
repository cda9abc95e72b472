import Foundation
import StrataLog

/// The stored rows that a batch update or delete works on.
///
/// Memory: 8 bytes a row, some more while an order or a window is being looked up.
struct BatchRows {
    let refs: [ObjectRef]
    /// The newest transaction that the rows were looked up in.
    let sequence: UInt64

    /// The predicate as the rows were looked up by; nil where all were.
    private let predicate: NSPredicate?
    /// Where the objects come from that some predicates need.
    private let objects: NSManagedObjectContext?
    private let isBounded: Bool

    /// How often a look-up is repeated when the store changes under it. After that rows are checked one by one.
    private static let maximumRounds = 4

    init(
        _ request: NSFetchRequest<any NSFetchRequestResult>, _ handle: StoreHandle, in context: NSManagedObjectContext,
        _ control: RequestControl?
    ) throws {
        guard let name = request.entityName ?? request.entity?.name else {
            throw BatchSession.error("The fetch request of a batch request has no entity.")
        }
        let shape = try BatchSession.shape(named: name, in: context)
        try FetchProblem.checkWindow(
            limit: request.fetchLimit, offset: request.fetchOffset, batchSize: request.fetchBatchSize)
        if request.predicate == nil, request.fetchLimit == 0, request.fetchOffset == 0 {
            predicate = nil
            objects = nil
            isBounded = false
            let snapshot = handle.log.snapshot
            sequence = snapshot.sequence
            let family = request.includesSubentities ? shape.family : [shape]
            refs = try Self.all(family, shape.root, handle, snapshot, control)
            return
        }
        // The identity may lead to a store of another coordinator that has the same log open.
        guard let store = context.coordinator?.persistentStores.first(where: { $0.handle === handle }),
            let fetch = request.copy() as? NSFetchRequest<any NSFetchRequestResult>
        else { throw BatchSession.error("The store has been removed.") }
        fetch.resultType = .managedObjectIDResultType
        fetch.includesPendingChanges = false
        fetch.propertiesToFetch = nil
        fetch.affectedStores = [store]
        // What counts is stored now, whatever the context's parent has or the context is pinned to.
        let finder = context.link == nil && context.generation == nil ? context : Self.finder(context.coordinator)
        var rounds = 0
        while true {
            let before = handle.log.snapshot.sequence
            // A plan may have read the store already.
            let plan = try finder.plan(of: fetch)
            // What the predicate asks of others may fail: without it, not these rows would be meant.
            let found = try context.throwingReadFailures {
                try FetchExecutor(finder, plan, turn: finder.turn(control, plan)).storedRefs()
            }
            rounds += 1
            if handle.log.snapshot.sequence == before || rounds == Self.maximumRounds {
                predicate = plan.predicate
                isBounded = plan.isBounded
                objects = plan.needsObjects ? finder : nil
                refs = found
                sequence = before
                return
            }
        }
    }

    /// The rows that IDs name, as far as they are of the store.
    init(_ ids: [NSManagedObjectID], _ handle: StoreHandle) {
        sequence = handle.log.snapshot.sequence
        predicate = nil
        objects = nil
        isBounded = false
        var found: [ObjectRef] = []
        found.reserveCapacity(ids.count)
        for id in ids where id.identity === handle.identity { found.append(id.ref) }
        if zip(found, found.dropFirst()).allSatisfy({ $0.key < $1.key }) {
            refs = found
            return
        }
        // Keys name a row whatever the entity: all are of one root.
        found.sort { $0.key < $1.key }
        var last: UInt64?
        refs = found.filter { ref in
            defer { last = ref.key }
            return ref.key != last
        }
    }

    /// A context that sees the stores as they are; it does not leave this thread.
    private static func finder(_ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.leaveUnchecked()
        context.coordinator = coordinator
        return context
    }

    private static func all(
        _ family: [EntityShape], _ root: EntityShape, _ handle: StoreHandle, _ snapshot: Snapshot,
        _ control: RequestControl?
    ) throws -> [ObjectRef] {
        let rootNumber = handle.map.root(root)
        guard rootNumber != 0 else { return [] }
        let wanted = Set(family.map { handle.map.numbers[$0.index] })
        var refs: [ObjectRef] = []
        refs.reserveCapacity(wanted.reduce(0) { $0 + snapshot.count(entity: $1) })
        do {
            try snapshot.forEachRun(root: rootNumber) { run throws(StoreError) in
                try control?.checkRead()
                // Without subentities the rows need not be looked at.
                let entity =
                    root.subshapes.isEmpty
                    ? handle.map.numbers[root.index] : try handle.log.block(at: run.location).entity
                guard wanted.contains(entity) else { return true }
                for index in 0..<run.count { refs.append(ObjectRef(entity: entity, key: run.firstKey + UInt64(index))) }
                return true
            }
        } catch {
            throw RowScope(handle, snapshot, control).failure(error)
        }
        return refs
    }

    /// Whether a row still satisfies the predicate, after something has been saved since it was looked up.
    ///
    /// - Throws: why evaluating it was stopped.
    func satisfies(_ row: RowSource, _ control: RequestControl?) throws -> Bool {
        guard let predicate else { return true }
        let work = EvaluationWork(control, isBounded: isBounded)
        let holds = work.run {
            guard let objects else { return predicate.evaluate(with: row) }
            return predicate.evaluate(with: objects.object(with: row.objectID))
        }
        try work.check(control)
        return holds
    }

    /// The rows in parts of a size.
    func parts(_ size: Int) -> [ArraySlice<ObjectRef>] {
        let size = max(1, size)
        return stride(from: 0, to: refs.count, by: size).map { refs[$0..<min($0 + size, refs.count)] }
    }
}
