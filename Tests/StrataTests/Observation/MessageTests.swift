import CoreData
import Foundation
import Synchronization
import Testing

/// What typed messages say, and when they come.
@Suite struct MessageTests {
    @MainActor @Test(arguments: StoreKind.allCases) func mainQueueContextsTellTheMainActor(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = store.coordinator
        let listener = CompilingListener(context)
        let place = CompilingPlace(context: context)
        place.title = "a"
        try context.save()
        #expect(listener.heard == ["changed 1 false", "will", "did 1 0 0", "ids 1 true"])
        listener.forget()
        let other = store.context()
        let saves = SaveNotifications(other)
        try other.performAndWait {
            other.object(with: place.objectID).setValue("b", forKey: "title")
            try other.save()
        }
        for save in saves.all { context.mergeChanges(fromContextDidSave: save) }
        #expect(listener.heard.contains("merged 1"))
        listener.forget()
        context.reset()
        #expect(listener.heard == ["changed 0 true"])
    }

    /// The main queue may be served by another thread than the main one, and a block that is waited for may run on the
    /// thread that waits.
    @Test(arguments: StoreKind.allCases) func theMainActorIsToldWhoeverServesItsQueue(_ kind: StoreKind) async throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = store.coordinator
        let listener = await CompilingListener(context)
        try await context.perform {
            CompilingPlace(context: context).title = "a"
            try context.save()
        }
        #expect(await listener.heard.contains("did 1 0 0"))
        await listener.forget()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                context.performAndWait {
                    CompilingPlace(context: context).title = "b"
                    try? context.save()
                }
                continuation.resume()
            }
        }
        #expect(await listener.heard.contains("did 1 0 0"))
        await listener.forget()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try await child.perform {
            CompilingPlace(context: child).title = "c"
            try child.save()
        }
        await context.perform { context.processPendingChanges() }
        #expect(await listener.heard.contains("changed 1 false"))
    }

    @Test(arguments: StoreKind.allCases) func otherContextsTellTasks(_ kind: StoreKind) async throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        let other = store.context()
        let center = NotificationCenter.default
        let (saves, savesContinuation) = AsyncStream.makeStream(
            of: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self)
        let (merges, mergesContinuation) = AsyncStream.makeStream(
            of: NSManagedObjectContext.DidMergeChangesAsyncMessage.self)
        let tokens = [
            center.addObserver(of: context, for: .didSaveObjectIDsAsync) { savesContinuation.yield($0) },
            center.addObserver(of: other, for: .didMergeChangesAsync) { mergesContinuation.yield($0) },
        ]
        let id = try await context.perform {
            let place = CompilingPlace(context: context)
            place.title = "a"
            try context.save()
            return place.objectID
        }
        var iterator = saves.makeAsyncIterator()
        let saved = try #require(await iterator.next())
        #expect(saved.context === context && saved.insertedIDs == [id] && saved.updatedIDs.isEmpty)
        await other.perform {
            _ = other.object(with: id).value(forKey: "title")
            other.mergeChanges(
                fromContextDidSave: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.makeNotification(saved))
        }
        var merged = merges.makeAsyncIterator()
        let merge = try #require(await merged.next())
        #expect(merge.context === other && merge.insertedIDs == [id] && merge.deletedIDs.isEmpty)
        for token in tokens { center.removeObserver(token) }
    }

    @Test func storesThatComeAndGoAreTold() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CompilingModel.model)
        let (changes, continuation) = AsyncStream.makeStream(
            of: NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage.self)
        let token = NotificationCenter.default.addObserver(of: coordinator, for: .storesDidChangeAsync) {
            continuation.yield($0)
        }
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        var iterator = changes.makeAsyncIterator()
        let added = try #require(await iterator.next())
        #expect(added.addedStores == [store] && added.removedStores.isEmpty && added.uuidChangedStores == nil)
        try coordinator.remove(store)
        let removed = try #require(await iterator.next())
        #expect(removed.removedStores == [store] && removed.persistentStoreCoordinator === coordinator)
        NotificationCenter.default.removeObserver(token)
    }

    @MainActor @Test func storesAddedOnTheMainQueueAreToldThere() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CompilingModel.model)
        var heard = 0
        let token = NotificationCenter.default.addObserver(of: coordinator, for: .storesDidChange) { message in
            heard += message.addedStores.count
        }
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(heard == 1)
        NotificationCenter.default.removeObserver(token)
    }

    @Test func remoteChangesAreTold() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CompilingModel.model)
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSPersistentHistoryTrackingKey: true,
            ])
        let (changes, continuation) = AsyncStream.makeStream(of: NSPersistentStoreCoordinator.RemoteChangeMessage.self)
        let token = NotificationCenter.default.addObserver(of: coordinator, for: .remoteChange) {
            continuation.yield($0)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            _ = CompilingPlace(context: context)
            try context.save()
        }
        var iterator = changes.makeAsyncIterator()
        let change = try #require(await iterator.next())
        #expect(change.storeUUID == store.identifier && change.storeURL == coordinator.url(for: store))
        #expect(change.historyToken != nil && change.persistentStoreCoordinator === coordinator)
        NotificationCenter.default.removeObserver(token)
    }

    @MainActor @Test(arguments: StoreKind.allCases) func messagesAndNotificationsSayTheSame(_ kind: StoreKind) throws {
        let store = try TestStore(kind, CompilingModel.model)
        let context = store.context()
        context.performAndWait {
            let notification = Notification(
                name: .NSManagedObjectContextDidSave, object: context,
                userInfo: [NSInsertedObjectsKey: Set([CompilingPlace(context: context)] as [NSManagedObject])])
            #expect(NSManagedObjectContext.DidSaveMessage.name == notification.name)
        }
        let saved = Notification(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: context,
            userInfo: [NSDeletedObjectIDsKey: Set([NSManagedObjectID()])])
        let message = try #require(NSManagedObjectContext.DidSaveObjectIDsMessage.makeMessage(saved))
        let again = NSManagedObjectContext.DidSaveObjectIDsMessage.makeNotification(message)
        #expect(again.name == saved.name && again.object as? NSManagedObjectContext === context)
        #expect(
            again.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>
                == saved.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>)
        #expect(
            NSManagedObjectContext.WillSaveMessage.makeMessage(Notification(name: .NSManagedObjectContextWillSave))
                == nil)
        let reset = Notification(
            name: .NSManagedObjectContextObjectsDidChange, object: context,
            userInfo: [NSInvalidatedAllObjectsKey: [NSManagedObjectID]()])
        let changed = try #require(NSManagedObjectContext.ObjectsDidChangeMessage.makeMessage(reset))
        #expect(changed.invalidatedAll == true && changed.inserted.isEmpty)
        let told = NSManagedObjectContext.ObjectsDidChangeMessage.makeNotification(changed)
        #expect(told.userInfo?[NSInvalidatedAllObjectsKey] != nil)
    }
}
