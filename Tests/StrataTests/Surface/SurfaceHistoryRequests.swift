import CoreData

/// Names every symbol of Core Data's interface, so that none can vanish or change its type unnoticed. Never called.
@available(*, deprecated)
enum SurfaceHistoryRequests {
    static func nSPersistentHistoryChange() {
        _ = { (a0: NSManagedObjectContext) -> NSEntityDescription? in
            NSPersistentHistoryChange.entityDescription(with: a0)
        }
        _ = { () -> NSEntityDescription? in NSPersistentHistoryChange.entityDescription }
        _ = { () -> NSFetchRequest<any NSFetchRequestResult>? in NSPersistentHistoryChange.fetchRequest }
    }

    static func nSPersistentHistoryChangeRequest() {
        _ = { (a0: NSFetchRequest<any NSFetchRequestResult>) -> NSPersistentHistoryChangeRequest in
            NSPersistentHistoryChangeRequest.fetchHistory(withFetch: a0)
        }
        _ = { (a0: Date) -> NSPersistentHistoryChangeRequest in
            NSPersistentHistoryChangeRequest.deleteHistory(before: a0)
        }
        _ = { (a0: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest in
            NSPersistentHistoryChangeRequest.deleteHistory(before: a0)
        }
        _ = { (a0: NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest in
            NSPersistentHistoryChangeRequest.deleteHistory(before: a0)
        }
        _ = { (object: NSPersistentHistoryChangeRequest) -> NSFetchRequest<any NSFetchRequestResult>? in
            object.fetchRequest
        }
        _ = { (object: NSPersistentHistoryChangeRequest, value: NSFetchRequest<any NSFetchRequestResult>?) -> Void in
            object.fetchRequest = value
        }
    }

    static func nSPersistentHistoryTransaction() {
        _ = { (a0: NSManagedObjectContext) -> NSEntityDescription? in
            NSPersistentHistoryTransaction.entityDescription(with: a0)
        }
        _ = { () -> NSEntityDescription? in NSPersistentHistoryTransaction.entityDescription }
        _ = { () -> NSFetchRequest<any NSFetchRequestResult>? in NSPersistentHistoryTransaction.fetchRequest }
    }
}
