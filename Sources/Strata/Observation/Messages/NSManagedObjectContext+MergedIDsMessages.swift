public import Foundation

// What a context has merged, by its objects' IDs: for the main actor from main-queue contexts, for any task from
// others.

extension NSManagedObjectContext {
    /// Posted after a main-queue context has merged what others saved. For notifications by name:
    /// ``didMergeChangesObjectIDsNotification``.
    public struct DidMergeChangesMessage: NotificationCenter.MainActorMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextDidMergeChangesObjectIDs }

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
        @MainActor public static func makeMessage(_ notification: Notification) -> DidMergeChangesMessage? {
            DidMergeChangesMessage(notification)
        }

        /// The notification that says the same.
        @MainActor public static func makeNotification(_ message: DidMergeChangesMessage) -> Notification {
            ContextNews(
                context: message.context, inserted: message.insertedIDs, updated: message.updatedIDs,
                deleted: message.deletedIDs, refreshed: message.refreshedIDs, invalidated: message.invalidatedIDs,
                historyToken: message.historyToken, queryGeneration: message.queryGeneration
            ).notification(name)
        }
    }

    /// Posted after a context that is not of the main queue has merged what others saved. Observers are called later,
    /// each in a task.
    public struct DidMergeChangesAsyncMessage: NotificationCenter.AsyncMessage {
        public typealias Subject = NSManagedObjectContext

        /// The notification that says the same.
        public static var name: Notification.Name { .NSManagedObjectContextDidMergeChangesObjectIDs }

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
        public static func makeMessage(_ notification: Notification) -> DidMergeChangesAsyncMessage? {
            DidMergeChangesAsyncMessage(notification)
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: DidMergeChangesAsyncMessage) -> Notification {
            ContextNews(
                context: message.context, inserted: message.insertedIDs, updated: message.updatedIDs,
                deleted: message.deletedIDs, refreshed: message.refreshedIDs, invalidated: message.invalidatedIDs,
                historyToken: message.historyToken, queryGeneration: message.queryGeneration
            ).notification(name)
        }
    }
}
