import Foundation
import StrataLog

/// The part of a save that goes to one store.
final class StoreSave {
    let context: NSManagedObjectContext
    let handle: StoreHandle
    let storeIndex: UInt16
    var changes = ObjectChanges()
    private(set) var receipt: CommitReceipt?

    private var tickets: ContiguousArray<(object: NSManagedObject, ticket: EntityWriter.RowTicket)> = []
    private var transaction: WriteTransaction?

    init(_ context: NSManagedObjectContext, _ handle: StoreHandle, _ storeIndex: UInt16) {
        self.context = context
        self.handle = handle
        self.storeIndex = storeIndex
    }

    /// Commits the changes, asking the merge policy about conflicts.
    func write() throws {
        if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
        for object in changes.deleted { _ = object.objectID }
        var rounds = 0
        while true {
            do {
                try build()
                guard let transaction else { return }
                receipt = transaction.isEmpty ? nil : try handle.log.commit(transaction)
                return
            } catch let error as StoreError where error.code == .conflict {
                rounds += 1
                guard rounds <= NSManagedObjectContext.maximumConflictRounds else {
                    throw StoreFailure.cocoaError(error, saving: handle)
                }
                try ConflictResolver(context, self).resolve(error.conflicts)
            } catch let error as StoreError {
                throw StoreFailure.cocoaError(error, saving: handle)
            }
        }
    }

    /// Packs all changes into a new transaction.
    private func build() throws {
        let transaction = handle.log.makeTransaction()
        transaction.author = context.transactionAuthor
        transaction.contextName = context.name
        self.transaction = transaction
        tickets = []
        tickets.reserveCapacity(changes.inserted.count + changes.updated.count)
        let links = LinkChanges(self)
        try links.collect()
        let writer = RowWriter(transaction, handle, storeIndex)
        for object in changes.inserted {
            if object.flags.contains(.unreadable) { continue }
            tickets.append((object, try writer.insert(object)))
        }
        for object in changes.updated where object.flags.contains(.dirtySlots) {
            tickets.append((object, try writer.update(object)))
        }
        for object in changes.deleted where !object.flags.contains(.gone) {
            try transaction.delete(object.ref, replacing: object.version)
        }
        try links.write(to: transaction)
    }

    /// Brings the objects in line with what was written.
    func finish() {
        guard let transaction, let receipt else { return }
        context.registry.becamePermanent(changes.inserted, storeIndex)
        for (object, ticket) in tickets {
            object.version.location = transaction.location(of: ticket)
            object.version.sequence = receipt.sequence
            object.flags.remove(.rowIsCommitted)
        }
        self.transaction = nil
        tickets = []
    }
}
