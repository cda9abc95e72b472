import Foundation
import StrataSupport

// Posts Core Data's notifications, and the typed messages that say the same. On Apple's platforms Foundation makes one
// of the other when somebody listens; Linux's does not.

extension NSManagedObjectContext {
    /// Posts a notification of the context: to whoever listens by name, then to those who listen for its message.
    ///
    /// The messages of main-queue contexts are for the main actor, those of others for any task.
    final func post(_ name: Notification.Name, _ info: [AnyHashable: Any]? = nil) {
        if isSilent { return }
        let notification = Notification(name: name, object: self, userInfo: info)
        PostingGate.pass { NotificationCenter.default.post(notification) }
        if queueType == .mainQueueConcurrencyType {
            postMainActorMessage(notification)
        } else {
            postAsyncMessage(notification)
        }
    }

    /// Posts that the context has saved these, by their IDs.
    ///
    /// The message is made of the sets, and not of the notification, where they would have to be looked up by name.
    final func postSavedIDs(_ news: ContextNews) {
        if isSilent { return }
        let notification = news.notification(.NSManagedObjectContextDidSaveObjectIDs)
        PostingGate.pass { NotificationCenter.default.post(notification) }
        guard MessageName.didSaveObjectIDs.isAwaited else { return }
        if queueType == .mainQueueConcurrencyType {
            MessagePosting.post(DidSaveObjectIDsMessage(news), subject: self)
        } else {
            let message = DidSaveObjectIDsAsyncMessage(news)
            PostingGate.pass { NotificationCenter.default.post(message, subject: self) }
        }
    }

    private func postMainActorMessage(_ notification: Notification) {
        switch notification.name {
        case .NSManagedObjectContextObjectsDidChange where MessageName.objectsDidChange.isAwaited:
            MessagePosting.post(ObjectsDidChangeMessage(notification), subject: self)
        case .NSManagedObjectContextWillSave where MessageName.willSave.isAwaited:
            MessagePosting.post(WillSaveMessage(notification), subject: self)
        case .NSManagedObjectContextDidSave where MessageName.didSave.isAwaited:
            MessagePosting.post(DidSaveMessage(notification), subject: self)
        case .NSManagedObjectContextDidMergeChangesObjectIDs where MessageName.didMergeChangesObjectIDs.isAwaited:
            MessagePosting.post(DidMergeChangesMessage(notification), subject: self)
        default: break
        }
    }

    private func postAsyncMessage(_ notification: Notification) {
        switch notification.name {
        case .NSManagedObjectContextDidMergeChangesObjectIDs where MessageName.didMergeChangesObjectIDs.isAwaited:
            guard let message = DidMergeChangesAsyncMessage(notification) else { return }
            PostingGate.pass { NotificationCenter.default.post(message, subject: self) }
        default: break
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// Posts that stores were added or removed, with the message for the main actor if that was done there.
    func postStoresDidChange(_ info: [AnyHashable: Any]) {
        let notification = Notification(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: info)
        NotificationCenter.default.post(notification)
        guard MessageName.storesDidChange.isAwaited else { return }
        if ContextQueue.isOnMain {
            MessagePosting.post(StoresDidChangeMessage(notification), subject: self)
        } else if let message = StoresDidChangeAsyncMessage(notification) {
            NotificationCenter.default.post(message, subject: self)
        }
    }

    /// Posts that somebody has written to a store.
    func postRemoteChange(_ info: [AnyHashable: Any]) {
        let notification = Notification(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
        PostingGate.pass { NotificationCenter.default.post(notification) }
        guard MessageName.remoteChange.isAwaited, let message = RemoteChangeMessage(notification) else { return }
        PostingGate.pass { NotificationCenter.default.post(message, subject: self) }
    }
}

private enum MessagePosting {
    /// Posts a message on the main actor: at once on the main queue, later from a thread that only holds it.
    static func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message?, subject: Message.Subject
    ) where Message.Subject: AnyObject {
        guard let message else { return }
        let box = UncheckedBox((message, subject))
        if ContextQueue.isOnMain {
            MainActor.assumeIsolated { NotificationCenter.default.post(box.value.0, subject: box.value.1) }
        } else {
            DispatchQueue.main.async { NotificationCenter.default.post(box.value.0, subject: box.value.1) }
        }
    }
}
