import Foundation
import StrataLog
import StrataRuntime
import StrataSupport

extension NSManagedObjectContext {
    // MARK: Finding objects

    /// The object with this ID if it is in memory.
    final func findRegisteredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        adoptPermanentIDs()
        guard let identity = objectID.identity else {
            return registeredObject(SharedRef(objectID.ref, nil, objectID.shape))
        }
        guard let storeIndex = storeIndex(of: identity) else { return nil }
        return registry.object(objectID.ref, storeIndex)
    }

    /// The object with this ID: the one in memory, or a fault, whether its row exists or not.
    ///
    /// - Precondition: a permanent ID names a store of the context's coordinator.
    final func findObject(with objectID: NSManagedObjectID) -> NSManagedObject {
        adoptPermanentIDs()
        if objectID.isTemporaryID {
            let shared = SharedRef(objectID.ref, nil, objectID.shape)
            // One that nobody knows is a fault whose row is gone.
            return object(shared) ?? registry.newUnsavedFault(objectID.ref, objectID.shape)
        }
        guard let identity = objectID.identity, let storeIndex = storeIndex(of: identity) else {
            let removed = objectID.identity.flatMap { coordinator?.removedPath($0) }
            programmerError(
                objectID.shape.name,
                removed.map { "object(with:) was given an ID of the store at \($0), which has been closed" }
                    ?? "object(with:) was given an ID whose store is not one of the context's coordinator",
                "Add the store first, or ask with existingObject(with:), which throws")
        }
        guard let object = object(objectID.ref, storeIndex) else {
            programmerError(
                objectID.shape.name, "object(with:) was given an ID whose store does not hold the entity",
                "Ask with existingObject(with:), which throws")
        }
        return object
    }

    /// The object with this ID, realized.
    ///
    /// - Throws: `CocoaError` 133000 when there is no such object; the store's error when it cannot be read.
    final func findExistingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try refuseLate()
        // SAFETY: the registry keeps its handles. All threads would count references to the same one.
        let store = objectID.identity.flatMap { storeIndex(of: $0) }.flatMap { registry.handleReference($0) }
        try store?.withBorrowed { handle in
            if handle.log.damage.isEmpty { return }
            try handle.checkDamage(of: CollectionOfOne(objectID.ref), in: handle.log.snapshot)
        }
        if let object = registeredObject(for: objectID) {
            if let removed = removalError(of: object) { throw removed }
            guard try realizeIfThere(object), !object.flags.contains(.gone) else { throw Self.missing(objectID) }
            return object
        }
        // The row may have come since a follower has looked, and with it the entity that the object has. Where a child
        // cannot look, its parent does so itself, or has the object already.
        if link != nil {
            store?.withBorrowed { try? $0.catchUp() }
        } else if generation == nil {
            try store?.withBorrowed { try $0.catchUp() }
        }
        if let other = store?.withBorrowed({ named(objectID, $0) }) { return try findExistingObject(with: other) }
        if let link { return try existingObjectFromParent(objectID, link) }
        guard let store else {
            if let path = objectID.identity.flatMap({ coordinator?.removedPath($0) }) {
                throw StoreFailure.removed(path)
            }
            throw Self.missing(objectID)
        }
        try store.withBorrowed { handle in
            if let custom = handle.custom { try custom.prepare(objectID, in: self) }
            // A fault that is found to have no row goes at once, unless the context keeps what it makes.
            if isRetaining { try checkExists(objectID, handle) }
        }
        let object = object(with: objectID)
        guard try realizeIfThere(object) else { throw Self.missing(objectID) }
        return object
    }

    /// The ID with the entity of the object's row, if that is another one than the ID has.
    private func named(_ objectID: NSManagedObjectID, _ handle: StoreHandle) -> NSManagedObjectID? {
        guard let snapshot = snapshot(of: handle) else { return nil }
        let ref = handle.named(objectID.ref, in: snapshot)
        guard ref != objectID.ref, let shape = handle.map.shape(ref.entity) else { return nil }
        return NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape)
    }

    /// - Throws: an error when the store that the context sees has no such row, or it cannot be looked up.
    private func checkExists(_ objectID: NSManagedObjectID, _ handle: StoreHandle) throws {
        guard let snapshot = snapshot(of: handle) else { throw Self.missing(objectID) }
        do {
            guard try !snapshot.locate(objectID.ref).isAbsent else { throw Self.missing(objectID) }
        } catch let error as StoreError {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    static func missing(_ objectID: NSManagedObjectID) -> any Error {
        DescribedError(
            .managedObjectReferentialIntegrity,
            userInfo: [
                NSLocalizedDescriptionKey: "There is no object with the ID \(objectID).",
                NSAffectedObjectsErrorKey: [objectID], "objectID": objectID,
            ])
    }

    /// The object for a reference into a store: the one in memory or a new fault. Nil if the store has no such entity.
    ///
    /// - Parameter owner: the object that refers to it.
    final func object(_ ref: ObjectRef, _ storeIndex: UInt16, of owner: NSManagedObject? = nil) -> NSManagedObject? {
        if let object = registry.object(ref, storeIndex) { return object }
        if ref.entity == 0 || storeIndex == ObjectRegistry.unsavedIndex || storeIndex == 0 {
            return unusualTarget(ref, of: owner)
        }
        guard let object = registry.newFault(ref, storeIndex) else { return nil }
        if isRetaining { retained.append(object) }
        if owner == nil { object.row = faults.expect(ref, storeIndex) }
        return object
    }

    /// The objects for references into a store, in their order.
    final func objects(_ refs: [ObjectRef], _ storeIndex: UInt16, _ handle: StoreHandle) -> [NSManagedObject] {
        let objects = registry.objects(refs, storeIndex, handle: handle)
        if isRetaining { retained += objects }
        return objects
    }

    // MARK: Faults

    /// Reads a fault's row. Never fails: see ``NSManagedObject/realize(_:)``.
    ///
    /// - Parameters:
    ///   - slot: the slot whose value is wanted, -1 for none in particular.
    ///   - given: where the row is looked up; nil for what the context sees.
    final func fulfill(_ object: NSManagedObject, _ slot: Int = -1, in given: Snapshot? = nil) {
        if checksQueue { checkQueue("a fault", object) }
        if object.flags.contains(.inserted) {
            object.flags.formUnion([.realized, .defaultsBelow])
            return
        }
        faults.countFired()
        guard link == nil else { return fulfillFromParent(object, slot) }
        if given == nil, generation == nil, let reference = registry.handleReference(object.storeIndex),
            reference.withBorrowed({ fulfill(object, fromNeighbourIn: $0) })
        {
            return
        }
        // What follows may call the program, which may let go of the context.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        guard let handle = registry.handle(object.storeIndex) else {
            if object.storeIndex == ObjectRegistry.unsavedIndex { inaccessible(object, slot) }
            return
        }
        if handle.isDetached { return recordRemoved(object, handle) }
        if let custom = handle.custom, !undisturbed({ custom.prepare(object, in: self) }) { return }
        do {
            guard let shown = handle.custom == nil ? given ?? snapshot(of: handle) : snapshot(of: handle),
                let location = try Optional(shown.locate(object.ref)), !location.isAbsent
            else {
                inaccessible(object, slot)
                return
            }
            let block = try faults.block(at: location, of: handle, in: shown)
            if given == nil, generation == nil { faults.prefetch(block, location.row) }
            object.attach(block, row: location.row, location: location)
        } catch {
            recordUnreadable(object, error)
            object.flags.insert(.realized)
            return
        }
        awake(object)
    }

    /// Takes the row that was looked up with a neighbour's, if there is one. False if the row is still to be found.
    @inline(__always)
    private final func fulfill(_ object: NSManagedObject, fromNeighbourIn handle: StoreHandle) -> Bool {
        guard !handle.isDetached, handle.custom == nil else { return false }
        do throws(StoreError) {
            guard let found = try faults.neighbourRow(of: object, in: handle, registry) else { return false }
            object.attach(taking: found.block, found.location)
        } catch {
            recordUnreadable(object, error)
            object.flags.insert(.realized)
            return true
        }
        awake(object)
        return true
    }

    private func fulfillFromParent(_ object: NSManagedObject, _ slot: Int) {
        guard let link else { return }
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        do {
            adoptPermanentIDs()
            guard try readFromParent(object, link) else {
                inaccessible(object, slot)
                return
            }
        } catch {
            return recordUnreadable(object, because: error)
        }
        awake(object)
    }

    /// Tells an object that it has been realized.
    @inline(__always)
    final func awake(_ object: NSManagedObject) {
        if object.flags.contains(.refreshing) || object.overrides.contains(.awakeFromFetch) { callAwake(object) }
    }

    @inline(never)
    private final func callAwake(_ object: NSManagedObject) {
        // The program's method may be what lets go of the context.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        undisturbed {
            object.withoutChangeTracking {
                if object.flags.contains(.refreshing) {
                    object.awake(fromSnapshotEvents: .refresh)
                } else {
                    object.awakeFromFetch()
                }
            }
        }
    }

    /// Fires the fault of an object that may be gone, where the program can be told so by an error: it is not asked
    /// what is to become of the fault, which stays one.
    ///
    /// - Returns: whether the object has values now.
    /// - Throws: why it cannot be read.
    final func realizeIfThere(_ object: NSManagedObject) throws -> Bool {
        guard object.isUnread else { return true }
        let outer = readTrouble.triedFault
        readTrouble.triedFault = object
        defer { readTrouble.triedFault = outer }
        try realizeOrThrow(object)
        return !object.isUnread
    }

    /// The fault's row is gone.
    private func inaccessible(_ object: NSManagedObject, _ slot: Int) {
        if object === readTrouble.triedFault { return }
        let property = object.shape.property(atSlot: slot)
        guard shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: property) else {
            programmerError(
                object.shape.name,
                "CoreData could not fulfill a fault for \(object.objectID): its row, or its store, is gone",
                "Let shouldDeleteInaccessibleFaults be true, or return true from"
                    + " shouldHandleInaccessibleFault(_:for:triggeredByProperty:)"
            )
        }
        object.flags.insert([.realized, .gone, .deleted, .deletePropagated])
        pipeline.list(object, in: self)
    }

    /// The custom store that an object is from has none such.
    final func recordInaccessible(_ object: NSManagedObject) { inaccessible(object, -1) }

    // MARK: To-many relationships

    /// Reads the members of a relationship and lays the changes over them.
    final func load(_ state: ToManyState, _ relationship: RelationshipShape, of owner: NSManagedObject) {
        defer { state.isLoaded = true }
        if loadSet(state, relationship, of: owner) { return }
        var stored: [NSManagedObject] = []
        if let link {
            do {
                stored = try membersFromParent(relationship, of: owner, link)
                if relationship.isOrdered { state.numberMembers(stored) }
            } catch {
                recordUnreadable(owner, because: error)
            }
        } else if let handle = registry.handle(owner.storeIndex), handle.isDetached {
            recordRemoved(owner, handle)
        } else if let handle = registry.handle(owner.storeIndex), let snapshot = snapshot(of: handle) {
            do {
                let entries = try storedMembers(relationship, of: owner, in: handle, snapshot)
                let refs = entries.map(\.ref)
                stored = objects(refs, owner.storeIndex, handle)
                faults.expect(members: refs, owner.storeIndex)
                for (object, entry) in zip(stored, entries) where relationship.isOrdered {
                    state.positions[ObjectIdentifier(object)] = entry.position
                }
            } catch let error as StoreError {
                recordUnreadable(owner, error)
            } catch {
                recordUnreadable(owner, because: error)
            }
        }
        if case .link = relationship.storage { state.dropChanges(alreadyIn: stored) }
        state.order = []
        state.members = []
        state.members.reserveCapacity(stored.count + state.added.count)
        for object in stored where !state.removed.contains(object) && state.members.insert(object).inserted {
            if relationship.isOrdered { state.order.append(object) }
        }
        for object in state.added.objects where state.members.insert(object).inserted && relationship.isOrdered {
            state.order.append(object)
        }
        if relationship.isOrdered { state.mergePendingOrder() }
        undoRecorder?.recordLoaded(relationship, state.order, of: owner)
    }

    private func storedMembers(
        _ relationship: RelationshipShape, of owner: NSManagedObject, in handle: StoreHandle, _ snapshot: Snapshot
    ) throws -> [RelationshipReader.Member] {
        if let custom = handle.custom,
            let members = try undisturbed({ try custom.members(relationship, of: owner, in: self) })
        {
            return members
        }
        return try RelationshipReader(handle: handle, snapshot: snapshot).members(relationship, of: owner.ref)
    }

    /// How many members a relationship kept by links has; nil when that is not known without reading them.
    final func linkCount(
        _ relationship: RelationshipShape, _ state: ToManyState, of owner: NSManagedObject
    ) -> Int? {
        guard link == nil, let handle = registry.handle(owner.storeIndex), !handle.isDetached, handle.custom == nil,
            let snapshot = snapshot(of: handle)
        else { return nil }
        return try? RelationshipReader(handle: handle, snapshot: snapshot)
            .count(relationship, of: owner, with: state)
    }

    /// How many members the store has; nil when that is not known without reading them.
    final func storedCount(_ relationship: RelationshipShape, of owner: NSManagedObject) -> Int? {
        if let link {
            let shared = sharedRef(of: owner)
            return try? withParent(link) { try $0.memberCountForChild(relationship.index, of: shared) }
        }
        guard let handle = registry.handle(owner.storeIndex) else { return 0 }
        // Reading the members says what is wrong.
        if handle.isDetached { return nil }
        guard let snapshot = snapshot(of: handle) else { return 0 }
        if let custom = handle.custom, !custom.keepsAllRows { return nil }
        return try? RelationshipReader(handle: handle, snapshot: snapshot).count(relationship, of: owner.ref)
    }
}
