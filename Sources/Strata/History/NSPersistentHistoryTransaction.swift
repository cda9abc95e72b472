public import Foundation

/// One save, as the history has it.
open class NSPersistentHistoryTransaction: NSObject, NSCopying {
    /// When it was saved.
    public let timestamp: Date
    /// What it changed; nil if only transactions were asked for.
    public internal(set) var changes: [NSPersistentHistoryChange]?
    /// Its number in the store: later ones have greater numbers.
    public let transactionNumber: Int64
    /// The UUID of the store.
    public let storeID: String
    /// The identifier of the program that reads the history; the log does not keep who wrote it.
    public let bundleID: String
    /// The name of the process that reads the history; the log does not keep who wrote it.
    public let processID: String
    /// The name of the context that saved.
    public let contextName: String?
    /// The ``NSManagedObjectContext/transactionAuthor`` of the context that saved.
    public let author: String?

    init(
        timestamp: Date, transactionNumber: Int64, storeID: String, contextName: String?, author: String?
    ) {
        self.timestamp = timestamp
        self.transactionNumber = transactionNumber
        self.storeID = storeID
        self.contextName = contextName
        self.author = author
        bundleID = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        processID = ProcessInfo.processInfo.processName
    }

    /// The point in the history after this transaction.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([storeID: UInt64(transactionNumber)]) }

    /// The transaction in the form of a did-save notification with object IDs, for
    /// ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    open func objectIDNotification() -> Notification {
        var info: [AnyHashable: Any] = [:]
        func ids(_ type: NSPersistentHistoryChangeType) -> Set<NSManagedObjectID> {
            Set((changes ?? []).filter { $0.changeType == type }.map(\.changedObjectID))
        }
        for (key, type) in [
            (NSInsertedObjectIDsKey, NSPersistentHistoryChangeType.insert), (NSUpdatedObjectIDsKey, .update),
            (NSDeletedObjectIDsKey, .delete),
        ] {
            let ids = ids(type)
            if !ids.isEmpty { info[key] = ids }
        }
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// One object's change in a transaction.
open class NSPersistentHistoryChange: NSObject, NSCopying {
    /// Its number: greater for later changes.
    public let changeID: Int64
    /// The object.
    public let changedObjectID: NSManagedObjectID
    /// What happened to it.
    public let changeType: NSPersistentHistoryChangeType
    /// Of a deleted object, the values of attributes that are preserved in the history.
    public let tombstone: [AnyHashable: Any]?
    /// Of an updated object, the properties that were written.
    public let updatedProperties: Set<NSPropertyDescription>?
    /// The transaction it belongs to, as long as that is kept.
    public internal(set) weak var transaction: NSPersistentHistoryTransaction?

    init(
        changeID: Int64, changedObjectID: NSManagedObjectID, changeType: NSPersistentHistoryChangeType,
        tombstone: [AnyHashable: Any]?, updatedProperties: Set<NSPropertyDescription>?
    ) {
        self.changeID = changeID
        self.changedObjectID = changedObjectID
        self.changeType = changeType
        self.tombstone = tombstone
        self.updatedProperties = updatedProperties
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
