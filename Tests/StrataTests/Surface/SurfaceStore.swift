import CoreData

/// Names every symbol of the group "store" with its signature, so that none can vanish. Never run.
enum SurfaceStore {
    static func nsAtomicStore() {
        _ = NSAtomicStore.self
        _ = { (object: NSAtomicStore) -> NSPersistentStore in object }
        _ = { (a0: NSPersistentStoreCoordinator?, a1: String?, a2: URL, a3: [AnyHashable: Any]?) -> NSAtomicStore in
            NSAtomicStore(persistentStoreCoordinator: a0, configurationName: a1, at: a2, options: a3)
        }
        _ = { (object: NSAtomicStore) throws -> Void in try object.load() }
        _ = { (object: NSAtomicStore) throws -> Void in try object.save() }
        _ = { (object: NSAtomicStore, a0: NSManagedObject) -> NSAtomicStoreCacheNode in object.newCacheNode(for: a0) }
        _ = { (object: NSAtomicStore, a0: NSAtomicStoreCacheNode, a1: NSManagedObject) -> Void in
            object.updateCacheNode(a0, from: a1)
        }
        _ = { (object: NSAtomicStore) -> Set<NSAtomicStoreCacheNode> in object.cacheNodes() }
        _ = { (object: NSAtomicStore, a0: Set<NSAtomicStoreCacheNode>) -> Void in object.addCacheNodes(a0) }
        _ = { (object: NSAtomicStore, a0: Set<NSAtomicStoreCacheNode>) -> Void in object.willRemoveCacheNodes(a0) }
        _ = { (object: NSAtomicStore, a0: NSManagedObjectID) -> NSAtomicStoreCacheNode? in object.cacheNode(for: a0) }
        _ = { (object: NSAtomicStore, a0: NSEntityDescription, a1: Any) -> NSManagedObjectID in
            object.objectID(for: a0, withReferenceObject: a1)
        }
        _ = { (object: NSAtomicStore, a0: NSManagedObject) -> Any in object.newReferenceObject(for: a0) }
        _ = { (object: NSAtomicStore, a0: NSManagedObjectID) -> Any in object.referenceObject(for: a0) }
    }

    static func nsAtomicStoreCacheNode() {
        _ = NSAtomicStoreCacheNode.self
        _ = { (object: NSAtomicStoreCacheNode) -> NSObject in object }
        _ = { (a0: NSManagedObjectID) -> NSAtomicStoreCacheNode in NSAtomicStoreCacheNode(objectID: a0) }
        _ = { (object: NSAtomicStoreCacheNode) -> NSManagedObjectID in object.objectID }
        _ = { (object: NSAtomicStoreCacheNode) -> NSMutableDictionary? in object.propertyCache }
        _ = { (object: NSAtomicStoreCacheNode, value: NSMutableDictionary?) -> Void in object.propertyCache = value }
        _ = { (object: NSAtomicStoreCacheNode, a0: String) -> Any? in object.value(forKey: a0) }
        _ = { (object: NSAtomicStoreCacheNode, a0: Any?, a1: String) -> Void in object.setValue(a0, forKey: a1) }
    }

    static func nsIncrementalStore() {
        _ = NSIncrementalStore.self
        _ = { (object: NSIncrementalStore) -> NSPersistentStore in object }
        _ = { (object: NSIncrementalStore) throws -> Void in try object.loadMetadata() }
        _ = { (object: NSIncrementalStore, a0: NSPersistentStoreRequest, a1: NSManagedObjectContext?) throws -> Any in
            try object.execute(a0, with: a1)
        }
        _ = {
            (
                object: NSIncrementalStore, a0: NSManagedObjectID, a1: NSManagedObjectContext
            ) throws -> NSIncrementalStoreNode in try object.newValuesForObject(with: a0, with: a1)
        }
        _ = {
            (
                object: NSIncrementalStore, a0: NSRelationshipDescription, a1: NSManagedObjectID,
                a2: NSManagedObjectContext?
            ) throws -> Any in try object.newValue(forRelationship: a0, forObjectWith: a1, with: a2)
        }
        _ = { (a0: URL) -> Any in NSIncrementalStore.identifierForNewStore(at: a0) }
        _ = { (object: NSIncrementalStore, a0: [NSManagedObject]) throws -> [NSManagedObjectID] in
            try object.obtainPermanentIDs(for: a0)
        }
        _ = { (object: NSIncrementalStore, a0: [NSManagedObjectID]) -> Void in
            object.managedObjectContextDidRegisterObjects(with: a0)
        }
        _ = { (object: NSIncrementalStore, a0: [NSManagedObjectID]) -> Void in
            object.managedObjectContextDidUnregisterObjects(with: a0)
        }
        _ = { (object: NSIncrementalStore, a0: NSEntityDescription, a1: Any) -> NSManagedObjectID in
            object.newObjectID(for: a0, referenceObject: a1)
        }
        _ = { (object: NSIncrementalStore, a0: NSManagedObjectID) -> Any in object.referenceObject(for: a0) }
    }

    static func nsIncrementalStoreNode() {
        _ = NSIncrementalStoreNode.self
        _ = { (object: NSIncrementalStoreNode) -> NSObject in object }
        _ = { (a0: NSManagedObjectID, a1: [String: Any], a2: UInt64) -> NSIncrementalStoreNode in
            NSIncrementalStoreNode(objectID: a0, withValues: a1, version: a2)
        }
        _ = { (object: NSIncrementalStoreNode, a0: [String: Any], a1: UInt64) -> Void in
            object.update(withValues: a0, version: a1)
        }
        _ = { (object: NSIncrementalStoreNode) -> NSManagedObjectID in object.objectID }
        _ = { (object: NSIncrementalStoreNode) -> UInt64 in object.version }
        _ = { (object: NSIncrementalStoreNode, a0: NSPropertyDescription) -> Any? in object.value(for: a0) }
    }

    static func nsPersistentStore() {
        _ = NSPersistentStore.self
        _ = { (object: NSPersistentStore) -> NSObject in object }
        _ = { (a0: URL) throws -> [String: Any] in try NSPersistentStore.metadataForPersistentStore(with: a0) }
        _ = { (a0: [String: Any]?, a1: URL) throws -> Void in
            try NSPersistentStore.setMetadata(a0, forPersistentStoreAt: a1)
        }
        _ = { (a0: NSPersistentStoreCoordinator?, a1: String?, a2: URL, a3: [AnyHashable: Any]?) -> NSPersistentStore in
            NSPersistentStore(persistentStoreCoordinator: a0, configurationName: a1, at: a2, options: a3)
        }
        _ = { (object: NSPersistentStore) throws -> Void in try object.loadMetadata() }
        _ = { (object: NSPersistentStore) -> NSPersistentStoreCoordinator? in object.persistentStoreCoordinator }
        _ = { (object: NSPersistentStore) -> String in object.configurationName }
        _ = { (object: NSPersistentStore) -> [AnyHashable: Any]? in object.options }
        _ = { (object: NSPersistentStore) -> URL? in object.url }
        _ = { (object: NSPersistentStore, value: URL?) -> Void in object.url = value }
        _ = { (object: NSPersistentStore) -> String? in object.identifier }
        _ = { (object: NSPersistentStore, value: String?) -> Void in object.identifier = value }
        _ = { (object: NSPersistentStore) -> String in object.type }
        _ = { (object: NSPersistentStore) -> Bool in object.isReadOnly }
        _ = { (object: NSPersistentStore, value: Bool) -> Void in object.isReadOnly = value }
        _ = { (object: NSPersistentStore) -> [String: Any]? in object.metadata }
        _ = { (object: NSPersistentStore, value: [String: Any]?) -> Void in object.metadata = value }
        _ = { (object: NSPersistentStore, a0: NSPersistentStoreCoordinator) -> Void in object.didAdd(to: a0) }
        _ = { (object: NSPersistentStore, a0: NSPersistentStoreCoordinator?) -> Void in object.willRemove(from: a0) }
    }

    static func nsPersistentStoreMemberStoreType() {
        _ = NSPersistentStore.StoreType.self
        func conformsNSPersistentStoreStoreTypeHashable<T: Hashable>(_: T.Type) {}
        conformsNSPersistentStoreStoreTypeHashable(NSPersistentStore.StoreType.self)
        func conformsNSPersistentStoreStoreTypeEquatable<T: Equatable>(_: T.Type) {}
        conformsNSPersistentStoreStoreTypeEquatable(NSPersistentStore.StoreType.self)
        func conformsNSPersistentStoreStoreTypeRawRepresentable<T: RawRepresentable>(_: T.Type) {}
        conformsNSPersistentStoreStoreTypeRawRepresentable(NSPersistentStore.StoreType.self)
        _ = { (object: NSPersistentStore.StoreType) -> String in object.rawValue }
        _ = { (a0: String) -> NSPersistentStore.StoreType in NSPersistentStore.StoreType(rawValue: a0) }
        _ = { (value: String) -> NSPersistentStore.StoreType.RawValue in value }
        _ = { () -> NSPersistentStore.StoreType in NSPersistentStore.StoreType.sqlite }
        _ = { () -> NSPersistentStore.StoreType in NSPersistentStore.StoreType.binary }
        _ = { () -> NSPersistentStore.StoreType in NSPersistentStore.StoreType.inMemory }
        _ = { () -> NSPersistentStore.StoreType in NSPersistentStore.StoreType.xml }
    }

    static func nsPersistentStoreAsynchronousResult() {
        _ = NSPersistentStoreAsynchronousResult.self
        _ = { (object: NSPersistentStoreAsynchronousResult) -> NSPersistentStoreResult in object }
        _ = { (object: NSPersistentStoreAsynchronousResult) -> NSManagedObjectContext in object.managedObjectContext }
        _ = { (object: NSPersistentStoreAsynchronousResult) -> (any Error)? in object.operationError }
        _ = { (object: NSPersistentStoreAsynchronousResult) -> Progress? in object.progress }
        _ = { (object: NSPersistentStoreAsynchronousResult) -> Void in object.cancel() }
    }

    static func nsPersistentStoreRequest() {
        _ = NSPersistentStoreRequest.self
        _ = { (object: NSPersistentStoreRequest) -> NSObject in object }
        _ = { (object: NSPersistentStoreRequest) -> any NSCopying in object }
        _ = { (object: NSPersistentStoreRequest) -> [NSPersistentStore]? in object.affectedStores }
        _ = { (object: NSPersistentStoreRequest, value: [NSPersistentStore]?) -> Void in object.affectedStores = value }
        _ = { (object: NSPersistentStoreRequest) -> NSPersistentStoreRequestType in object.requestType }
    }

    static func nsPersistentStoreRequestType() {
        _ = NSPersistentStoreRequestType.self
        _ = { (value: NSPersistentStoreRequestType) -> UInt in value.rawValue }
        _ = { (object: NSPersistentStoreRequestType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSPersistentStoreRequestType? in NSPersistentStoreRequestType(rawValue: a0) }
        _ = { (object: NSPersistentStoreRequestType) -> UInt in object.rawValue }
        _ = { () -> NSPersistentStoreRequestType in .fetchRequestType }
        _ = { () -> NSPersistentStoreRequestType in .saveRequestType }
        _ = { () -> NSPersistentStoreRequestType in .batchInsertRequestType }
        _ = { () -> NSPersistentStoreRequestType in .batchUpdateRequestType }
        _ = { () -> NSPersistentStoreRequestType in .batchDeleteRequestType }
    }

    static func nsPersistentStoreResult() {
        _ = NSPersistentStoreResult.self
        _ = { (object: NSPersistentStoreResult) -> NSObject in object }
    }

    static func nsSaveChangesRequest() {
        _ = NSSaveChangesRequest.self
        _ = { (object: NSSaveChangesRequest) -> NSPersistentStoreRequest in object }
        _ = {
            (
                a0: Set<NSManagedObject>?, a1: Set<NSManagedObject>?, a2: Set<NSManagedObject>?,
                a3: Set<NSManagedObject>?
            ) -> NSSaveChangesRequest in NSSaveChangesRequest(inserted: a0, updated: a1, deleted: a2, locked: a3)
        }
        _ = { (object: NSSaveChangesRequest) -> Set<NSManagedObject>? in object.insertedObjects }
        _ = { (object: NSSaveChangesRequest) -> Set<NSManagedObject>? in object.updatedObjects }
        _ = { (object: NSSaveChangesRequest) -> Set<NSManagedObject>? in object.deletedObjects }
        _ = { (object: NSSaveChangesRequest) -> Set<NSManagedObject>? in object.lockedObjects }
    }

    static func global() {
        _ = { () -> String in NSSQLiteStoreType }
        _ = { () -> String in NSXMLStoreType }
        _ = { () -> String in NSBinaryStoreType }
        _ = { () -> String in NSInMemoryStoreType }
        _ = { () -> String in NSStoreTypeKey }
        _ = { () -> String in NSStoreUUIDKey }
        _ = { () -> String in NSReadOnlyPersistentStoreOption }
        _ = { () -> String in NSValidateXMLStoreOption }
        _ = { () -> String in NSPersistentStoreTimeoutOption }
        _ = { () -> String in NSSQLitePragmasOption }
        _ = { () -> String in NSSQLiteAnalyzeOption }
        _ = { () -> String in NSSQLiteManualVacuumOption }
        _ = { () -> String in NSStoreModelVersionHashesKey }
        _ = { () -> String in NSStoreModelVersionIdentifiersKey }
        _ = { () -> String in NSPersistentStoreOSCompatibility }
        _ = { () -> String in NSPersistentStoreConnectionPoolMaxSizeKey }
        _ = { () -> String in NSPersistentStoreForceDestroyOption }
        _ = { () -> String in NSPersistentStoreFileProtectionKey }
        _ = { () -> String in NSBinaryStoreSecureDecodingClasses }
        _ = { () -> String in NSBinaryStoreInsecureDecodingCompatibilityOption }
    }
}
