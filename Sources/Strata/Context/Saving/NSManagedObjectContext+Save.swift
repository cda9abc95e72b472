import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// How often `willSave` may go on changing objects before the save is given up.
    static let maximumWillSaveRounds = 1_000
    /// How often a save is tried again after a merge policy has resolved its conflicts, though nobody else has saved
    /// since: such a policy resolves nothing.
    static let maximumConflictRounds = 16
    /// How often a save is tried again altogether. Of many that change the same object each at the same time, one gets
    /// through and the others try again.
    static let maximumAttempts = 10_000

    /// Writes all changes to their stores: one transaction for each store. A child context gives them to its parent
    /// instead, and nothing is written until the line's top is saved.
    ///
    /// When it returns, the changes are as durable as the store's options say (by default: flushed to the device).
    /// When it throws, nothing has been written to the store that the error is from, and the context has its changes as
    /// before. With several stores, those that were written before the failing one keep what they got, as in Core Data.
    /// When only the metadata that was set for a store could not be written, the changes are saved and `hasChanges` is
    /// false; the next save tries again.
    ///
    /// In a task that has been cancelled, a save in a block that the task waits for throws `CancellationError` instead of
    /// waiting for others: from the moment that it is its turn on it goes through.
    ///
    /// - Throws: `CocoaError` with a validation code, 134030 for a context that shows the past or has read as empty what
    ///   could not be read, 133020 for conflicts that the merge policy does not resolve, or a
    ///   store's error with the engine's as its underlying one.
    /// - Complexity: O(n) in the changed objects.
    final func saveChanges() throws {
        guard let coordinator else {
            if !hasChanges { return }
            throw DescribedError(
                .persistentStoreSave,
                userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator."])
        }
        guard !isSaving else { throw SaveFailure.recursiveSave }
        isSaving = true
        coordinator.writing.enter()
        defer {
            coordinator.writing.leave()
            isSaving = false
            derivationView = nil
        }
        let control = ContextQueue.currentControl
        try control?.check()
        // Nothing that belongs to a save is stopped half way: only its commit, as long as it waits.
        try unstoppable { try saveChanges(to: coordinator, control) }
    }

    private func saveChanges(to coordinator: NSPersistentStoreCoordinator, _ control: RequestControl?) throws {
        try processEverything()
        guard hasChanges || !required.isEmpty else {
            if !changed.isEmpty { ContextSave(self, coordinator).finishWithoutChanges() }
            if link == nil { try coordinator.savePendingMetadata() }
            // Observers of saves hear of each one, also of those that had nothing to write.
            var none = ObjectChanges()
            none.postSaved(from: self)
            return
        }
        try refusePast()
        try refuseUnread()
        try refuseLate()
        post(.NSManagedObjectContextWillSave)
        try callWillSave()
        changed.forEachUnretained { object in
            // One that was refreshed is written with its default values.
            if object.isFault, object.flags.contains(.inserted) { object.realize() }
            object.forgetUnchangedValues(in: self)
        }
        try updateDerivedAttributes()
        try validateChanges(changed)
        if let link { return try ParentSave(self, link).run() }
        let save = ContextSave(self, coordinator, control)
        try save.prepare()
        defer { reportDropped() }
        try save.commit()?.start(registry)
        try coordinator.savePendingMetadata()
    }

    private func callWillSave() throws {
        if !overrides.contains(.willSave) {
            // Those who listen may have changed something.
            try processEverything()
            if !overrides.contains(.willSave) { return }
        }
        defer { changed.forEachUnretained { $0.flags.remove(.willSaveCalled) } }
        for _ in 0..<Self.maximumWillSaveRounds {
            var isDone = true
            // Objects that join while willSave runs come in the next round.
            let objects = changed
            objects.forEachUnretained { object in
                guard object.hasChanges, object.flags.isDisjoint(with: [.willSaveCalled, .gone]),
                    !object.flags.isSuperset(of: [.inserted, .deleted])
                else { return }
                isDone = false
                object.flags.insert(.willSaveCalled)
                object.willSave()
            }
            if isDone { return }
            // Objects that changed in or after their willSave get another one, as the last change may need it.
            for object in event { object.flags.remove(.willSaveCalled) }
            try processEverything()
        }
        throw SaveFailure.stillDirty(after: Self.maximumWillSaveRounds)
    }

    /// Processes pending changes until those who are told of them make no more.
    private func processEverything() throws {
        propagateDeletions()
        processPendingChanges()
        var rounds = 1
        while !event.isEmpty {
            guard rounds < Self.maximumWillSaveRounds else { throw SaveFailure.stillDirty(after: rounds) }
            processPendingChanges()
            rounds += 1
        }
    }

    /// Validates changed objects; those that validation changes, again.
    final func validateChanges(_ objects: ContiguousArray<NSManagedObject>) throws {
        var objects = objects
        for _ in 0..<Self.maximumWillSaveRounds {
            try validate(objects)
            if event.isEmpty { return }
            objects = event
            processPendingChanges()
            try updateDerivedAttributes(isFirst: false)
        }
        throw DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Validation went on changing objects for \(Self.maximumWillSaveRounds) rounds."
            ])
    }

    private func validate(_ objects: ContiguousArray<NSManagedObject>) throws {
        var errors: [any Error] = []
        objects.forEachUnretained { object in
            do {
                // Of what others have deleted nothing is saved.
                if skipsValidation || object.flags.contains(.gone) { return }
                if object.isInserted {
                    try object.validateForInsert()
                } else if object.isUpdated {
                    try object.validateForUpdate()
                } else if object.isDeleted, !object.flags.contains(.inserted) {
                    try object.validateForDelete()
                }
            } catch {
                errors.append(error)
            }
        }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    /// Gives inserted objects their permanent IDs before they are saved.
    ///
    /// - Throws: `CocoaError` when an object has no store to be saved to.
    final func reservePermanentIDs(for objects: [NSManagedObject]) throws {
        guard let coordinator else { throw Self.noStore(for: objects.first) }
        try obtainPermanentIDsFromParent(for: objects)
        let temporary = objects.filter { $0.registry === registry && $0.storeIndex == 0 }
        let save = ContextSave(self, coordinator)
        try save.reserveKeys(ContiguousArray(temporary))
        var byStore: [UInt16: ContiguousArray<NSManagedObject>] = [:]
        for object in temporary { byStore[try save.storeIndex(for: object), default: []].append(object) }
        for (storeIndex, moved) in byStore {
            if let handle = registry.handle(storeIndex) { sharePermanentIDs(moved, handle) }
            registry.becamePermanent(moved, storeIndex)
            for object in moved { object.version = .none }
        }
    }

    static func noStore(for object: NSManagedObject?) -> any Error {
        DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "No persistent store holds objects of the entity \(object?.shape.name ?? "").",
                NSAffectedObjectsErrorKey: object.map { [$0] } ?? [],
            ])
    }
}
