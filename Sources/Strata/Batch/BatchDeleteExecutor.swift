import Foundation
import StrataLog

/// Runs a batch delete.
final class BatchDeleteExecutor {
    private let context: NSManagedObjectContext
    private let request: NSBatchDeleteRequest
    private let control: RequestControl?

    init(_ context: NSManagedObjectContext, _ request: NSBatchDeleteRequest, _ control: RequestControl?) {
        self.control = control
        self.context = context
        self.request = request
    }

    func execute() throws -> NSBatchDeleteResult {
        var outcome = BatchOutcome()
        // No objects were given by ID, so that there is no entity either.
        if request.objectIDs?.isEmpty == true { return NSBatchDeleteResult(outcome, request.resultType) }
        try request.checkIDs()
        guard let name = request.entityName else {
            throw BatchSession.error("The fetch request of a batch delete has no entity.")
        }
        let shape = try BatchSession.shape(named: name, in: context)
        // What the request describes is not asked for where it says no more than the IDs do.
        let ids = request.plainIDs
        let chosen = request.affectedStores ?? (ids == nil ? request.fetchRequest.affectedStores : nil)
        try checkStores(chosen, ids)
        for handle in try BatchSession.handles(request, shape.family, in: context) {
            if let chosen, !chosen.contains(where: { $0.handle === handle }) { continue }
            let rows =
                try ids.map { BatchRows($0, handle) } ?? BatchRows(request.fetchRequest, handle, in: context, control)
            if rows.refs.isEmpty { continue }
            let session = try BatchSession(context, handle, rows, control)
            defer { session.finish() }
            // Cascades may lead to any entity.
            let derivations = BatchDerivations(context, handle, context.modelShapes?.shapes ?? [])
            for part in rows.parts(request.maximumObjectsPerTransaction) {
                var deleted: [Row] = []
                var nullified: [ObjectRef] = []
                try session.commitPart { transaction, snapshot in
                    deleted = try delete(
                        part, of: rows, transaction, snapshot, handle,
                        checksPredicate: ids == nil && session.isBehind(snapshot)
                    ) { deletion in
                        guard let derivations else { return }
                        nullified = deletion.nullifiedRefs
                        try derivations.record(deletion.deletedRefs)
                        try derivations.record(nullified)
                    }
                }
                try context.unstoppable { try derivations?.update(nullified) }
                outcome.count += deleted.count
                guard request.resultType == .resultTypeObjectIDs else { continue }
                for row in deleted {
                    guard let shape = handle.map.shape(row.block.entity) else { continue }
                    outcome.objectIDs.append(
                        NSManagedObjectID(ref: row.ref, identity: handle.identity, shape: shape))
                }
            }
        }
        return NSBatchDeleteResult(outcome, request.resultType)
    }

    /// - Throws: `CocoaError` 134070 when the request names a store, or an object of one, that is not the
    ///   coordinator's.
    private func checkStores(_ stores: [NSPersistentStore]?, _ ids: [NSManagedObjectID]?) throws {
        guard let coordinator = context.coordinator else { return }
        let identities = try coordinator.stores(named: stores).compactMap { $0.handle?.identity }
        let foreign = ids?.first { id in
            guard let identity = id.identity, stores == nil else { return false }
            return !identities.contains { $0 === identity }
        }
        if let foreign {
            throw BatchSession.error("A batch delete names \(foreign), which is of no store of the coordinator.")
        }
    }

    /// Returns the rows that the request names, without those that follow by cascade.
    private func delete(
        _ refs: ArraySlice<ObjectRef>, of rows: BatchRows, _ transaction: WriteTransaction, _ snapshot: Snapshot,
        _ handle: StoreHandle, checksPredicate: Bool, _ willWrite: (BatchDeletion) throws -> Void
    ) throws -> [Row] {
        let scope = RowScope(handle, snapshot, control)
        var reader = BatchReader(handle, snapshot, refs)
        var named: [Row] = []
        named.reserveCapacity(refs.count)
        var pace = ControlPace(control, every: 64)
        for ref in refs {
            try pace.step()
            guard let row = try reader.row(ref) else { continue }
            if checksPredicate {
                guard let shape = handle.map.shape(row.block.entity) else { continue }
                let source = RowSource(scope, shape, row.block, row.index)
                guard try rows.satisfies(source, control) else { continue }
                try scope.check()
            }
            named.append(row)
        }
        let deletion = BatchDeletion(handle, snapshot, appliesDeny: request.appliesValidation, control)
        try deletion.collect(named)
        try willWrite(deletion)
        try deletion.write(to: transaction)
        return named
    }
}
