public import Foundation

// What a main-queue context says of its objects, as messages that are delivered on the main actor, on the queue and at
// the time of the notifications that say the same.

extension NSManagedObjectContext {
    /// Posted before a main-queue context saves. For notifications by name:
    /// ``willSaveObjectsNotification``.
    public struct WillSaveMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextWillSave }

        /// The context that is about to save.
        public let context: NSManagedObjectContext

        init?(_ notification: Notification) {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            self.context = context
        }

        /// The message that a notification stands for; nil for one that is not a context's.
        @MainActor public static func makeMessage(_ notification: Notification) -> WillSaveMessage? {
            WillSaveMessage(notification)
        }

        /// The notification that says the same.
        @MainActor public static func makeNotification(_ message: WillSaveMessage) -> Notification {
            Notification(name: name, object: message.context)
        }
    }

    /// Posted after a main-queue context has saved. For notifications by name: ``didSaveObjectsNotification``.
    public struct DidSaveMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextDidSave }

        /// The context that has saved.
        public let context: NSManagedObjectContext
        /// The objects that the save inserted.
        public let inserted: Set<NSManagedObject>
        /// The objects that the save updated.
        public let updated: Set<NSManagedObject>
        /// The objects that the save deleted.
        public let deleted: Set<NSManagedObject>
        /// Where the history of the stores is after the save; nil without history tracking.
        public let historyToken: NSPersistentHistoryToken?
        /// The generation that the context is pinned to, if it is.
        public let queryGeneration: NSQueryGenerationToken?

        init?(_ notification: Notification) {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            let info = notification.userInfo
            self.context = context
            inserted = info?.objects(NSInsertedObjectsKey) ?? []
            updated = info?.objects(NSUpdatedObjectsKey) ?? []
            deleted = info?.objects(NSDeletedObjectsKey) ?? []
            historyToken = info?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            queryGeneration = info?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
        }

        /// The message that a notification stands for; nil for one that is not a context's.
        @MainActor public static func makeMessage(_ notification: Notification) -> DidSaveMessage? {
            DidSaveMessage(notification)
        }

        /// The notification that says the same.
        @MainActor public static func makeNotification(_ message: DidSaveMessage) -> Notification {
            var info: [AnyHashable: Any] = [
                NSInsertedObjectsKey: message.inserted, NSUpdatedObjectsKey: message.updated,
                NSDeletedObjectsKey: message.deleted,
            ]
            info[NSPersistentHistoryTokenKey] = message.historyToken
            info[NSManagedObjectContextQueryGenerationKey] = message.queryGeneration
            return Notification(name: name, object: message.context, userInfo: info)
        }
    }

    /// Posted when objects of a main-queue context have changed. For notifications by name:
    /// ``didChangeObjectsNotification``.
    public struct ObjectsDidChangeMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextObjectsDidChange }

        /// The context of the objects.
        public let context: NSManagedObjectContext
        /// The objects that came.
        public let inserted: Set<NSManagedObject>
        /// The objects whose properties were set.
        public let updated: Set<NSManagedObject>
        /// The objects that went.
        public let deleted: Set<NSManagedObject>
        /// The objects that were brought up to date with the store.
        public let refreshed: Set<NSManagedObject>
        /// The objects that are no longer valid.
        public let invalidated: Set<NSManagedObject>
        /// True when the context was reset; otherwise nil.
        public let invalidatedAll: Bool?

        init?(_ notification: Notification) {
            guard let context = notification.object as? NSManagedObjectContext else { return nil }
            let info = notification.userInfo
            self.context = context
            inserted = info?.objects(NSInsertedObjectsKey) ?? []
            updated = info?.objects(NSUpdatedObjectsKey) ?? []
            deleted = info?.objects(NSDeletedObjectsKey) ?? []
            refreshed = info?.objects(NSRefreshedObjectsKey) ?? []
            invalidated = info?.objects(NSInvalidatedObjectsKey) ?? []
            invalidatedAll = info?[NSInvalidatedAllObjectsKey] == nil ? nil : true
        }

        /// The message that a notification stands for; nil for one that is not a context's.
        @MainActor public static func makeMessage(_ notification: Notification) -> ObjectsDidChangeMessage? {
            ObjectsDidChangeMessage(notification)
        }

        /// The notification that says the same.
        @MainActor public static func makeNotification(_ message: ObjectsDidChangeMessage) -> Notification {
            let sets = [
                (NSInsertedObjectsKey, message.inserted), (NSUpdatedObjectsKey, message.updated),
                (NSDeletedObjectsKey, message.deleted), (NSRefreshedObjectsKey, message.refreshed),
                (NSInvalidatedObjectsKey, message.invalidated),
            ]
            var info: [AnyHashable: Any] = [:]
            for (key, set) in sets where !set.isEmpty { info[key] = set }
            if message.invalidatedAll == true { info[NSInvalidatedAllObjectsKey] = [NSManagedObjectID]() }
            return Notification(name: name, object: message.context, userInfo: info)
        }
    }
}

extension Dictionary where Key == AnyHashable, Value == Any {
    fileprivate func objects(_ key: String) -> Set<NSManagedObject> { self[key] as? Set<NSManagedObject> ?? [] }
}
