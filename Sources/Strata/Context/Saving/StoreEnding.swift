import Foundation
import StrataLog
import StrataSupport

/// The part of a save that goes to the log of one store, as one transaction.
class StoreEnding: SaveEnding {
    /// How often in a row a save is tried again after its conflicts were resolved, though nobody else has saved since:
    /// that resolves nothing.
    private static let maximumConflictRounds = 16
    /// How often a save is tried again altogether. Of many that change the same object each at the same time, one gets
    /// through and the others try again.
    private static let maximumAttempts = 10_000

    final let context: NSManagedObjectContext
    final let handle: StoreHandle
    final let storeIndex: UInt16
    @exclusivity(unchecked) final var changes = ObjectChanges()
    @exclusivity(unchecked) private(set) final var receipt: CommitReceipt?
    private(set) final var isWritten = false
    /// How often a conflict has been met.
    @exclusivity(unchecked) private(set) final var attempts = 0
    /// Whether the objects have been told of it: see ``SavePipeline/settle()``.
    final var isSettled = false
    /// The IDs of the inserted and of the deleted objects, made by another core while the rows are written; nil for a
    /// small save.
    private(set) final var insertedIDs: SavedIDs?
    private(set) final var deletedIDs: SavedIDs?

    /// One for each of the written objects: the inserted ones, then the updated ones.
    private final var tickets: ContiguousArray<EntityWriter.RowTicket> = []
    private final var transaction: WriteTransaction?
    /// Nil as long as no commit was refused.
    private final var overtaken: OvertakenSave?
    /// What was found when the transaction could not be built, until it is mended.
    private final var misaligned: PartnerCheck?
    /// The state of the store with which objects were aligned last. What is found once more in the same state is left
    /// to the merge policy.
    private final var alignedAt: UInt64?

    init(_ context: NSManagedObjectContext, _ handle: StoreHandle, _ storeIndex: UInt16) {
        self.context = context
        self.handle = handle
        self.storeIndex = storeIndex
    }

    /// Has another core make the IDs that the notification of the save is going to have.
    final func prepareIDs() {
        insertedIDs = SavedIDs(changes.inserted, handle.identity, keepsOrder: false)
        deletedIDs = SavedIDs(changes.deleted, handle.identity, keepsOrder: true)
        // Deletions leave the other core little to encode.
        deletedIDs?.start()
    }

    /// Commits the changes, asking the merge policy about conflicts.
    final func write() throws {
        if handle.isDetached { throw StoreFailure.removed(handle.path) }
        if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
        let pipeline = context.pipeline
        var rounds = 0
        var lastConflictAt: UInt64?
        defer { overtaken?.end() }
        while true {
            do {
                let transaction = try build()
                if let overtaken { transaction.hold = overtaken.hold }
                // What other stores have got already would be saved half.
                receipt = try commit(transaction, pipeline.isBegun ? nil : pipeline.control)
                isWritten = true
                return
            } catch let error as StoreError where error.code == .conflict {
                attempts += 1
                if !pipeline.isBegun { try pipeline.control?.check() }
                let newest = handle.log.snapshot.sequence
                rounds = lastConflictAt == newest ? rounds + 1 : 0
                lastConflictAt = newest
                guard rounds < Self.maximumConflictRounds, attempts < Self.maximumAttempts else {
                    throw StoreFailure.cocoaError(error, saving: handle)
                }
                recordFailedAttempt()
                pipeline.settle()
                var merged = try alignPartners()
                var left = error
                left.conflicts = try DerivedRebase(context: context, ending: self).resolve(error.conflicts)
                // What only this context has brought about is nothing to ask a policy about.
                let isAligned = !merged.isEmpty && left.conflicts.isEmpty && left.uniqueConflicts.isEmpty
                if !isAligned { merged += try resolve(left) }
                // What is not a save of the whole context has nothing to collect anew.
                guard pipeline.isSaving else { throw StoreFailure.cocoaError(error, saving: handle) }
                try pipeline.recollect(validating: merged)
            } catch let error as StoreError {
                throw StoreFailure.cocoaError(error, saving: handle)
            }
        }
    }

    private func recordFailedAttempt() {
        let overtaken = overtaken ?? OvertakenSave(handle)
        self.overtaken = overtaken
        overtaken.attemptFailed(attempts)
    }

    /// Makes the other ends of one-to-one relationships follow that this context alone has not kept in line.
    ///
    /// - Returns: the objects at the ends that they follow.
    private func alignPartners() throws -> [NSManagedObject] {
        guard let found = misaligned else { return [] }
        misaligned = nil
        let objects = found.misaligned.map(\.object)
        try LateRelationships(context, self, found.snapshot).align(objects)
        return objects
    }

    /// Asks the merge policy.
    private func resolve(_ error: StoreError) throws -> [NSManagedObject] {
        guard EventHub.wants(.conflict) else { return try ConflictResolver(context, self).resolve(error) }
        let names = ConflictNames(self).names(of: error)
        let result = Result { try ConflictResolver(context, self).resolve(error) }
        var isResolved = false
        if case .success = result { isResolved = true }
        EventHub.tell(
            .conflict(
                ConflictEvent(
                    store: handle.eventStores[0], objects: error.conflicts.count, names: names,
                    uniqueValues: error.uniqueConflicts.count, attempt: attempts, isResolved: isResolved)))
        return try result.get()
    }

    /// The values that a conflict of the commit that was refused is about.
    final func values(of conflict: UniqueConflict) -> UniqueValues? { transaction?.values(of: conflict) }

    /// Commits a transaction that has the changes.
    ///
    /// - Parameter control: what may take the save back as long as it waits for its turn.
    /// - Returns: nil when there was nothing to write.
    func commit(_ transaction: WriteTransaction, _ control: RequestControl?) throws -> CommitReceipt? {
        let committed = try handle.commit(transaction, control)
        return transaction.isEmpty ? nil : committed
    }

    /// Writes the changes to the log alone: they come from the custom store that the log stands behind.
    final func writeToLog() throws { _ = try handle.commit(try build(), nil) }

    /// Packs all changes into a new transaction.
    private final func build() throws -> WriteTransaction {
        let transaction = handle.log.makeTransaction()
        transaction.author = context.transactionAuthor
        transaction.contextName = context.name
        if let insertedIDs { transaction.whenEncoded = { insertedIDs.start() } }
        self.transaction = transaction
        tickets = []
        let links = LinkChanges(self)
        try links.collect()
        try refuseLate(links)
        let writer = RowWriter(transaction, handle, storeIndex)
        var tickets = ContiguousArray<EntityWriter.RowTicket>()
        tickets.reserveCapacity(changes.inserted.count + changes.updated.count)
        try changes.inserted.forEachUnretained { object in
            tickets.append(try writer.insert(object))
        }
        try changes.updated.forEachUnretained { object in
            if object.flags.contains(.dirtySlots) {
                tickets.append(try writer.update(object))
            } else if object.flags.contains(.dirtyToMany) {
                requireExistence(of: object, transaction)
            }
        }
        self.tickets = tickets
        reserveDeletions(transaction)
        var last: (entity: UInt16, writer: EntityWriter)?
        try changes.deleted.forEachUnretained { object in
            if object.flags.contains(.gone) {
                // What was found to be gone when it was read may be what others refer to from now on.
                if object.flags.contains(.dirtyToMany) { requireExistence(of: object, transaction) }
                return
            }
            let ref = object.ref
            if last?.entity != ref.entity {
                last = (ref.entity, transaction.writer(for: ref.entity))
                requireUnreferred(object.shape, ref.entity, transaction)
            }
            try last?.writer.delete(key: ref.key, replacing: object.version)
        }
        try links.write(to: transaction)
        context.pipeline.derivationView?.addConflictKeys(to: transaction, of: storeIndex)
        for object in context.pipeline.required where object.storeIndex == storeIndex && object.isWatched {
            transaction.require(object.ref, at: object.version)
        }
        // Delete rules, derived values and merge policies have read what they need.
        try context.refuseUnread()
        return transaction
    }

    /// Whether the log knows all that refers to an object.
    var ownsReferences: Bool { true }

    /// Others refer to the object from now on: it must not have been deleted meanwhile.
    func requireExistence(of object: NSManagedObject, _ transaction: WriteTransaction) {
        transaction.requireExistence(of: object.ref)
    }

    /// Rows that others have committed, and that the context has not seen, may refer to deleted objects of an entity.
    private final func requireUnreferred(_ shape: EntityShape, _ entity: UInt16, _ transaction: WriteTransaction) {
        guard ownsReferences else { return }
        transaction.requireUnreferred(
            deleted: entity,
            by: shape.closedByDeletion.compactMap { relationship in
                relationship.inverse.map { handle.map.postings(relationship.destination, $0.slot) }
            })
    }

    /// - Throws: the engine's conflict error, when others have committed something that the changes do not go with and
    ///   that no version of a row shows.
    private final func refuseLate(_ links: LinkChanges) throws {
        guard ownsReferences else { return }
        var conflicts = links.lateMembers
        if context.modelShapes?.hasPartners == true {
            var partners = PartnerCheck(self)
            try partners.run()
            conflicts += partners.conflicts
            let found = partners.misaligned
            if alignedAt == partners.snapshot.sequence {
                conflicts += found.map(\.conflict)
            } else if !found.isEmpty {
                (misaligned, alignedAt) = (partners, partners.snapshot.sequence)
            }
        }
        if conflicts.isEmpty, misaligned == nil { return }
        throw StoreError(
            .conflict, "\(conflicts.count) objects were given other relationships since they were read",
            conflicts: Array(Set(conflicts)).sorted())
    }

    /// Thousands of deletions take their memory at once.
    private final func reserveDeletions(_ transaction: WriteTransaction) {
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
    final func objectsByRef() -> [ObjectRef: NSManagedObject] {
        var objects: [ObjectRef: NSManagedObject] = [:]
        for object in changes.inserted { objects[object.futureRef] = object }
        for object in changes.updated { objects[object.ref] = object }
        return objects
    }

    /// Brings the objects in line with what was written, once.
    final func finish() {
        guard let transaction, let receipt else { return }
        context.recordSaved(receipt.sequence, handle)
        context.sharePermanentIDs(changes.inserted, handle)
        context.registry.becamePermanent(bySaving: changes.inserted, storeIndex)
        // Nothing but this save changes what build() went by.
        let locations = transaction.locations(of: tickets)
        var next = 0
        func written(_ object: NSManagedObject) {
            object.version = RowVersion(location: locations[next], sequence: receipt.sequence)
            object.flags.remove(.rowIsCommitted)
            next += 1
        }
        changes.inserted.forEachUnretained { written($0) }
        changes.updated.forEachUnretained { if $0.flags.contains(.dirtySlots) { written($0) } }
        self.transaction = nil
        tickets = []
    }
}
