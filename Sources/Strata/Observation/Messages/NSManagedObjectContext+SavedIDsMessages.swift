public import Foundation

// What a context has saved, by its objects' IDs: for the main actor from main-queue contexts, for any task from others.

extension NSManagedObjectContext {
    /// Posted after a main-queue context has saved, with IDs. For notifications by name:
    /// ``didSaveObjectIDsNotification``.
    public struct DidSaveObjectIDsMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextDidSaveObjectIDs }

        /// The context.
        public let context: NSManagedObjectContext
        /// The inserted objects.
        public let insertedIDs: Set<NSManagedObjectID>
        /// The updated objects.
        public let updatedIDs: Set<NSManagedObjectID>
        /// The deleted objects.
        public let deletedIDs: Set<NSManagedObjectID>
        /// The objects that were brought up to date with the store.
        public let refreshedIDs: Set<NSManagedObjectID>
        /// The objects that are no longer valid.
        public let invalidatedIDs: Set<NSManagedObjectID>
        /// Where the history of the stores is now, if the notification says it.
        public let historyToken: NSPersistentHistoryToken?
        /// The generation that the context is pinned to, if the notification says it.
        public let queryGeneration: NSQueryGenerationToken?

        init?(_ notification: Notification) {
            guard let news = ContextNews(notification) else { return nil }
            self.init(news)
        }

        init(_ news: ContextNews) {
            context = news.context
            insertedIDs = news.inserted
            updatedIDs = news.updated
            deletedIDs = news.deleted
            refreshedIDs = news.refreshed
            invalidatedIDs = news.invalidated
            historyToken = news.historyToken
            queryGeneration = news.queryGeneration
        }

        /// The message that a notification stands for; nil for one that is not a context's.
        @MainActor public static func makeMessage(_ notification: Notification) -> DidSaveObjectIDsMessage? {
            DidSaveObjectIDsMessage(notification)
        }

        /// The notification that says the same.
        @MainActor public static func makeNotification(_ message: DidSaveObjectIDsMessage) -> Notification {
            ContextNews(
                context: message.context, inserted: message.insertedIDs, updated: message.updatedIDs,
                deleted: message.deletedIDs, refreshed: message.refreshedIDs, invalidated: message.invalidatedIDs,
                historyToken: message.historyToken, queryGeneration: message.queryGeneration
            ).notification(name)
        }
    }

    /// Posted after a context that is not of the main queue has saved, with IDs. Observers are called later, each in a
    /// task.
    public struct DidSaveObjectIDsAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextDidSaveObjectIDs }

        /// The context.
        public let context: NSManagedObjectContext
        /// The inserted objects.
        public let insertedIDs: Set<NSManagedObjectID>
        /// The updated objects.
        public let updatedIDs: Set<NSManagedObjectID>
        /// The deleted objects.
        public let deletedIDs: Set<NSManagedObjectID>
        /// The objects that were brought up to date with the store.
        public let refreshedIDs: Set<NSManagedObjectID>
        /// The objects that are no longer valid.
        public let invalidatedIDs: Set<NSManagedObjectID>
        /// Where the history of the stores is now, if the notification says it.
        public let historyToken: NSPersistentHistoryToken?
        /// The generation that the context is pinned to, if the notification says it.
        public let queryGeneration: NSQueryGenerationToken?

        init?(_ notification: Notification) {
            guard let news = ContextNews(notification) else { return nil }
            self.init(news)
        }

        init(_ news: ContextNews) {
            context = news.context
            insertedIDs = news.inserted
            updatedIDs = news.updated
            deletedIDs = news.deleted
            refreshedIDs = news.refreshed
            invalidatedIDs = news.invalidated
            historyToken = news.historyToken
            queryGeneration = news.queryGeneration
        }

        /// The message that a notification stands for; nil for one that is not a context's.
        public static func makeMessage(_ notification: Notification) -> DidSaveObjectIDsAsyncMessage? {
            DidSaveObjectIDsAsyncMessage(notification)
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: DidSaveObjectIDsAsyncMessage) -> Notification {
            ContextNews(
                context: message.context, inserted: message.insertedIDs, updated: message.updatedIDs,
                deleted: message.deletedIDs, refreshed: message.refreshedIDs, invalidated: message.invalidatedIDs,
                historyToken: message.historyToken, queryGeneration: message.queryGeneration
            ).notification(name)
        }
    }
}
