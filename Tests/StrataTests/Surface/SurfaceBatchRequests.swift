import CoreData

/// Names every symbol of Core Data's interface, so that none can vanish or change its type unnoticed. Never called.
@available(*, deprecated)
enum SurfaceBatchRequests {
    static func nSBatchInsertRequest() {
        _ = { () -> NSBatchInsertRequest in NSBatchInsertRequest() }
        _ = NSBatchInsertRequest.self
        _ = { (object: NSBatchInsertRequest) -> NSPersistentStoreRequest in object }
        _ = { (object: NSBatchInsertRequest) -> String in object.entityName }
        _ = { (object: NSBatchInsertRequest) -> NSEntityDescription? in object.entity }
        _ = { (object: NSBatchInsertRequest) -> [[String: Any]]? in object.objectsToInsert }
        _ = { (object: NSBatchInsertRequest, value: [[String: Any]]?) -> Void in object.objectsToInsert = value }
        _ = { (object: NSBatchInsertRequest) -> ((NSMutableDictionary) -> Bool)? in object.dictionaryHandler }
        _ = { (object: NSBatchInsertRequest, value: ((NSMutableDictionary) -> Bool)?) -> Void in
            object.dictionaryHandler = value
        }
        _ = { (object: NSBatchInsertRequest) -> ((NSManagedObject) -> Bool)? in object.managedObjectHandler }
        _ = { (object: NSBatchInsertRequest, value: ((NSManagedObject) -> Bool)?) -> Void in
            object.managedObjectHandler = value
        }
        _ = { (object: NSBatchInsertRequest) -> NSBatchInsertRequestResultType in object.resultType }
        _ = { (object: NSBatchInsertRequest, value: NSBatchInsertRequestResultType) -> Void in object.resultType = value
        }
        _ = { (a0: String, a1: [[String: Any]]) -> NSBatchInsertRequest in
            NSBatchInsertRequest(entityName: a0, objects: a1)
        }
        _ = { (a0: NSEntityDescription, a1: [[String: Any]]) -> NSBatchInsertRequest in
            NSBatchInsertRequest(entity: a0, objects: a1)
        }
        _ = { (a0: NSEntityDescription, a1: @escaping (NSMutableDictionary) -> Bool) -> NSBatchInsertRequest in
            NSBatchInsertRequest(entity: a0, dictionaryHandler: a1)
        }
        _ = { (a0: NSEntityDescription, a1: @escaping (NSManagedObject) -> Bool) -> NSBatchInsertRequest in
            NSBatchInsertRequest(entity: a0, managedObjectHandler: a1)
        }
        _ = { (a0: String, a1: @escaping (NSMutableDictionary) -> Bool) -> NSBatchInsertRequest in
            NSBatchInsertRequest(entityName: a0, dictionaryHandler: a1)
        }
        _ = { (a0: String, a1: @escaping (NSManagedObject) -> Bool) -> NSBatchInsertRequest in
            NSBatchInsertRequest(entityName: a0, managedObjectHandler: a1)
        }
    }

    static func nSBatchDeleteRequest() {
        _ = NSBatchDeleteRequest.self
        _ = { (object: NSBatchDeleteRequest) -> NSPersistentStoreRequest in object }
        _ = { (a0: NSFetchRequest<any NSFetchRequestResult>) -> NSBatchDeleteRequest in
            NSBatchDeleteRequest(fetchRequest: a0)
        }
        _ = { (a0: [NSManagedObjectID]) -> NSBatchDeleteRequest in NSBatchDeleteRequest(objectIDs: a0) }
        _ = { (object: NSBatchDeleteRequest) -> NSBatchDeleteRequestResultType in object.resultType }
        _ = { (object: NSBatchDeleteRequest, value: NSBatchDeleteRequestResultType) -> Void in object.resultType = value
        }
        _ = { (object: NSBatchDeleteRequest) -> NSFetchRequest<any NSFetchRequestResult> in object.fetchRequest }
    }

    static func nSBatchDeleteResult() {
        _ = NSBatchDeleteResult.self
        _ = { (object: NSBatchDeleteResult) -> NSPersistentStoreResult in object }
        _ = { (object: NSBatchDeleteResult) -> Any? in object.result }
        _ = { (object: NSBatchDeleteResult) -> NSBatchDeleteRequestResultType in object.resultType }
    }

    static func nSBatchInsertResult() {
        _ = NSBatchInsertResult.self
        _ = { (object: NSBatchInsertResult) -> NSPersistentStoreResult in object }
        _ = { (object: NSBatchInsertResult) -> Any? in object.result }
        _ = { (object: NSBatchInsertResult) -> NSBatchInsertRequestResultType in object.resultType }
    }

    static func nSBatchUpdateRequest() {
        _ = NSBatchUpdateRequest.self
        _ = { (object: NSBatchUpdateRequest) -> NSPersistentStoreRequest in object }
        _ = { (a0: String) -> NSBatchUpdateRequest in NSBatchUpdateRequest(entityName: a0) }
        _ = { (a0: NSEntityDescription) -> NSBatchUpdateRequest in NSBatchUpdateRequest(entity: a0) }
        _ = { (object: NSBatchUpdateRequest) -> String in object.entityName }
        _ = { (object: NSBatchUpdateRequest) -> NSEntityDescription in object.entity }
        _ = { (object: NSBatchUpdateRequest) -> NSPredicate? in object.predicate }
        _ = { (object: NSBatchUpdateRequest, value: NSPredicate?) -> Void in object.predicate = value }
        _ = { (object: NSBatchUpdateRequest) -> Bool in object.includesSubentities }
        _ = { (object: NSBatchUpdateRequest, value: Bool) -> Void in object.includesSubentities = value }
        _ = { (object: NSBatchUpdateRequest) -> NSBatchUpdateRequestResultType in object.resultType }
        _ = { (object: NSBatchUpdateRequest, value: NSBatchUpdateRequestResultType) -> Void in object.resultType = value
        }
        _ = { (object: NSBatchUpdateRequest) -> [AnyHashable: Any]? in object.propertiesToUpdate }
        _ = { (object: NSBatchUpdateRequest, value: [AnyHashable: Any]?) -> Void in object.propertiesToUpdate = value }
    }

    static func nSBatchUpdateResult() {
        _ = NSBatchUpdateResult.self
        _ = { (object: NSBatchUpdateResult) -> NSPersistentStoreResult in object }
        _ = { (object: NSBatchUpdateResult) -> Any? in object.result }
        _ = { (object: NSBatchUpdateResult) -> NSBatchUpdateRequestResultType in object.resultType }
    }
}
