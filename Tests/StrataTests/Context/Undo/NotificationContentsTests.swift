import CoreData
import Foundation
import Testing

@Suite struct NotificationContentsTests {
    private final class Recorder: @unchecked Sendable {
        // Unchecked: the contexts of these tests work on one queue.
        private var tokens: [any NSObjectProtocol] = []
        private var all: [Notification] = []

        init(_ context: NSManagedObjectContext) {
            let names: [Notification.Name] = [
                .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
                .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSaveObjectIDs,
                .NSManagedObjectContextDidMergeChangesObjectIDs,
            ]
            tokens = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] in
                    self?.all.append($0)
                }
            }
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

        func take() -> [Notification] {
            defer { all = [] }
            return all
        }
    }

    private func objects(_ notification: Notification?, _ key: NSManagedObjectContext.NotificationKey) -> Set<Probe> {
        notification?.userInfo?[key.rawValue] as? Set<Probe> ?? []
    }

    private func ids(
        _ notification: Notification?, _ key: NSManagedObjectContext.NotificationKey
    ) -> Set<NSManagedObjectID> {
        notification?.userInfo?[key.rawValue] as? Set<NSManagedObjectID> ?? []
    }

    @Test func bothSpellingsAreOne() {
        #expect(NSManagedObjectContext.willSaveObjectsNotification == .NSManagedObjectContextWillSave)
        #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
        #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
        #expect(NSManagedObjectContext.didSaveObjectIDsNotification == .NSManagedObjectContextDidSaveObjectIDs)
        #expect(
            NSManagedObjectContext.didMergeChangesObjectIDsNotification
                == .NSManagedObjectContextDidMergeChangesObjectIDs)
        let keys: [(NSManagedObjectContext.NotificationKey, String)] = [
            (.queryGeneration, NSManagedObjectContextQueryGenerationKey),
            (.invalidatedAllObjects, NSInvalidatedAllObjectsKey), (.insertedObjects, NSInsertedObjectsKey),
            (.updatedObjects, NSUpdatedObjectsKey), (.deletedObjects, NSDeletedObjectsKey),
            (.refreshedObjects, NSRefreshedObjectsKey), (.invalidatedObjects, NSInvalidatedObjectsKey),
            (.insertedObjectIDs, NSInsertedObjectIDsKey), (.updatedObjectIDs, NSUpdatedObjectIDsKey),
            (.deletedObjectIDs, NSDeletedObjectIDsKey), (.refreshedObjectIDs, NSRefreshedObjectIDsKey),
            (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
        ]
        for (key, string) in keys {
            #expect(key.rawValue == string)
            #expect(NSManagedObjectContext.NotificationKey(rawValue: string) == key)
        }
        #expect(Set(keys.map(\.1)).count == keys.count)
        #expect(NSManagedObjectContext.NotificationKey(rawValue: "none") == nil)
        let others: [Notification.Name] = [
            .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
            .NSPersistentStoreCoordinatorWillRemoveStore, .NSPersistentStoreRemoteChange,
        ]
        #expect(Set(others).count == 4)
        let strings = [
            NSAddedPersistentStoresKey, NSRemovedPersistentStoresKey, NSUUIDChangedPersistentStoresKey,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey, NSPersistentStoreURLKey,
        ]
        #expect(Set(strings).count == 5)
    }

    @Test(arguments: StoreKind.allCases) func aSaveTellsInOrder(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let recorder = Recorder(context)
        try context.performAndWait {
            let (updated, deleted) = (Probe(context: context), Probe(context: context))
            try context.save()
            _ = recorder.take()
            let inserted = Probe(context: context)
            let temporary = inserted.objectID
            updated.name = "new"
            context.delete(deleted)
            try context.save()
            let seen = recorder.take()
            #expect(
                seen.map(\.name) == [
                    NSManagedObjectContext.didChangeObjectsNotification,
                    NSManagedObjectContext.willSaveObjectsNotification,
                    NSManagedObjectContext.didSaveObjectsNotification,
                    NSManagedObjectContext.didSaveObjectIDsNotification,
                ])
            for notification in [seen[0], seen[2]] {
                #expect(objects(notification, .insertedObjects) == [inserted])
                #expect(objects(notification, .updatedObjects) == [updated])
                #expect(objects(notification, .deletedObjects) == [deleted])
                #expect(notification.userInfo?[NSRefreshedObjectsKey] == nil)
            }
            #expect(seen[1].userInfo == nil && seen.allSatisfy { $0.object as? NSManagedObjectContext === context })
            #expect(ids(seen[3], .insertedObjectIDs) == [inserted.objectID] && inserted.objectID != temporary)
            #expect(ids(seen[3], .updatedObjectIDs) == [updated.objectID])
            #expect(ids(seen[3], .deletedObjectIDs) == [deleted.objectID])
            try context.save()
            #expect(recorder.take().map(\.name) == [NSManagedObjectContext.didSaveObjectsNotification])
        }
    }

    @Test func whatComesAndGoesIsNotReported() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        let recorder = Recorder(context)
        context.performAndWait {
            context.delete(Probe(context: context))
            context.processPendingChanges()
            #expect(recorder.take().isEmpty)
            let probe = Probe(context: context)
            context.processPendingChanges()
            _ = recorder.take()
            probe.name = "x"
            context.processPendingChanges()
            #expect(objects(recorder.take().first, .updatedObjects) == [probe])
            context.delete(probe)
            context.processPendingChanges()
            let seen = recorder.take()
            #expect(seen.count == 1 && objects(seen.first, .deletedObjects) == [probe])
        }
    }

    @Test func refreshesAreReportedWithTheEvent() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        let recorder = Recorder(context)
        try context.performAndWait {
            let (a, b) = (Probe(context: context), Probe(context: context))
            try context.save()
            _ = recorder.take()
            context.refresh(a, mergeChanges: false)
            b.name = "b"
            #expect(recorder.take().isEmpty)
            context.processPendingChanges()
            let seen = recorder.take()
            #expect(seen.count == 1 && objects(seen.first, .refreshedObjects) == [a])
            #expect(objects(seen.first, .updatedObjects) == [b])
            context.reset()
            let last = try #require(recorder.take().last)
            let invalidated = last.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? []
            #expect(Set(invalidated) == [a.objectID, b.objectID] && last.userInfo?.count == 1)
        }
    }

    @Test func rollbackTellsWhatCameAndWent() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        let recorder = Recorder(context)
        try context.performAndWait {
            let (changed, deleted) = (Probe(context: context), Probe(context: context))
            try context.save()
            let (reported, unreported) = (Probe(context: context), Probe(context: context))
            context.delete(unreported)
            changed.name = "c"
            context.delete(deleted)
            context.processPendingChanges()
            _ = Probe(context: context)
            _ = recorder.take()
            context.rollback()
            let seen = recorder.take()
            #expect(seen.count == 1 && objects(seen.first, .deletedObjects) == [reported])
            #expect(objects(seen.first, .insertedObjects) == [deleted])
            #expect(objects(seen.first, .refreshedObjects) == [changed])
            context.rollback()
            #expect(recorder.take().isEmpty)
        }
    }

    @Test func mergingTellsTheIDs() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let (updated, deleted) = (Probe(context: context), Probe(context: context))
            try context.save()
            let copies = [updated, deleted].map { other.object(with: $0.objectID) as? Probe }
            for copy in copies { _ = copy?.name }
            let recorder = Recorder(other)
            let saves = Recorder(context)
            let inserted = Probe(context: context)
            updated.name = "u"
            context.delete(deleted)
            try context.save()
            let didSave = try #require(saves.take().first { $0.name == .NSManagedObjectContextDidSave })
            other.mergeChanges(fromContextDidSave: didSave)
            let seen = recorder.take()
            #expect(
                seen.map(\.name) == [
                    .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidMergeChangesObjectIDs,
                ])
            let change = seen.first { $0.name == .NSManagedObjectContextObjectsDidChange }
            #expect(objects(change, .insertedObjects).map(\.objectID) == [inserted.objectID])
            #expect(objects(change, .refreshedObjects).map(\.objectID) == [updated.objectID])
            #expect(objects(change, .deletedObjects).map(\.objectID) == [deleted.objectID])
            let merged = seen.first { $0.name == .NSManagedObjectContextDidMergeChangesObjectIDs }
            #expect(ids(merged, .insertedObjectIDs) == [inserted.objectID])
            #expect(ids(merged, .updatedObjectIDs) == [updated.objectID])
            #expect(ids(merged, .deletedObjectIDs) == [deleted.objectID])
            #expect(copies[0]?.name == "u" && copies[1]?.isDeleted == true)
        }
    }

    @MainActor @Test func aMainQueueContextProcessesAtTheEndOfTheTurn() async throws {
        let store = try TestStore(.memory, Probe.model())
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = store.coordinator
        let recorder = Recorder(context)
        let probe = Probe(context: context)
        #expect(recorder.take().isEmpty)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(objects(recorder.take().first, .insertedObjects) == [probe])
    }
}
