import Foundation
import StrataLog

/// The part of a save that goes to one store.
final class StoreSave {
    let context: NSManagedObjectContext
    let handle: StoreHandle
    let storeIndex: UInt16
    unowned let owner: ContextSave
    var changes = ObjectChanges()
    private(set) var receipt: CommitReceipt?
    /// Whether the changes are in the store.
    private(set) var isWritten = false

    /// To be made when the rows have been encoded.
    var insertedIDs: SavedIDs?

    /// One for each of the written objects: the inserted ones, then the updated ones.
    private var tickets: ContiguousArray<EntityWriter.RowTicket> = []
    private var transaction: WriteTransaction?
    /// What may take the save back as long as it waits for its turn.
    private let control: RequestControl?

    init(_ context: NSManagedObjectContext, _ handle: StoreHandle, _ storeIndex: UInt16, owner: ContextSave) {
        control = owner.control
        self.context = context
        self.handle = handle
        self.storeIndex = storeIndex
        self.owner = owner
    }

    /// Commits the changes, asking the merge policy about conflicts.
    func write() throws {
        if handle.isDetached { throw StoreFailure.removed(handle.path) }
        if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
        var (rounds, attempts) = (0, 0)
        var resolvedAt: UInt64?
        while true {
            do {
                try build()
                guard let transaction else { return }
                receipt = try commit(transaction)
                isWritten = true
                return
            } catch let error as StoreError where error.code == .conflict {
                attempts += 1
                if !owner.isBegun { try control?.check() }
                let newest = handle.log.snapshot.sequence
                if resolvedAt == newest { rounds += 1 }
                guard rounds < NSManagedObjectContext.maximumConflictRounds,
                    attempts < NSManagedObjectContext.maximumAttempts
                else { throw StoreFailure.cocoaError(error, saving: handle) }
                var left = error
                left.conflicts = try DerivedRebase(context: context, save: self).resolve(error.conflicts)
                let merged = try ConflictResolver(context, self).resolve(left)
                if !merged.isEmpty { resolvedAt = newest }
                try owner.recollect(validating: merged)
            } catch let error as StoreError {
                throw StoreFailure.cocoaError(error, saving: handle)
            }
        }
    }

    private func commit(_ transaction: WriteTransaction) throws -> CommitReceipt? {
        if let custom = handle.custom {
            return try custom.withLock { try custom.saveAndCommit(transaction, self) }
        }
        // What other stores have got already would be saved half.
        let committed = try handle.commit(transaction, owner.isBegun ? nil : control)
        return transaction.isEmpty ? nil : committed
    }

    /// Writes the changes to the log alone: they come from the custom store that the log stands behind.
    func writeToLog() throws {
        try build()
        if let transaction { _ = try handle.commit(transaction, nil) }
    }

    /// Packs all changes into a new transaction.
    private func build() throws {
        let transaction = handle.log.makeTransaction()
        transaction.author = context.transactionAuthor
        transaction.contextName = context.name
        if let insertedIDs { transaction.whenEncoded = { insertedIDs.start() } }
        self.transaction = transaction
        tickets = []
        let links = LinkChanges(self)
        try links.collect()
        let writer = RowWriter(transaction, handle, storeIndex)
        var tickets = ContiguousArray<EntityWriter.RowTicket>()
        tickets.reserveCapacity(changes.inserted.count + changes.updated.count)
        try changes.inserted.forEachUnretained { object in
            tickets.append(try writer.insert(object))
        }
        try changes.updated.forEachUnretained { object in
            if object.flags.contains(.dirtySlots) {
                tickets.append(try writer.update(object))
            } else if object.flags.contains(.dirtyToMany), handle.custom == nil {
                // Others refer to it from now on: it must not have been deleted meanwhile.
                transaction.requireExistence(of: object.ref)
            }
        }
        self.tickets = tickets
        reserveDeletions(transaction)
        var last: (entity: UInt16, writer: EntityWriter)?
        try changes.deleted.forEachUnretained { object in
            if object.flags.contains(.gone) { return }
            let ref = object.ref
            if last?.entity != ref.entity { last = (ref.entity, transaction.writer(for: ref.entity)) }
            try last?.writer.delete(key: ref.key, replacing: object.version)
        }
        try links.write(to: transaction)
        context.derivationView?.addConflictKeys(to: transaction, of: storeIndex)
        for object in context.required where object.storeIndex == storeIndex && object.isWatched {
            transaction.require(object.ref, at: object.version)
        }
        // Delete rules, derived values and merge policies have read what they need.
        try context.refuseUnread()
    }

    /// Thousands of deletions take their memory at once.
    private func reserveDeletions(_ transaction: WriteTransaction) {
        guard changes.deleted.count >= 1_024 else { return }
        var counts: [UInt16: Int] = [:]
        var run: (entity: UInt16, count: Int) = (0, 0)
        changes.deleted.forEachUnretained { object in
            if object.ref.entity != run.entity {
                counts[run.entity, default: 0] += run.count
                run = (object.ref.entity, 0)
            }
            run.count += 1
        }
        counts[run.entity, default: 0] += run.count
        for (entity, count) in counts where count > 0 { transaction.reserve(deletions: count, of: entity) }
    }

    /// The written objects by the references that they have or are going to have.
    func objectsByRef() -> [ObjectRef: NSManagedObject] {
        var objects: [ObjectRef: NSManagedObject] = [:]
        for object in changes.inserted {
            let isNew = object.storeIndex == 0
            objects[isNew ? ObjectRef(rawValue: object.version.location.rawValue) : object.ref] = object
        }
        for object in changes.updated { objects[object.ref] = object }
        return objects
    }

    /// Brings the objects in line with what was written.
    func finish() {
        guard let transaction, let receipt else { return }
        context.sharePermanentIDs(changes.inserted, handle)
        context.registry.becamePermanent(changes.inserted, storeIndex)
        // Nothing but this save changes what build() went by.
        let locations = transaction.locations(of: tickets)
        var next = 0
        func written(_ object: NSManagedObject) {
            object.version.location = locations[next]
            object.version.sequence = receipt.sequence
            object.flags.remove(.rowIsCommitted)
            next += 1
        }
        changes.inserted.forEachUnretained { written($0) }
        changes.updated.forEachUnretained { if $0.flags.contains(.dirtySlots) { written($0) } }
        self.transaction = nil
        tickets = []
    }
}
