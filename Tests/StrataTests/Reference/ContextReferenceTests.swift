import CoreData
import Foundation
import Testing

/// What Core Data's reference says of `NSManagedObjectContext`, where no other suite says it.
@Suite struct ContextReferenceTests {
    private func pair(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        return (store, store.context(), store.context())
    }

    private func probe(_ name: String, _ context: NSManagedObjectContext) -> Probe {
        let probe = Probe(context: context)
        probe.name = name
        return probe
    }

    @Test func defaults() throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(context.concurrencyType == .privateQueueConcurrencyType)
        #expect(context.mergePolicy as? NSMergePolicy === NSMergePolicy.error)
        #expect(context.undoManager == nil && context.parent == nil && context.persistentStoreCoordinator == nil)
        #expect(context.stalenessInterval == -1 && context.propagatesDeletesAtEndOfEvent)
        #expect(!context.retainsRegisteredObjects && context.shouldDeleteInaccessibleFaults)
        #expect(!context.automaticallyMergesChangesFromParent && context.queryGenerationToken == nil)
        #expect(context.name == nil && context.transactionAuthor == nil)
        #expect(context.userInfo.count == 0 && context.userInfo === context.userInfo)
        context.userInfo["key"] = 1
        #expect(context.userInfo["key"] as? Int == 1)
        #expect(!context.hasChanges && context.registeredObjects.isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func objectsByID(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        let ids = try there.performAndWait {
            let probes = ["a", "b"].map { probe($0, there) }
            try there.save()
            return probes.map(\.objectID)
        }
        try here.check { () throws in
            #expect(here.registeredObject(for: ids[0]) == nil)
            let fault = here.object(with: ids[0])
            #expect(fault.isFault && here.registeredObject(for: ids[0]) === fault)
            let existing = try here.existingObject(with: ids[0])
            #expect(existing === fault && !existing.isFault)
            #expect(here.object(with: ids[0]) === fault)
            let new = probe("new", here)
            #expect(try here.existingObject(with: new.objectID) === new)
            #expect(here.registeredObject(for: new.objectID) === new)
        }
        let gone = here.performAndWait { here.object(with: ids[1]) }
        try there.check { () throws in
            there.delete(try there.existingObject(with: ids[1]))
            try there.save()
        }
        try here.check { () throws in
            #expect(gone.isFault)
            let error = #expect(throws: CocoaError.self) { try here.existingObject(with: ids[1]) }
            #expect(error?.errorCode == NSManagedObjectReferentialIntegrityError)
        }
        withExtendedLifetime(store) {}
    }

    /// "Encapsulates an autorelease pool and a call to processPendingChanges".
    @Test(arguments: StoreKind.allCases) func performEndsAnEvent(_ kind: StoreKind) async throws {
        let (store, here, _) = try pair(kind)
        let changes = SaveRecorder(.NSManagedObjectContextObjectsDidChange, here)
        let name = await here.perform { probe("a", here).name }
        #expect(name == "a" && changes.infos.count == 1)
        await here.perform { _ = here.registeredObjects.count }
        #expect(changes.infos.count == 1)
        withExtendedLifetime(store) {}
    }

    /// Only of `perform` do Apple's headers say that it does.
    @Test(arguments: StoreKind.allCases) func performAndWaitEndsAnEventUnlessItIsNested(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        let changes = SaveRecorder(.NSManagedObjectContextObjectsDidChange, here)
        here.performAndWait {
            here.performAndWait { _ = probe("a", here) }
            #expect(changes.infos.isEmpty)
            _ = probe("b", here)
        }
        #expect(changes.infos.count == 1)
        here.performAndWait { _ = probe("c", here) }
        #expect(changes.infos.count == 2)
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func refreshAllKeepsChangesAndReadsAnew(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        try here.check { () throws in
            let (clean, dirty) = (probe("clean", here), probe("dirty", here))
            try here.save()
            try there.check { () throws in
                for probe in try fetchAll(Probe.self, "Probe", there) { (probe.name, probe.count) = ("theirs", 7) }
                try there.save()
            }
            dirty.name = "mine"
            let new = probe("new", here)
            here.refreshAllObjects()
            #expect(clean.name == "theirs" && clean.count == 7 && !clean.hasChanges)
            #expect(dirty.name == "mine" && dirty.count == 7 && dirty.isUpdated)
            #expect(new.name == "new" && new.isInserted)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func refreshingWithoutMergingLosesTheChanges(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.check { () throws in
            let (first, second) = (probe("a", here), probe("b", here))
            first.parent = second
            try here.save()
            first.name = "x"
            first.parent = nil
            here.refresh(first, mergeChanges: false)
            #expect(first.isFault && !here.updatedObjects.contains(first) && !first.hasChanges)
            #expect(first.name == "a")
        }
        withExtendedLifetime(store) {}
    }

    /// Merging any of the notifications that tell of a save.
    @Test(arguments: StoreKind.allCases, ["objects", "ids", "remote ids", "remote uris", "history"])
    func savesAreMerged(_ kind: StoreKind, by form: String) throws {
        let (store, here, there) = try pair(kind)
        let saved = SaveRecorder(.NSManagedObjectContextDidSave, there)
        let savedIDs = SaveRecorder(.NSManagedObjectContextDidSaveObjectIDs, there)
        let (changed, deleted, unknown) = try there.performAndWait {
            let probes = ["a", "b", "c"].map { probe($0, there) }
            try there.save()
            return (probes[0], probes[1], probes[2])
        }
        let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let (ourChanged, ourDeleted) = try here.performAndWait {
            (
                try #require(try here.existingObject(with: changed.objectID) as? Probe),
                try #require(try here.existingObject(with: deleted.objectID) as? Probe)
            )
        }
        let inserted = try there.performAndWait {
            changed.name = "changed"
            unknown.name = "changed, too"
            there.delete(deleted)
            let inserted = probe("new", there)
            try there.save()
            return inserted.objectID
        }
        let changes = SaveRecorder(.NSManagedObjectContextObjectsDidChange, here)
        try here.check { () throws in
            func note(_ name: Notification.Name, _ recorder: SaveRecorder) -> Notification {
                Notification(name: name, object: there, userInfo: recorder.infos.last)
            }
            switch form {
            case "objects":
                here.mergeChanges(fromContextDidSave: note(.NSManagedObjectContextDidSave, saved))
            case "ids":
                here.mergeChanges(fromContextDidSave: note(.NSManagedObjectContextDidSaveObjectIDs, savedIDs))
            case "history":
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try here.execute(request) as? NSPersistentHistoryResult
                for transaction in try #require(result?.result as? [NSPersistentHistoryTransaction]) {
                    here.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
            default:
                let ids = [
                    NSInsertedObjectsKey: [inserted], NSUpdatedObjectsKey: [changed.objectID, unknown.objectID],
                    NSDeletedObjectsKey: [deleted.objectID],
                ]
                let uris = ids.mapValues { $0.map { $0.uriRepresentation() } }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: form == "remote ids" ? ids : uris, into: [here])
            }
            here.processPendingChanges()
            #expect(ourChanged.name == "changed" && !ourChanged.hasChanges)
            #expect(ourDeleted.isDeleted && here.deletedObjects == [ourDeleted])
            #expect(here.registeredObject(for: inserted) != nil)
            #expect(here.registeredObject(for: unknown.objectID) == nil)
            #expect(here.insertedObjects.isEmpty && here.updatedObjects.isEmpty)
            let told = changes.infos.flatMap { ($0[NSInsertedObjectsKey] as? Set<NSManagedObject>) ?? [] }
            #expect(told.map(\.objectID) == [inserted])
            let gone = changes.infos.flatMap { ($0[NSDeletedObjectsKey] as? Set<NSManagedObject>) ?? [] }
            #expect(gone == [ourDeleted])
        }
    }

    @Test(arguments: StoreKind.allCases) func permanentIDsBeforeTheSave(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.check { () throws in
            let (first, second) = (probe("a", here), probe("b", here))
            first.parent = second
            let temporary = first.objectID
            try here.obtainPermanentIDs(for: [first, second, first])
            #expect(temporary.isTemporaryID && !first.objectID.isTemporaryID && first.objectID != temporary)
            #expect(first.isInserted && here.insertedObjects == [first, second])
            let permanent = first.objectID
            try here.obtainPermanentIDs(for: [first])
            try here.save()
            #expect(first.objectID == permanent && here.registeredObject(for: permanent) === first)
            #expect(store.coordinator.managedObjectID(forURIRepresentation: permanent.uriRepresentation()) == permanent)
        }
    }

    /// Held are objects "necessary for a pending save (inserted, updated, deleted, or locked)".
    @Test(arguments: StoreKind.allCases) func objectsToDetectConflictsForAreKept(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        let id = try there.performAndWait {
            let probe = probe("a", there)
            try there.save()
            return probe.objectID
        }
        here.performAndWait { here.detectConflicts(for: here.object(with: id)) }
        here.performAndWait { #expect(here.registeredObject(for: id) != nil) }
        try here.check { () throws in try here.save() }
        here.performAndWait { #expect(here.registeredObject(for: id) == nil) }
        withExtendedLifetime(store) {}
    }

    /// "Will always reject NSSaveChangesRequests."
    @Test(arguments: StoreKind.allCases) func saveRequestsAreNotExecuted(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.check { () throws in
            let probe = probe("a", here)
            let request = NSSaveChangesRequest(
                inserted: [probe], updated: nil, deleted: nil, locked: nil)
            let error = #expect(throws: CocoaError.self) { try here.execute(request) }
            #expect(error?.errorCode == NSPersistentStoreUnsupportedRequestTypeError && probe.isInserted)
        }
        withExtendedLifetime(store) {}
    }

    /// What can throw does not ask what is to become of a fault without row, nor does it stop the program.
    @Test(arguments: StoreKind.allCases, [false, true]) func existingObjectsAskNobody(
        _ kind: StoreKind, inChild: Bool
    ) throws {
        let (store, _, there) = try pair(kind)
        let root = FaultingTests.AskedContext(.privateQueue)
        root.persistentStoreCoordinator = store.coordinator
        let here = inChild ? FaultingTests.AskedContext(.privateQueue) : root
        if inChild { here.parent = root }
        for context in [root, here] { context.performAndWait { context.shouldDeleteInaccessibleFaults = false } }
        let theirs = try there.performAndWait {
            let probe = probe("a", there)
            try there.save()
            return probe
        }
        let fault = here.performAndWait { here.object(with: theirs.objectID) }
        let parents = root.performAndWait { root.object(with: theirs.objectID) }
        try there.check { () throws in
            there.delete(theirs)
            try there.save()
        }
        here.performAndWait {
            let error = #expect(throws: CocoaError.self) { try here.existingObject(with: fault.objectID) }
            #expect(error?.errorCode == NSManagedObjectReferentialIntegrityError)
            #expect(here.asked.isEmpty && !fault.isDeleted && here.deletedObjects.isEmpty && fault.isFault)
            here.shouldDeleteInaccessibleFaults = true
            #expect(fault.value(forKey: "name") == nil && fault.isDeleted && here.asked == ["name"])
        }
        if inChild { root.performAndWait { #expect(root.asked.isEmpty && parents.isFault) } }
    }

    @Test(arguments: StoreKind.allCases) func generationsBeginWithTheFirstReadAndOutliveBatches(
        _ kind: StoreKind
    ) throws {
        let (store, here, there) = try pair(kind)
        try here.check { () throws in try here.setQueryGenerationFrom(.current) }
        func count() throws -> Int { try here.count(for: NSFetchRequest<Probe>(entityName: "Probe")) }
        func insert() throws {
            try there.check { () throws in
                _ = probe("a", there)
                try there.save()
            }
        }
        try insert()
        try here.check { () throws in #expect(try count() == 1) }
        try insert()
        try here.check { () throws in
            #expect(try count() == 1)
            let pinned = here.queryGenerationToken
            let update = NSBatchUpdateRequest(entityName: "Probe")
            update.propertiesToUpdate = ["name": "b"]
            update.resultType = .updatedObjectsCountResultType
            #expect((try here.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
            #expect(try count() == 1 && here.queryGenerationToken == pinned)
            #expect(try fetchAll(Probe.self, "Probe", here).map(\.name) == ["a"])
            try here.setQueryGenerationFrom(nil)
            #expect(try count() == 2 && here.queryGenerationToken == nil)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func resetForgetsEverything(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.check { () throws in
            let saved = probe("a", here)
            try here.save()
            let new = probe("b", here)
            saved.name = "x"
            here.reset()
            #expect(here.registeredObjects.isEmpty && !here.hasChanges && here.insertedObjects.isEmpty)
            #expect(saved.managedObjectContext == nil && new.managedObjectContext == nil)
            #expect(try fetchAll(Probe.self, "Probe", here).map(\.name) == ["a"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func theSetsOfAnEvent(_ kind: StoreKind) throws {
        let (store, here, _) = try pair(kind)
        try here.check { () throws in
            let (parent, child, peer) = (probe("parent", here), probe("child", here), probe("peer", here))
            child.parent = parent
            parent.peers = [peer]
            try here.save()
            let changes = SaveRecorder(.NSManagedObjectContextObjectsDidChange, here)
            here.delete(parent)
            #expect(parent.isDeleted && changes.infos.isEmpty)
            here.processPendingChanges()
            #expect(changes.infos.count == 1)
            #expect(changes.infos[0][NSDeletedObjectsKey] as? Set<NSManagedObject> == [parent, child])
            #expect(changes.infos[0][NSUpdatedObjectsKey] as? Set<NSManagedObject> == [peer])
            #expect(here.deletedObjects == [parent, child] && here.updatedObjects == [peer])
            here.processPendingChanges()
            #expect(changes.infos.count == 1)
        }
        withExtendedLifetime(store) {}
    }

    /// A fetch gives objects as the context has them, whatever is stored.
    @Test(arguments: StoreKind.allCases) func fetchedObjectsKeepTheirValues(_ kind: StoreKind) throws {
        let (store, here, there) = try pair(kind)
        try here.check { () throws in
            let mine = probe("a", here)
            try here.save()
            try there.check { () throws in
                try fetchAll(Probe.self, "Probe", there)[0].name = "theirs"
                try there.save()
            }
            #expect(try fetchAll(Probe.self, "Probe", here) == [mine] && mine.name == "a")
            // The store decides what is found.
            #expect(try fetchAll(Probe.self, "Probe", here, NSPredicate(format: "name == 'theirs'")) == [mine])
            #expect(try fetchAll(Probe.self, "Probe", here, NSPredicate(format: "name == 'a'")).isEmpty)
            here.delete(mine)
            #expect(try fetchAll(Probe.self, "Probe", here).isEmpty)
            #expect(try here.count(for: NSFetchRequest<Probe>(entityName: "Probe")) == 0)
        }
        withExtendedLifetime(store) {}
    }

    /// Parents come first, whatever the order in which they are named.
    @Test(arguments: StoreKind.allCases) func remoteChangesReachContextsAndTheirChildren(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let other = line.store.context()
        let id = try other.performAndWait {
            let employee = Employee(context: other)
            try other.save()
            return employee.objectID
        }
        let ours = try line.child.performAndWait { try #require(line.child.existingObject(with: id) as? Employee) }
        try other.check { () throws in
            (other.object(with: id) as? Employee)?.age = 77
            try other.save()
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [line.child, line.root])
        line.child.performAndWait { #expect(ours.age == 77) }
    }

    @Test(arguments: StoreKind.allCases) func blocksRunAtOnceOrInTurn(_ kind: StoreKind) async throws {
        let (store, here, _) = try pair(kind)
        let order = try await here.perform(schedule: .enqueued) {
            nonisolated(unsafe) var order = ["outer"]
            here.performAndWait { order.append("nested") }
            here.perform { order.append("later") }
            order.append("outer again")
            try here.save()
            return order
        }
        #expect(order == ["outer", "nested", "outer again"])
        #expect(await here.perform(schedule: .immediate) { here.hasChanges } == false)
        withExtendedLifetime(store) {}
    }

    #if os(Linux) || os(macOS)
    @Test func aCoordinatorIsSetOnce() async {
        await #expect(processExitsWith: .failure) { try TestStore(.memory).context().persistentStoreCoordinator = nil }
        await #expect(processExitsWith: .failure) {
            let (first, second) = (try TestStore(.memory), try TestStore(.memory))
            first.context().persistentStoreCoordinator = second.coordinator
        }
        await #expect(processExitsWith: .success) {
            let store = try TestStore(.memory)
            store.context().persistentStoreCoordinator = store.coordinator
            NSManagedObjectContext(.privateQueue).persistentStoreCoordinator = nil
        }
    }

    @Test func faultsWithoutRowAreLogged() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let (here, there) = (store.context(), store.context())
            let id = try there.performAndWait {
                let employee = Employee(context: there)
                try there.save()
                return employee.objectID
            }
            try here.check { () throws in
                let fault = try #require(here.object(with: id) as? Employee)
                try there.check { () throws in
                    there.delete(there.object(with: id))
                    try there.save()
                }
                _ = (fault.age, fault.age)
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.components(separatedBy: "Employee.age").count == 2)
    }
    #endif

    @Test func keysOfNotifications() {
        typealias Key = NSManagedObjectContext.NotificationKey
        #expect(Key.insertedObjects.rawValue == NSInsertedObjectsKey)
        #expect(Key.updatedObjects.rawValue == NSUpdatedObjectsKey)
        #expect(Key.deletedObjects.rawValue == NSDeletedObjectsKey)
        #expect(Key.refreshedObjects.rawValue == NSRefreshedObjectsKey)
        #expect(Key.invalidatedObjects.rawValue == NSInvalidatedObjectsKey)
        #expect(Key.invalidatedAllObjects.rawValue == NSInvalidatedAllObjectsKey)
        #expect(Key.insertedObjectIDs.rawValue == NSInsertedObjectIDsKey)
        #expect(Key.deletedObjectIDs.rawValue == NSDeletedObjectIDsKey)
        #expect(Key.queryGeneration.rawValue == NSManagedObjectContextQueryGenerationKey)
        #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
        #expect(NSManagedObjectContext.willSaveObjectsNotification == .NSManagedObjectContextWillSave)
        #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
    }
}
