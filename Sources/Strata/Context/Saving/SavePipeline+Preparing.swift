import Foundation
import StrataLog

// What a save asks of the objects before it hands them over.
extension SavePipeline {
    /// How often `willSave` may go on changing objects before the save is given up.
    private static let maximumRounds = 1_000

    /// Processes pending changes until those who are told of them make no more.
    func processEverything() throws {
        propagateDeletions()
        context.processPendingChanges()
        var rounds = 1
        while !event.isEmpty {
            guard rounds < Self.maximumRounds else { throw SaveFailure.stillDirty(after: rounds) }
            context.processPendingChanges()
            rounds += 1
        }
    }

    /// Calls `willSave` again of objects that have changed since their last one: those that a merge policy has changed,
    /// and those that observers have changed when they were told. They may derive sums or counts from the new values.
    func callWillSave(again objects: [NSManagedObject]) throws {
        changed.forEachUnretained { $0.flags.insert(.willSaveCalled) }
        for object in objects { object.flags.remove(.willSaveCalled) }
        // Those who were told of these changes may have made others.
        for object in event { object.flags.remove(.willSaveCalled) }
        try processEverything()
        try callWillSave()
    }

    /// Calls `willSave` until it changes nothing any more.
    func callWillSave() throws {
        if !overrides.contains(.willSave) {
            // Those who listen may have changed something.
            try processEverything()
            if !overrides.contains(.willSave) { return }
        }
        defer { changed.forEachUnretained { $0.flags.remove(.willSaveCalled) } }
        for _ in 0..<Self.maximumRounds {
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
        throw SaveFailure.stillDirty(after: Self.maximumRounds)
    }

    /// Gives up values that were set to what they were before.
    func dropUnchangedValues() {
        let context: NSManagedObjectContext = context
        changed.forEachUnretained { object in
            // One that was refreshed is written with its default values.
            if object.isUnread, object.flags.contains(.inserted) { object.realize() }
            object.forgetUnchangedValues(in: context)
            object.forgetRestoredOrders()
        }
    }

    /// Validates changed objects; those that validation changes, again.
    func validateChanges(_ objects: ContiguousArray<NSManagedObject>) throws {
        var objects = objects
        for _ in 0..<Self.maximumRounds {
            try validate(objects)
            if event.isEmpty { return }
            objects = event
            context.processPendingChanges()
            try updateDerivedAttributes(isFirst: false)
        }
        throw DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey: "Validation went on changing objects for \(Self.maximumRounds) rounds."
            ])
    }

    private func validate(_ objects: ContiguousArray<NSManagedObject>) throws {
        var errors: [any Error] = []
        let isSkipped = context.skipsValidation
        objects.forEachUnretained { object in
            do {
                // Of what others have deleted nothing is saved.
                if isSkipped || object.flags.contains(.gone) { return }
                if object.isInserted {
                    try object.validateForInsert()
                } else if object.isUpdated {
                    try object.validateForUpdate()
                } else if object.isMarkedDeleted, !object.flags.contains(.inserted) {
                    try object.validateForDelete()
                }
            } catch {
                errors.append(error)
            }
        }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    // MARK: Sorting

    /// The changed objects by what is to be done about them.
    func classifiedChanges() -> ObjectChanges {
        if let all = classifiedAsReported() { return all }
        var all = ObjectChanges()
        all.inserted.reserveCapacity(changed.count)
        changed.forEachUnretained { object in
            if object.isMarkedDeleted {
                if !object.flags.contains(.inserted) { all.deleted.append(object) }
            } else if object.isInserted {
                all.inserted.append(object)
            } else if object.isUpdated {
                all.updated.append(object)
            }
        }
        return all
    }

    /// The changed objects when the inserted ones are those of the one notification that had any, in its order, and the
    /// deleted ones likewise, as is mostly so: then its lists are theirs. Nil if not.
    private func classifiedAsReported() -> ObjectChanges? {
        if insertReports.order == nil, deleteReports.order == nil { return nil }
        let (inserted, deleted) = (insertReports.order ?? [], deleteReports.order ?? [])
        var updated: ContiguousArray<NSManagedObject> = []
        var (insertedCount, deletedCount) = (0, 0)
        var isSame = true
        inserted.withObjectPointers { inserted in
            deleted.withObjectPointers { deleted in
                changed.forEachUnretained { object in
                    let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
                    if object.isInserted {
                        if insertedCount < inserted.count, inserted[insertedCount] == pointer {
                            insertedCount += 1
                        } else {
                            isSame = false
                        }
                    } else if object.isMarkedDeleted {
                        if object.flags.contains(.inserted) { return }
                        if deletedCount < deleted.count, deleted[deletedCount] == pointer {
                            deletedCount += 1
                        } else {
                            isSame = false
                        }
                    } else if object.isUpdated {
                        updated.append(object)
                    }
                }
            }
        }
        guard isSame, insertedCount == inserted.count, deletedCount == deleted.count else { return nil }
        var all = ObjectChanges()
        (all.inserted, all.updated, all.deleted) = (inserted, updated, deleted)
        return all
    }

    // MARK: Objects that must not have changed elsewhere

    /// The next save looks whether the object's row is still as it was read.
    func require(_ object: NSManagedObject) {
        guard object.registry === registry, object.storeIndex != 0 else { return }
        object.realize()
        required.insert(object)
    }

    /// Whether ``NSManagedObjectContext/detectConflicts(for:)`` has been called for the object.
    func isRequired(_ object: NSManagedObject) -> Bool { !required.isEmpty && required.contains(object) }
}

extension NSManagedObject {
    /// Whether ``NSManagedObjectContext/detectConflicts(for:)`` has anything to look at: a row that was read and is not
    /// to be written anyway.
    final var isWatched: Bool { !hasChanges && !isUnread && registry != nil && !flags.contains(.gone) }
}
