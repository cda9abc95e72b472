import Dispatch
import Foundation
import StrataLog

/// One save of a context, from the changed objects to the notifications.
final class ContextSave {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let registry: ObjectRegistry
    private var parts: [StoreSave] = []
    /// What may take the save back as long as it waits for its turn.
    let control: RequestControl?
    /// Whether one of the stores has been written.
    var isBegun: Bool { parts.contains { $0.isWritten } }
    /// For each shape, the store index its inserted objects go to; 0 when not looked up yet.
    private var stores: [UInt16]

    init(
        _ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator, _ control: RequestControl? = nil
    ) {
        self.control = control
        self.context = context
        self.coordinator = coordinator
        registry = context.registry
        stores = [UInt16](repeating: 0, count: coordinator.shapes.shapes.count)
    }

    /// Sorts the changed objects by store and reserves keys for the new ones.
    func prepare() throws {
        let all = context.classifiedChanges()
        try reserveKeys(all.inserted)
        if let handle = coordinator.onlyHandle {
            let index = registry.storeIndex(of: handle)
            // Where the context has known others, some objects may be of a store that was removed.
            if registry.handles.count == 1 {
                part(index).changes = all
                return
            }
        }
        try distribute(all)
        for object in context.required where object.isWatched { _ = part(object.storeIndex) }
    }

    /// The store has newer rows, and a merge policy may have changed objects: computes what is derived anew, and sorts
    /// the objects anew into the parts that are not written yet.
    ///
    /// - Parameter merged: what the policy was asked about. That has to be valid again, as has all that changed with it.
    /// - Throws: `CocoaError` with a validation code; the store's error.
    func recollect(validating merged: [NSManagedObject]) throws {
        let changed = merged.filter { !$0.flags.contains(.inEvent) } + context.event
        context.processPendingChanges()
        try context.updateDerivedAttributes(isFirst: false)
        if !merged.isEmpty { try context.validateChanges(ContiguousArray(changed)) }
        context.reportedInserts = nil
        context.reportedInsertOrder = nil
        context.reportedDeletes = nil
        context.reportedDeleteOrder = nil
        let all = context.classifiedChanges()
        try reserveKeys(all.inserted)
        for part in parts where !part.isWritten { part.changes = ObjectChanges() }
        try distribute(all)
    }

    private func distribute(_ all: ObjectChanges) throws {
        func add(
            _ object: NSManagedObject, _ storeIndex: UInt16,
            _ list: WritableKeyPath<ObjectChanges, ContiguousArray<NSManagedObject>>
        ) {
            let part = part(storeIndex)
            if !part.isWritten { part.changes[keyPath: list].append(object) }
        }
        for object in all.inserted { add(object, try storeIndex(for: object), \.inserted) }
        for object in all.updated { add(object, object.storeIndex, \.updated) }
        for object in all.deleted { add(object, object.storeIndex, \.deleted) }
    }

    private func part(_ storeIndex: UInt16) -> StoreSave {
        if let part = parts.last, part.storeIndex == storeIndex { return part }
        if let part = parts.first(where: { $0.storeIndex == storeIndex }) { return part }
        let part = StoreSave(context, registry.handles[Int(storeIndex) - 1], storeIndex, owner: self)
        parts.append(part)
        return part
    }

    /// The store that an inserted object is saved to.
    func storeIndex(for object: NSManagedObject) throws -> UInt16 {
        if object.storeIndex != 0 { return object.storeIndex }
        if !context.assignments.isEmpty, let store = context.assignments[ObjectIdentifier(object)] {
            return registry.storeIndex(of: try coordinator.handle(ofOwn: store))
        }
        let known = stores[object.shape.index]
        if known != 0 { return known }
        guard let handle = coordinator.handle(holding: object.shape) else {
            if let readOnly = coordinator.readOnlyHandle(holding: object.shape) {
                throw StoreFailure.readOnly(readOnly)
            }
            throw NSManagedObjectContext.noStore(for: object)
        }
        let index = registry.storeIndex(of: handle)
        stores[object.shape.index] = index
        return index
    }

    /// Reserves permanent keys, in runs, for those of the objects that have none. A key once reserved stays with its
    /// object through failed saves.
    func reserveKeys(_ objects: ContiguousArray<NSManagedObject>) throws {
        if coordinator.hasCustomStores { try obtainReferences(objects) }
        var spaces: [KeySpace] = []
        // Objects mostly come in runs of one entity, which are looked up once, unless some are assigned to stores.
        let hasRuns = context.assignments.isEmpty
        var run = KeyRun()
        try objects.forEachUnretained { object in
            guard needsKey(object) else { return }
            if !hasRuns || run.shapeID != object.shapeID { run = try keyRun(of: object, &spaces) }
            spaces[run.space].count += 1
        }
        for index in spaces.indices {
            let handle = registry.handles[Int(spaces[index].store) - 1]
            spaces[index].next = handle.log.allocateKeys(
                root: handle.map.root(at: spaces[index].root), count: spaces[index].count)
        }
        try objects.forEachUnretained { object in
            guard needsKey(object) else { return }
            if !hasRuns || run.shapeID != object.shapeID { run = try keyRun(of: object, &spaces) }
            let ref = ObjectRef(entity: run.entity, key: spaces[run.space].next)
            object.version.location = Location(rawValue: ref.rawValue)
            spaces[run.space].next += 1
        }
    }

    /// The space that the keys of an object's entity come from, added if need be. There are few, by store and root
    /// entity, so that searching a list is quick.
    private func keyRun(of object: NSManagedObject, _ spaces: inout [KeySpace]) throws -> KeyRun {
        let store = try storeIndex(for: object)
        let root = object.shape.rootIndex
        let index = spaces.firstIndex { $0.root == root && $0.store == store } ?? spaces.count
        if index == spaces.count {
            spaces.append(KeySpace(store: store, root: root, map: registry.handles[Int(store) - 1].map))
        }
        return KeyRun(
            shapeID: object.shapeID, space: index, entity: spaces[index].map.numbers[object.shape.index])
    }

    /// Where objects of one shape get their keys.
    private struct KeyRun {
        /// No shape has the ID 0.
        var shapeID: UInt32 = 0
        var space = 0
        var entity: UInt16 = 0
    }

    private func needsKey(_ object: NSManagedObject) -> Bool {
        object.storeIndex == 0 && object.version.location.isAbsent
    }

    /// Has custom stores name the objects that go to them.
    private func obtainReferences(_ objects: ContiguousArray<NSManagedObject>) throws {
        var byStore: [UInt16: [NSManagedObject]] = [:]
        for object in objects where needsKey(object) {
            let store = try storeIndex(for: object)
            if registry.handles[Int(store) - 1].custom != nil { byStore[store, default: []].append(object) }
        }
        for (store, named) in byStore {
            guard let custom = registry.handles[Int(store) - 1].custom else { continue }
            for (object, ref) in zip(named, try custom.references(for: named)) {
                object.version.location = Location(rawValue: ref.rawValue)
            }
        }
    }

    private struct KeySpace {
        var store: UInt16
        var root: Int
        var map: StoreMap
        var count = 0
        var next: UInt64 = 0
    }

    /// Writes each store's part, and after each tells the objects and everybody who listens.
    ///
    /// - Returns: what lets go of the objects, once the caller has returned from here; nil when they are few.
    func commit() throws -> SaveDisposal? {
        var insertedIDs: SavedIDs?
        var deletedIDs: SavedIDs?
        if parts.count == 1, let part = parts.first {
            insertedIDs = SavedIDs(part.changes.inserted, part.handle.identity, keepsOrder: false)
            deletedIDs = SavedIDs(part.changes.deleted, part.handle.identity, keepsOrder: true)
            // Deletions leave the other core little to encode.
            deletedIDs?.start()
            part.insertedIDs = insertedIDs
        }
        // A merge policy may add parts.
        var next = 0
        while next < parts.count {
            do {
                try parts[next].write()
            } catch {
                throw keepWhatIsWritten(error, failed: parts[next])
            }
            next += 1
        }
        var all = finish(parts, deletedIDs)
        // Every inserted object has been reported; if that was in one notification, its list has mostly been taken over.
        if let set = context.reportedInserts, let order = context.reportedInsertOrder, all.inserted.isSame(order) {
            all.insertedSet = set
        }
        // What was reported as deleted may have been brought back, and others have been deleted by a merge.
        if let set = context.reportedDeletes, let order = context.reportedDeleteOrder, all.deleted.isSame(order) {
            all.deletedSet = set
        }
        context.forgetReports()
        let (leftovers, overrides) = (context.changed, context.overrides)
        context.changed = []
        context.assignments = [:]
        context.required = []
        let isTold = overrides.contains(.didSave)
        leftovers.forEachUnretained { _ = context.settle($0, isTold: isTold) }
        // The changes that the merge policy made are part of the save, not of a new event.
        context.dropEvent()
        context.callDidSave(leftovers, deleted: all.deleted, overrides)
        context.advanceGeneration()
        all.postSaved(from: context, extra: context.generationInfo(coordinator.saveInfo(parts)))
        all.postSavedIDs(
            from: context, insertedIDs: insertedIDs?.set(of: all.inserted), deletedIDs: deletedIDs?.set(of: all.deleted)
        )
        context.tellChildren(all)
        coordinator.didSave(parts, all, from: context)
        parts = []
        return SaveDisposal(leftovers, all, [insertedIDs, deletedIDs].compactMap { $0 })
    }

    /// One store has failed. What others got before it is saved: those objects are done.
    ///
    /// - Returns: the error itself if nothing was written before it, else one with code 134040.
    private func keepWhatIsWritten(_ error: any Error, failed: StoreSave) -> any Error {
        let written = parts.filter { $0.isWritten && !$0.changes.isEmpty }
        if written.isEmpty { return error }
        let saved = finish(written)
        let objects = saved.inserted + saved.updated + saved.deleted
        objects.forEachUnretained { _ = context.settle($0) }
        context.forgetReports()
        context.changed.removeAll { !$0.flags.contains(.listed) }
        context.callDidSave(objects, deleted: saved.deleted, .all)
        coordinator.didSave(written, saved, from: context)
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "One of the stores could not be saved, others were.",
            NSAffectedObjectsErrorKey: Array(context.changed), NSUnderlyingErrorKey: error as NSError,
        ]
        if let store = failed.handle.store { info[NSAffectedStoresErrorKey] = [store] }
        return DescribedError(.persistentStoreIncompleteSave, userInfo: info)
    }

    /// Brings the objects in line with what the parts have written, and gives all parts' changes.
    private func finish(_ parts: [StoreSave], _ deletedIDs: SavedIDs? = nil) -> ObjectChanges {
        for part in parts {
            part.finish()
            if let receipt = part.receipt { context.noteSaved(receipt.sequence, part.handle) }
        }
        var all = parts.first?.changes ?? ObjectChanges()
        for part in parts.dropFirst() {
            all.inserted += part.changes.inserted
            all.updated += part.changes.updated
            all.deleted += part.changes.deleted
        }
        // Now, as an object that has left the context does not know its store.
        if deletedIDs?.give(to: all.deleted) != true { all.deleted.forEachUnretained { _ = $0.objectID } }
        return all
    }

    /// Lets go of objects that were changed when nothing of that is left to be saved.
    func finishWithoutChanges() {
        let leftovers = context.changed
        context.changed = []
        context.assignments = [:]
        context.forgetReports()
        leftovers.forEachUnretained { _ = context.settle($0, isTold: false) }
    }
}

extension ContiguousArray {
    /// Whether both share their memory.
    fileprivate func isSame(_ other: Self) -> Bool {
        count == other.count
            && withUnsafeBufferPointer(\.baseAddress) == other.withUnsafeBufferPointer(\.baseAddress)
    }
}
