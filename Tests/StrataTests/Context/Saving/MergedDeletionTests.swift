import CoreData
import Foundation
import Testing

/// What others have deleted is deleted here when it is merged, and stays so until the next save.
@Suite struct MergedDeletionTests {
    enum Way: CaseIterable { case notification, ids, remote, uris, history, automatic }

    private func merge(_ notification: Notification?, _ way: Way, _ context: NSManagedObjectContext) throws {
        let notification = try #require(notification)
        let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
        switch way {
        case .notification: context.mergeChanges(fromContextDidSave: notification)
        case .ids:
            let ids = Notification(
                name: .NSManagedObjectContextDidSaveObjectIDs, object: notification.object,
                userInfo: [NSDeletedObjectIDsKey: Set(deleted.map(\.objectID))])
            context.mergeChanges(fromContextDidSave: ids)
        case .remote:
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: notification.userInfo ?? [:], into: [context])
        case .uris:
            let uris = deleted.map { $0.objectID.uriRepresentation() }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: uris], into: [context])
        case .history:
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            let result = try context.performAndWait { try context.execute(request) } as? NSPersistentHistoryResult
            let last = (result?.result as? [NSPersistentHistoryTransaction])?.last
            context.mergeChanges(fromContextDidSave: try #require(last).objectIDNotification())
        case .automatic: context.performAndWait {}
        }
    }

    /// Deletes an object in another context, and has it merged.
    private func deleteElsewhere(
        _ object: NSManagedObject, _ store: TestStore, _ way: Way, _ context: NSManagedObjectContext
    ) throws {
        context.automaticallyMergesChangesFromParent = way == .automatic
        let other = store.context()
        let saved = Notifications(.NSManagedObjectContextDidSave, other)
        let id = object.objectID
        try other.performAndWait {
            other.delete(other.object(with: id))
            try other.save()
        }
        try merge(saved.all.last, way, context)
    }

    private func expectCounts(_ count: Int, _ context: NSManagedObjectContext, _ what: Comment) throws {
        for condition in [nil, NSPredicate(format: "name BEGINSWITH 'doomed'")] {
            let request = NSFetchRequest<Probe>(entityName: "Probe")
            request.predicate = condition
            #expect(try context.fetch(request).count == count, what)
            #expect(try context.count(for: request) == count, what)
        }
    }

    /// A deletion that is merged is pending, but its row is gone: counting took it away twice.
    @Test(arguments: StoreKind.allCases, Way.allCases) func countsAgreeWithFetches(_ kind: StoreKind, _ way: Way) throws
    {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let probes = try context.performAndWait {
            let probes = (0..<4).map { number in
                let probe = Probe(context: context)
                probe.name = "doomed \(number)"
                return probe
            }
            try context.save()
            return probes
        }
        try deleteElsewhere(probes[0], store, way, context)
        try context.performAndWait { try expectCounts(3, context, "merged") }
        // The same without being merged: the object is deleted here, too, or changed.
        context.automaticallyMergesChangesFromParent = false
        context.performAndWait {
            context.delete(probes[1])
            probes[2].name = "doomed anyway"
        }
        let other = store.context()
        try other.performAndWait {
            for probe in probes[1...2] { other.delete(other.object(with: probe.objectID)) }
            try other.save()
        }
        try context.performAndWait { try expectCounts(2, context, "not merged") }
    }

    @Test(arguments: StoreKind.allCases, Way.allCases) func deletionsAreDeletions(_ kind: StoreKind, _ way: Way) throws
    {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let probe = try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "doomed"
            try context.save()
            _ = probe.takeCalls()
            return probe
        }
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, context)
        try deleteElsewhere(probe, store, way, context)
        try context.performAndWait {
            #expect(probe.takeCalls() == ["prepareForDeletion"])
            #expect(probe.isDeleted && context.deletedObjects == [probe] && context.hasChanges)
            #expect(probe.managedObjectContext === context && probe.name == "doomed")
            #expect(
                changes.all.count == 1
                    && changes.all[0].userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> == [probe])
            context.processPendingChanges()
            #expect(changes.all.count == 1)
            try context.save()
            #expect(!probe.isDeleted && probe.managedObjectContext == nil && !context.hasChanges)
            #expect(probe.takeCalls() == [] && context.deletedObjects.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func faultsAreDeletedWithoutBeingRead(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        context.shouldDeleteInaccessibleFaults = false
        let probe = try context.performAndWait {
            let probe = Probe(context: context)
            try context.save()
            context.refresh(probe, mergeChanges: false)
            _ = probe.takeCalls()
            return probe
        }
        try deleteElsewhere(probe, store, .notification, context)
        try context.performAndWait {
            #expect(probe.takeCalls() == ["prepareForDeletion"] && probe.isDeleted && probe.name == nil)
            try context.save()
        }
    }

    /// At once, or when the context saves if it follows the rules only then.
    @Test(arguments: StoreKind.allCases, [true, false])
    func unsavedReferencesFollowTheDeleteRules(_ kind: StoreKind, _ propagates: Bool) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        context.propagatesDeletesAtEndOfEvent = propagates
        let (probe, peer) = try context.performAndWait {
            let (probe, peer) = (Probe(context: context), Probe(context: context))
            try context.save()
            return (probe, peer)
        }
        let (child, item) = context.performAndWait {
            let (child, item) = (Probe(context: context), Probe(context: context))
            child.parent = probe
            item.holder = probe
            probe.peers = [peer]
            context.processPendingChanges()
            return (child, item)
        }
        try deleteElsewhere(probe, store, .notification, context)
        try context.performAndWait {
            // Children are deleted with their parent; the others forget it.
            #expect((child.managedObjectContext == nil || child.isDeleted) == propagates)
            #expect(item.isInserted && item.holder == nil && peer.peers.isEmpty)
            try context.save()
            #expect(child.managedObjectContext == nil)
            #expect(try fetchAll(Probe.self, "Probe", store.context()).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func aDeletionThatIsUndoneElsewhereIsTakenBack(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let (here, there) = (store.context(), store.context())
        let undoManager = UndoManager()
        undoManager.groupsByEvent = false
        there.undoManager = undoManager
        let theirs = try there.performAndWait {
            let probe = Probe(context: there)
            probe.name = "back"
            try there.save()
            undoManager.removeAllActions()
            return probe
        }
        let ours = try #require(here.performAndWait { here.object(with: theirs.objectID) as? Probe })
        here.performAndWait { #expect(ours.name == "back") }
        let saves = Notifications(.NSManagedObjectContextDidSave, there)
        try there.performAndWait {
            there.delete(theirs)
            try there.save()
            there.undo()
            try there.save()
        }
        try here.performAndWait {
            let notifications = saves.all
            try #require(notifications.count == 2)
            here.mergeChanges(fromContextDidSave: notifications[0])
            #expect(ours.isDeleted)
            here.mergeChanges(fromContextDidSave: notifications[1])
            #expect(!ours.isDeleted && ours.name == "back" && !here.hasChanges)
        }
    }

    /// A deletion that is taken back was announced once, as the merged one was not: the save must not mix them up.
    @Test(arguments: StoreKind.allCases) func whatIsSavedAsDeletedIsNotWhatWasBroughtBack(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let (doomed, kept) = try context.performAndWait {
            let (doomed, kept) = (Probe(context: context), Probe(context: context))
            try context.save()
            return (doomed, kept)
        }
        let id = doomed.objectID
        try deleteElsewhere(doomed, store, .notification, context)
        let saves = Notifications(.NSManagedObjectContextDidSave, context)
        try context.performAndWait {
            context.delete(kept)
            context.processPendingChanges()
            context.insert(kept)
            try context.save()
            let deleted = saves.all.last?.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>
            #expect(deleted?.map(\.objectID) == [id] && !kept.isDeleted)
        }
    }

    @Test(arguments: StoreKind.allCases) func rollbackMakesAFaultOfIt(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let probe = try context.performAndWait {
            let probe = Probe(context: context)
            try context.save()
            return probe
        }
        try deleteElsewhere(probe, store, .notification, context)
        try context.performAndWait {
            context.rollback()
            #expect(!context.hasChanges && probe.isFault)
            // Its row is gone, which shows when it is read.
            #expect(probe.name == nil && probe.isDeleted)
            try context.save()
            #expect(probe.managedObjectContext == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func aChildThatMergesTellsItsParentNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let (parent, child) = (store.context(), NSManagedObjectContext(.privateQueue))
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        let id = try parent.performAndWait {
            let probe = Probe(context: parent)
            try parent.save()
            return probe.objectID
        }
        let probe = try #require(child.performAndWait { child.object(with: id) as? Probe })
        child.performAndWait { _ = probe.name }
        try parent.performAndWait {
            parent.delete(parent.object(with: id))
            try parent.save()
        }
        try child.performAndWait {
            #expect(probe.isDeleted && child.deletedObjects == [probe])
            try child.save()
            #expect(child.deletedObjects.isEmpty)
        }
        parent.performAndWait { #expect(!parent.hasChanges && parent.deletedObjects.isEmpty) }
    }
}

/// The notifications of one name that an object has posted.
private final class Notifications: @unchecked Sendable {
    // Unchecked: guarded by the lock.
    private let lock = NSLock()
    private var seen: [Notification] = []
    private var observer: (any NSObjectProtocol)?

    init(_ name: Notification.Name, _ object: Any) {
        observer = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] in
            guard let self else { return }
            let notification = $0
            lock.withLock { seen.append(notification) }
        }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }

    var all: [Notification] { lock.withLock { seen } }
}
