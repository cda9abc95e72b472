import CoreData

/// Names every symbol of the group "history" with its signature, so that none can vanish. Never run.
enum SurfaceHistory {
    static func nsManagedObjectContext() {
        _ = { (object: NSManagedObjectContext) -> String? in object.transactionAuthor }
        _ = { (object: NSManagedObjectContext, value: String?) -> Void in object.transactionAuthor = value }
    }

    static func nsAttributeDescription() {
        _ = { (object: NSAttributeDescription) -> Bool in object.preservesValueInHistoryOnDeletion }
        _ = { (object: NSAttributeDescription, value: Bool) -> Void in object.preservesValueInHistoryOnDeletion = value
        }
    }

    static func nsPersistentStoreCoordinator() {
        _ = { (object: NSPersistentStoreCoordinator, a0: [Any]?) -> NSPersistentHistoryToken? in
            object.currentPersistentHistoryToken(fromStores: a0)
        }
    }

    static func nsPersistentHistoryChange() {
        _ = NSPersistentHistoryChange.self
        _ = { (object: NSPersistentHistoryChange) -> NSObject in object }
        _ = { (object: NSPersistentHistoryChange) -> any NSCopying in object }
        _ = { (object: NSPersistentHistoryChange) -> Int64 in object.changeID }
        _ = { (object: NSPersistentHistoryChange) -> NSManagedObjectID in object.changedObjectID }
        _ = { (object: NSPersistentHistoryChange) -> NSPersistentHistoryChangeType in object.changeType }
        _ = { (object: NSPersistentHistoryChange) -> [AnyHashable: Any]? in object.tombstone }
        _ = { (object: NSPersistentHistoryChange) -> NSPersistentHistoryTransaction? in object.transaction }
        _ = { (object: NSPersistentHistoryChange) -> Set<NSPropertyDescription>? in object.updatedProperties }
    }

    static func nsPersistentHistoryChangeRequest() {
        _ = NSPersistentHistoryChangeRequest.self
        _ = { (object: NSPersistentHistoryChangeRequest) -> NSPersistentStoreRequest in object }
        _ = { (a0: Date) -> NSPersistentHistoryChangeRequest in NSPersistentHistoryChangeRequest.fetchHistory(after: a0)
        }
        _ = { (a0: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest in
            NSPersistentHistoryChangeRequest.fetchHistory(after: a0)
        }
        _ = { (a0: NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest in
            NSPersistentHistoryChangeRequest.fetchHistory(after: a0)
        }
        _ = { (object: NSPersistentHistoryChangeRequest) -> NSPersistentHistoryResultType in object.resultType }
        _ = { (object: NSPersistentHistoryChangeRequest, value: NSPersistentHistoryResultType) -> Void in
            object.resultType = value
        }
        _ = { (object: NSPersistentHistoryChangeRequest) -> NSPersistentHistoryToken? in object.token }
    }

    static func nsPersistentHistoryChangeType() {
        _ = NSPersistentHistoryChangeType.self
        _ = { (value: NSPersistentHistoryChangeType) -> Int in value.rawValue }
        _ = { (object: NSPersistentHistoryChangeType) -> any Sendable in object }
        _ = { (a0: Int) -> NSPersistentHistoryChangeType? in NSPersistentHistoryChangeType(rawValue: a0) }
        _ = { (object: NSPersistentHistoryChangeType) -> Int in object.rawValue }
        _ = { () -> NSPersistentHistoryChangeType in .insert }
        _ = { () -> NSPersistentHistoryChangeType in .update }
        _ = { () -> NSPersistentHistoryChangeType in .delete }
    }

    static func nsPersistentHistoryResult() {
        _ = NSPersistentHistoryResult.self
        _ = { (object: NSPersistentHistoryResult) -> NSPersistentStoreResult in object }
        _ = { (object: NSPersistentHistoryResult) -> Any? in object.result }
        _ = { (object: NSPersistentHistoryResult) -> NSPersistentHistoryResultType in object.resultType }
    }

    static func nsPersistentHistoryResultType() {
        _ = NSPersistentHistoryResultType.self
        _ = { (value: NSPersistentHistoryResultType) -> Int in value.rawValue }
        _ = { (object: NSPersistentHistoryResultType) -> any Sendable in object }
        _ = { (a0: Int) -> NSPersistentHistoryResultType? in NSPersistentHistoryResultType(rawValue: a0) }
        _ = { (object: NSPersistentHistoryResultType) -> Int in object.rawValue }
        _ = { () -> NSPersistentHistoryResultType in .statusOnly }
        _ = { () -> NSPersistentHistoryResultType in .objectIDs }
        _ = { () -> NSPersistentHistoryResultType in .count }
        _ = { () -> NSPersistentHistoryResultType in .transactionsOnly }
        _ = { () -> NSPersistentHistoryResultType in .changesOnly }
        _ = { () -> NSPersistentHistoryResultType in .transactionsAndChanges }
    }

    static func nsPersistentHistoryToken() {
        _ = NSPersistentHistoryToken.self
        _ = { (object: NSPersistentHistoryToken) -> NSObject in object }
        _ = { (object: NSPersistentHistoryToken) -> any NSCopying in object }
        _ = { (object: NSPersistentHistoryToken) -> any NSSecureCoding in object }
    }

    static func nsPersistentHistoryTransaction() {
        _ = NSPersistentHistoryTransaction.self
        _ = { (object: NSPersistentHistoryTransaction) -> NSObject in object }
        _ = { (object: NSPersistentHistoryTransaction) -> any NSCopying in object }
        _ = { (object: NSPersistentHistoryTransaction) -> Date in object.timestamp }
        _ = { (object: NSPersistentHistoryTransaction) -> [NSPersistentHistoryChange]? in object.changes }
        _ = { (object: NSPersistentHistoryTransaction) -> Int64 in object.transactionNumber }
        _ = { (object: NSPersistentHistoryTransaction) -> String in object.storeID }
        _ = { (object: NSPersistentHistoryTransaction) -> String in object.bundleID }
        _ = { (object: NSPersistentHistoryTransaction) -> String in object.processID }
        _ = { (object: NSPersistentHistoryTransaction) -> String? in object.contextName }
        _ = { (object: NSPersistentHistoryTransaction) -> String? in object.author }
        _ = { (object: NSPersistentHistoryTransaction) -> NSPersistentHistoryToken in object.token }
        _ = { (object: NSPersistentHistoryTransaction) -> Notification in object.objectIDNotification() }
    }

    static func global() {
        _ = { () -> String in NSPersistentHistoryTrackingKey }
        _ = { () -> String in NSPersistentHistoryTokenKey }
    }
}
