import CoreData

/// Names every symbol of the group "fetch" with its signature, so that none can vanish. Never run.
enum SurfaceFetch {
    static func nsManagedObject() {
        _ = { () -> NSFetchRequest<any NSFetchRequestResult> in NSManagedObject.fetchRequest() }
    }

    static func nsManagedObjectContext() {
        _ = { (object: NSManagedObjectContext, a0: NSFetchRequest<any NSFetchRequestResult>) throws -> Int in
            try object.count(for: a0)
        }
        _ = { (object: NSManagedObjectContext, a0: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] in
            try object.fetch(a0)
        }
        _ = { (object: NSManagedObjectContext, a0: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] in
            try object.fetch(a0)
        }
        _ = { (object: NSManagedObjectContext, a0: NSFetchRequest<NSManagedObject>) throws -> Int in
            try object.count(for: a0)
        }
    }

    static func nsAsynchronousFetchRequest() {
        _ = NSAsynchronousFetchRequest<NSManagedObject>.self
        _ = { (object: NSAsynchronousFetchRequest<NSManagedObject>) -> NSPersistentStoreRequest in object }
        _ = { (object: NSAsynchronousFetchRequest<NSManagedObject>) -> NSFetchRequest<NSManagedObject> in
            object.fetchRequest
        }
        _ = {
            (
                object: NSAsynchronousFetchRequest<NSManagedObject>
            ) -> NSPersistentStoreAsynchronousFetchResultCompletionBlock? in object.completionBlock
        }
        _ = { (object: NSAsynchronousFetchRequest<NSManagedObject>) -> Int in object.estimatedResultCount }
        _ = { (object: NSAsynchronousFetchRequest<NSManagedObject>, value: Int) -> Void in
            object.estimatedResultCount = value
        }
        _ = {
            (
                a0: NSFetchRequest<NSManagedObject>, a1: ((NSAsynchronousFetchResult<NSManagedObject>) -> Void)?
            ) -> NSAsynchronousFetchRequest<NSManagedObject> in
            NSAsynchronousFetchRequest<NSManagedObject>(fetchRequest: a0, completionBlock: a1)
        }
    }

    static func nsAsynchronousFetchResult() {
        _ = NSAsynchronousFetchResult<NSManagedObject>.self
        _ = { (object: NSAsynchronousFetchResult<NSManagedObject>) -> NSPersistentStoreAsynchronousResult in object }
        _ = { (object: NSAsynchronousFetchResult<NSManagedObject>) -> NSAsynchronousFetchRequest<NSManagedObject> in
            object.fetchRequest
        }
        _ = { (object: NSAsynchronousFetchResult<NSManagedObject>) -> [NSManagedObject]? in object.finalResult }
    }

    static func nsDictionary() {
        _ = NSDictionary.self
        _ = { (object: NSDictionary) -> any NSFetchRequestResult in object }
    }

    static func nsFetchRequest1() {
        _ = NSFetchRequest<NSManagedObject>.self
        _ = { (object: NSFetchRequest<NSManagedObject>) -> NSPersistentStoreRequest in object }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> any NSCoding in object }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> any NSCopying in object }
        _ = { () -> NSFetchRequest<NSManagedObject> in NSFetchRequest<NSManagedObject>() }
        _ = { (a0: String) -> NSFetchRequest<NSManagedObject> in NSFetchRequest<NSManagedObject>(entityName: a0) }
        _ = { (object: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] in try object.execute() }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> NSEntityDescription? in object.entity }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: NSEntityDescription?) -> Void in object.entity = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> String? in object.entityName }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> NSPredicate? in object.predicate }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: NSPredicate?) -> Void in object.predicate = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> [NSSortDescriptor]? in object.sortDescriptors }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: [NSSortDescriptor]?) -> Void in
            object.sortDescriptors = value
        }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Int in object.fetchLimit }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Int) -> Void in object.fetchLimit = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> [NSPersistentStore]? in object.affectedStores }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: [NSPersistentStore]?) -> Void in
            object.affectedStores = value
        }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> NSFetchRequestResultType in object.resultType }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: NSFetchRequestResultType) -> Void in
            object.resultType = value
        }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Bool in object.includesSubentities }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Bool) -> Void in object.includesSubentities = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Bool in object.includesPropertyValues }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Bool) -> Void in object.includesPropertyValues = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Bool in object.returnsObjectsAsFaults }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Bool) -> Void in object.returnsObjectsAsFaults = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> [String]? in object.relationshipKeyPathsForPrefetching }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: [String]?) -> Void in
            object.relationshipKeyPathsForPrefetching = value
        }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Bool in object.includesPendingChanges }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Bool) -> Void in object.includesPendingChanges = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Bool in object.returnsDistinctResults }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Bool) -> Void in object.returnsDistinctResults = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> [Any]? in object.propertiesToFetch }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: [Any]?) -> Void in object.propertiesToFetch = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Int in object.fetchOffset }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Int) -> Void in object.fetchOffset = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Int in object.fetchBatchSize }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Int) -> Void in object.fetchBatchSize = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> Bool in object.shouldRefreshRefetchedObjects }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: Bool) -> Void in
            object.shouldRefreshRefetchedObjects = value
        }
    }

    static func nsFetchRequest2() {
        _ = { (object: NSFetchRequest<NSManagedObject>) -> [Any]? in object.propertiesToGroupBy }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: [Any]?) -> Void in object.propertiesToGroupBy = value }
        _ = { (object: NSFetchRequest<NSManagedObject>) -> NSPredicate? in object.havingPredicate }
        _ = { (object: NSFetchRequest<NSManagedObject>, value: NSPredicate?) -> Void in object.havingPredicate = value }
    }

    static func nsFetchRequestResult() {
        _ = (any NSFetchRequestResult).self
    }

    static func nsFetchRequestResultType() {
        _ = NSFetchRequestResultType.self
        func conformsNSFetchRequestResultTypeOptionSet<T: OptionSet>(_: T.Type) {}
        conformsNSFetchRequestResultTypeOptionSet(NSFetchRequestResultType.self)
        _ = { (object: NSFetchRequestResultType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSFetchRequestResultType in NSFetchRequestResultType(rawValue: a0) }
        _ = { () -> NSFetchRequestResultType in NSFetchRequestResultType.managedObjectResultType }
        _ = { () -> NSFetchRequestResultType in NSFetchRequestResultType.managedObjectIDResultType }
        _ = { () -> NSFetchRequestResultType in NSFetchRequestResultType.dictionaryResultType }
        _ = { () -> NSFetchRequestResultType in NSFetchRequestResultType.countResultType }
    }

    static func nsNumber() {
        _ = NSNumber.self
        _ = { (object: NSNumber) -> any NSFetchRequestResult in object }
    }

    static func global() {
        _ = {
            (
                value: @escaping (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void
            ) -> NSPersistentStoreAsynchronousFetchResultCompletionBlock in value
        }
    }
}
