public import Foundation

// What a coordinator says of its stores.

extension NSPersistentStoreCoordinator {
    /// Posted when stores were added, removed or moved on the main queue.
    public struct StoresDidChangeMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSPersistentStoreCoordinator

        /// The notification that says the same.
        public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }

        /// The coordinator of the stores.
        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        /// The stores that came.
        public let addedStores: [NSPersistentStore]
        /// The stores that went.
        public let removedStores: [NSPersistentStore]
        /// The store that was moved, as it was and as it is.
        public let uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?

        init?(_ notification: Notification) {
            guard let coordinator = notification.object as? NSPersistentStoreCoordinator else { return nil }
            let info = notification.userInfo
            persistentStoreCoordinator = coordinator
            addedStores = info?[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
            removedStores = info?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] ?? []
            let changed = info?[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore] ?? []
            uuidChangedStores = changed.count < 2 ? nil : (changed[0], changed[1])
        }

        /// The message that a notification stands for; nil for one that is not a coordinator's.
        @MainActor public static func makeMessage(_ notification: Notification) -> StoresDidChangeMessage? {
            StoresDidChangeMessage(notification)
        }

        /// The notification that says the same.
        @MainActor public static func makeNotification(_ message: StoresDidChangeMessage) -> Notification {
            var info: [AnyHashable: Any] = [:]
            if !message.addedStores.isEmpty { info[NSAddedPersistentStoresKey] = message.addedStores }
            if !message.removedStores.isEmpty { info[NSRemovedPersistentStoresKey] = message.removedStores }
            info[NSUUIDChangedPersistentStoresKey] = message.uuidChangedStores.map { [$0.oldValue, $0.newValue] }
            return Notification(name: name, object: message.persistentStoreCoordinator, userInfo: info)
        }
    }

    /// Posted when stores were added, removed or moved elsewhere than on the main queue. Observers are called later,
    /// each in a task.
    public struct StoresDidChangeAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSPersistentStoreCoordinator

        /// The notification that says the same.
        public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }

        /// The coordinator of the stores.
        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        /// The stores that came.
        public let addedStores: [NSPersistentStore]
        /// The stores that went.
        public let removedStores: [NSPersistentStore]
        /// The store that was moved, as it was and as it is.
        public let uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?

        init?(_ notification: Notification) {
            guard let coordinator = notification.object as? NSPersistentStoreCoordinator else { return nil }
            let info = notification.userInfo
            persistentStoreCoordinator = coordinator
            addedStores = info?[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
            removedStores = info?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] ?? []
            let changed = info?[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore] ?? []
            uuidChangedStores = changed.count < 2 ? nil : (changed[0], changed[1])
        }

        /// The message that a notification stands for; nil for one that is not a coordinator's.
        public static func makeMessage(_ notification: Notification) -> StoresDidChangeAsyncMessage? {
            StoresDidChangeAsyncMessage(notification)
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: StoresDidChangeAsyncMessage) -> Notification {
            var info: [AnyHashable: Any] = [:]
            if !message.addedStores.isEmpty { info[NSAddedPersistentStoresKey] = message.addedStores }
            if !message.removedStores.isEmpty { info[NSRemovedPersistentStoresKey] = message.removedStores }
            info[NSUUIDChangedPersistentStoresKey] = message.uuidChangedStores.map { [$0.oldValue, $0.newValue] }
            return Notification(name: name, object: message.persistentStoreCoordinator, userInfo: info)
        }
    }

    /// Posted when a store with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey`` was written, by this or
    /// another process. Observers are called later, each in a task.
    public struct RemoteChangeMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSPersistentStoreCoordinator

        /// The notification that says the same.
        public static var name: Notification.Name { .NSPersistentStoreRemoteChange }

        /// The coordinator of the store.
        public let persistentStoreCoordinator: NSPersistentStoreCoordinator
        /// Where the store is.
        public let storeURL: URL
        /// The store's UUID.
        public let storeUUID: String
        /// Where the store's history is now.
        public let historyToken: NSPersistentHistoryToken?

        init?(_ notification: Notification) {
            guard let coordinator = notification.object as? NSPersistentStoreCoordinator,
                let url = notification.userInfo?[NSPersistentStoreURLKey] as? URL,
                let uuid = notification.userInfo?[NSStoreUUIDKey] as? String
            else { return nil }
            persistentStoreCoordinator = coordinator
            storeURL = url
            storeUUID = uuid
            historyToken = notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        }

        /// The message that a notification stands for; nil for one that does not tell of a store's change.
        public static func makeMessage(_ notification: Notification) -> RemoteChangeMessage? {
            RemoteChangeMessage(notification)
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: RemoteChangeMessage) -> Notification {
            var info: [AnyHashable: Any] = [
                NSPersistentStoreURLKey: message.storeURL, NSStoreUUIDKey: message.storeUUID,
            ]
            info[NSPersistentHistoryTokenKey] = message.historyToken
            return Notification(name: name, object: message.persistentStoreCoordinator, userInfo: info)
        }
    }
}
