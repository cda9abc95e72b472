import Foundation
import StrataLog

/// Runs a batch delete.
final class BatchDeleteExecutor {
    private let context: NSManagedObjectContext
    private let request: NSBatchDeleteRequest

    init(_ context: NSManagedObjectContext, _ request: NSBatchDeleteRequest) {
        self.context = context
        self.request = request
    }

    func execute() throws -> NSBatchDeleteResult {
        var outcome = BatchOutcome()
        // No objects were given by ID, so that there is no entity either.
        if request.objectIDs?.isEmpty == true { return NSBatchDeleteResult(outcome, request.resultType) }
        guard let name = request.fetchRequest.entityName ?? request.fetchRequest.entity?.name else {
            throw BatchSession.error("The fetch request of a batch delete has no entity.")
        }
        let shape = try BatchSession.shape(named: name, in: context)
        let chosen = request.affectedStores ?? request.fetchRequest.affectedStores
        for handle in BatchSession.handles(request, shape.family, in: context) {
            if let chosen, !chosen.contains(where: { $0.handle === handle }) { continue }
            let rows = try BatchRows(request.fetchRequest, handle, in: context)
            if rows.refs.isEmpty { continue }
            let session = try BatchSession(context, handle)
            defer { session.finish() }
            // Cascades may lead to any entity.
            let derivations = BatchDerivations(context, handle, context.modelShapes?.shapes ?? [])
            for part in rows.parts(request.maximumObjectsPerTransaction) {
                var deleted: [Row] = []
                var nullified: [ObjectRef] = []
                try session.commitPart { transaction, snapshot in
                    deleted = try delete(
                        part, of: rows, transaction, snapshot, handle
                    ) { deletion in
                        guard let derivations else { return }
                        nullified = deletion.nullifiedRefs
                        try derivations.note(deletion.deletedRefs)
                        try derivations.note(nullified)
                    }
                }
                try derivations?.update(nullified)
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

    /// Returns the rows that the request names, without those that follow by cascade.
    private func delete(
        _ refs: ArraySlice<ObjectRef>, of rows: BatchRows, _ transaction: WriteTransaction, _ snapshot: Snapshot,
        _ handle: StoreHandle, _ willWrite: (BatchDeletion) throws -> Void
    ) throws -> [Row] {
        let scope = RowScope(handle, snapshot)
        var named: [Row] = []
        for ref in refs {
            guard let row = try snapshot.row(ref), let shape = handle.map.shape(row.block.entity) else { continue }
            if snapshot.sequence != rows.sequence {
                let source = RowSource(scope, shape, row.block, row.index)
                guard rows.satisfies(source) else { continue }
                if let error = scope.error { throw error }
            }
            named.append(row)
        }
        let deletion = BatchDeletion(handle, snapshot, appliesDeny: request.appliesValidation)
        try deletion.collect(named)
        try willWrite(deletion)
        try deletion.write(to: transaction)
        return named
    }
}
