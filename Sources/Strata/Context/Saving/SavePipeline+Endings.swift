import Foundation
import StrataLog

// Where the changes go, and handing them over.
extension SavePipeline {
    /// Whether one of the endings has got its part: from then on the save is not taken back.
    var isBegun: Bool { stores.contains { $0.isWritten } }

    private var endings: [any SaveEnding] { parent.map { [$0] } ?? stores }

    /// Takes what has arrived in other stores out of the state of change, before a merge policy and those who listen
    /// change objects: what they change of these is a change of its own, which gets another ending.
    func settle() {
        guard isBegun else { return }
        for ending in stores where ending.isWritten && !ending.isSettled {
            ending.isSettled = true
            ending.finish()
            let objects = ending.changes.inserted + ending.changes.updated + ending.changes.deleted
            objects.forEachUnretained { clearChanges(of: $0, isTold: overrides.contains(.didSave)) }
            settled += objects
        }
        changed.removeAll { !$0.flags.contains(.listed) }
    }

    /// Sorts the changed objects by where they go, and reserves keys for the new ones.
    func makeEndings(_ coordinator: NSPersistentStoreCoordinator) throws {
        let all = classifiedChanges()
        if let link = context.link {
            parent = ParentEnding(context, link, all)
            return
        }
        var keys = KeyReservation(context, coordinator)
        try keys.reserve(for: all.inserted)
        if let handle = coordinator.onlyHandle {
            let index = registry.storeIndex(of: handle)
            // Where the context has known others, some objects may be of a store that was removed.
            if registry.handles.count == 1 {
                let ending = makeEnding(index)
                ending.changes = all
                stores = [ending]
                return
            }
        }
        try distribute(all, &keys)
        for object in required where object.isWatched { _ = ending(object.storeIndex) }
    }

    /// A store has newer rows, and a merge policy may have changed objects: computes what is derived anew, and sorts
    /// the objects anew into the parts that are not written yet.
    ///
    /// - Parameter merged: what the policy was asked about. That has to be valid again, as has all that changed with
    ///   it.
    /// - Throws: `CocoaError` with a validation code; the store's error.
    func recollect(validating merged: [NSManagedObject]) throws {
        let changed = merged.filter { !$0.flags.contains(.inEvent) } + event
        context.processPendingChanges()
        let asksAgain = !merged.isEmpty && overrides.contains(.willSave)
        if asksAgain { try callWillSave(again: changed) }
        try updateDerivedAttributes(isFirst: false)
        if !merged.isEmpty { try validateChanges(asksAgain ? self.changed : ContiguousArray(changed)) }
        insertReports.drop()
        deleteReports.drop()
        guard let coordinator = context.coordinator else { throw SaveFailure.noStore(for: merged.first) }
        var keys = KeyReservation(context, coordinator)
        let all = classifiedChanges()
        try keys.reserve(for: all.inserted)
        for ending in stores where !ending.isWritten { ending.changes = ObjectChanges() }
        try distribute(all, &keys)
    }

    private func distribute(_ all: ObjectChanges, _ keys: inout KeyReservation) throws {
        try refuseExternalRelationships(all, &keys)
        func add(
            _ object: NSManagedObject, _ storeIndex: UInt16,
            _ list: WritableKeyPath<ObjectChanges, ContiguousArray<NSManagedObject>>
        ) {
            ending(storeIndex).changes[keyPath: list].append(object)
        }
        for object in all.inserted { add(object, try keys.storeIndex(for: object), \.inserted) }
        for object in all.updated { add(object, object.storeIndex, \.updated) }
        for object in all.deleted { add(object, object.storeIndex, \.deleted) }
    }

    /// The ending of a store that is not written yet, added if need be.
    private func ending(_ storeIndex: UInt16) -> StoreEnding {
        if let last = stores.last, last.storeIndex == storeIndex, !last.isWritten { return last }
        if let known = stores.first(where: { $0.storeIndex == storeIndex && !$0.isWritten }) { return known }
        let ending = makeEnding(storeIndex)
        stores.append(ending)
        return ending
    }

    /// An ending for a store, which the context knows by this index.
    func makeEnding(_ storeIndex: UInt16) -> StoreEnding {
        let handle = registry.handles[Int(storeIndex) - 1]
        return handle.custom.map { CustomStoreEnding(context, handle, storeIndex, $0) }
            ?? StoreEnding(context, handle, storeIndex)
    }

    /// Hands the changes over, by way of the coordinator's `execute(_:with:)` if that may be overridden.
    func handOver(_ coordinator: NSPersistentStoreCoordinator) throws {
        guard let overridable = context.overridableCoordinator else { return try write(coordinator) }
        func all(_ list: KeyPath<ObjectChanges, ContiguousArray<NSManagedObject>>) -> Set<NSManagedObject> {
            Set(stores.flatMap { $0.changes[keyPath: list] })
        }
        isHandOverAsked = true
        _ = try overridable.execute(
            NSSaveChangesRequest(
                inserted: all(\.inserted), updated: all(\.updated), deleted: all(\.deleted),
                locked: required.filter(\.isWatched)),
            with: context)
    }

    /// Hands the changes over if a save has asked for that.
    func writeAsAsked(_ coordinator: NSPersistentStoreCoordinator) throws -> Bool {
        // What has reached no store may be tried again.
        guard isHandOverAsked, !isBegun else { return false }
        try write(coordinator)
        return true
    }

    /// Hands each part over. What other stores got before one fails is saved: those objects are done.
    func write(_ coordinator: NSPersistentStoreCoordinator) throws {
        if stores.count == 1 { stores[0].prepareIDs() }
        // A merge policy may add endings.
        var next = 0
        while next < endings.count {
            do {
                try endings[next].write()
            } catch {
                throw keepWhatIsWritten(error, failed: endings[next], coordinator)
            }
            next += 1
        }
    }

    /// - Returns: the error itself if nothing was written before it, else one with code 134040.
    private func keepWhatIsWritten(
        _ error: any Error, failed: any SaveEnding, _ coordinator: NSPersistentStoreCoordinator
    ) -> any Error {
        let written = stores.filter { $0.isWritten && !$0.changes.isEmpty }
        if written.isEmpty { return error }
        stores = written
        settle()
        let saved = finishEndings()
        settled = []
        forgetReports()
        callDidSave(saved.inserted + saved.updated + saved.deleted, deleted: saved.deleted, overrides)
        context.tellChildren(saved)
        coordinator.didSave(stores, saved, from: context)
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "One of the stores could not be saved, others were.",
            NSAffectedObjectsErrorKey: Array(changed), NSUnderlyingErrorKey: error as NSError,
        ]
        if let store = (failed as? StoreEnding)?.handle.store { info[NSAffectedStoresErrorKey] = [store] }
        return DescribedError(.persistentStoreIncompleteSave, userInfo: info)
    }

    /// Brings the objects in line with what the endings have written.
    ///
    /// - Returns: all their changes.
    func finishEndings() -> ObjectChanges {
        let endings = endings
        for ending in endings { ending.finish() }
        var all = endings.first?.changes ?? ObjectChanges()
        for ending in endings.dropFirst() {
            all.inserted += ending.changes.inserted
            all.updated += ending.changes.updated
            all.deleted += ending.changes.deleted
        }
        if !settled.isEmpty { all.dropRepeated() }
        // Now, as an object that has left the context does not know its store.
        let ids = stores.count == 1 ? stores[0].deletedIDs : nil
        if ids?.give(to: all.deleted) != true { all.deleted.forEachUnretained { _ = $0.objectID } }
        return all
    }

    /// Lets go of the endings, and so of their lists of objects.
    func forgetEndings() { (stores, parent, settled) = ([], nil, []) }
}
