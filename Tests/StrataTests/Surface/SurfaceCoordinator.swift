import CoreData

/// Names every symbol of the group "coordinator" with its signature, so that none can vanish. Never run.
enum SurfaceCoordinator {
    static func nsPersistentContainer() {
        _ = NSPersistentContainer.self
        _ = { (object: NSPersistentContainer) -> NSObject in object }
        _ = { (object: NSPersistentContainer) -> any Sendable in object }
        _ = { () -> URL in NSPersistentContainer.defaultDirectoryURL() }
        _ = { (object: NSPersistentContainer) -> String in object.name }
        _ = { (object: NSPersistentContainer) -> NSManagedObjectContext in object.viewContext }
        _ = { (object: NSPersistentContainer) -> NSManagedObjectModel in object.managedObjectModel }
        _ = { (object: NSPersistentContainer) -> NSPersistentStoreCoordinator in object.persistentStoreCoordinator }
        _ = { (object: NSPersistentContainer) -> [NSPersistentStoreDescription] in object.persistentStoreDescriptions }
        _ = { (object: NSPersistentContainer, value: [NSPersistentStoreDescription]) -> Void in
            object.persistentStoreDescriptions = value
        }
        _ = { (a0: String) -> NSPersistentContainer in NSPersistentContainer(name: a0) }
        _ = { (a0: String, a1: NSManagedObjectModel) -> NSPersistentContainer in
            NSPersistentContainer(name: a0, managedObjectModel: a1)
        }
        _ = {
            (object: NSPersistentContainer, a0: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) in
            object.loadPersistentStores(completionHandler: a0)
        }
        _ = { (object: NSPersistentContainer) -> NSManagedObjectContext in object.newBackgroundContext() }
        _ = { (object: NSPersistentContainer, a0: @escaping (NSManagedObjectContext) -> Void) -> Void in
            object.performBackgroundTask(a0)
        }
        _ = { () -> URL in NSPersistentContainer.defaultDirectoryURL }
        _ = {
            (object: NSPersistentContainer, a0: @escaping (NSManagedObjectContext) throws -> Int) async throws -> Int in
            try await object.performBackgroundTask(a0)
        }
    }

    static func nsPersistentStoreCoordinator() {
        _ = NSPersistentStoreCoordinator.self
        _ = { (object: NSPersistentStoreCoordinator) -> NSObject in object }
        _ = { (object: NSPersistentStoreCoordinator) -> any NSLocking in object }
        _ = { (object: NSPersistentStoreCoordinator) -> any Sendable in object }
        _ = { (a0: NSManagedObjectModel) -> NSPersistentStoreCoordinator in
            NSPersistentStoreCoordinator(managedObjectModel: a0)
        }
        _ = { (object: NSPersistentStoreCoordinator) -> NSManagedObjectModel in object.managedObjectModel }
        _ = { (object: NSPersistentStoreCoordinator) -> [NSPersistentStore] in object.persistentStores }
        _ = { (object: NSPersistentStoreCoordinator) -> String? in object.name }
        _ = { (object: NSPersistentStoreCoordinator, value: String?) -> Void in object.name = value }
        _ = { (object: NSPersistentStoreCoordinator, a0: URL) -> NSPersistentStore? in object.persistentStore(for: a0) }
        _ = { (object: NSPersistentStoreCoordinator, a0: NSPersistentStore) -> URL in object.url(for: a0) }
        _ = { (object: NSPersistentStoreCoordinator, a0: URL, a1: NSPersistentStore) -> Bool in
            object.setURL(a0, for: a1)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: String, a1: String?, a2: URL?, a3: [AnyHashable: Any]?
            ) throws -> NSPersistentStore in
            try object.addPersistentStore(ofType: a0, configurationName: a1, at: a2, options: a3)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: NSPersistentStoreDescription,
                a1: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
            ) -> Void in object.addPersistentStore(with: a0, completionHandler: a1)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: NSPersistentStore) throws -> Void in try object.remove(a0) }
        _ = { (object: NSPersistentStoreCoordinator, a0: [String: Any]?, a1: NSPersistentStore) -> Void in
            object.setMetadata(a0, for: a1)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: NSPersistentStore) -> [String: Any] in object.metadata(for: a0)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: URL) -> NSManagedObjectID? in
            object.managedObjectID(forURIRepresentation: a0)
        }
        _ = { () -> [String: NSValue] in NSPersistentStoreCoordinator.registeredStoreTypes }
        _ = { (a0: AnyClass?, a1: String) -> Void in
            NSPersistentStoreCoordinator.registerStoreClass(a0, forStoreType: a1)
        }
        _ = { (a0: String, a1: URL, a2: [AnyHashable: Any]?) throws -> [String: Any] in
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: a0, at: a1, options: a2)
        }
        _ = { (a0: [String: Any]?, a1: String, a2: URL, a3: [AnyHashable: Any]?) throws -> Void in
            try NSPersistentStoreCoordinator.setMetadata(a0, forPersistentStoreOfType: a1, at: a2, options: a3)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: NSPersistentStore, a1: URL, a2: [AnyHashable: Any]?,
                a3: String
            ) throws -> NSPersistentStore in try object.migratePersistentStore(a0, to: a1, options: a2, withType: a3)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: URL, a1: String, a2: [AnyHashable: Any]?) throws -> Void in
            try object.destroyPersistentStore(at: a0, ofType: a1, options: a2)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: URL, a1: [AnyHashable: Any]?, a2: URL,
                a3: [AnyHashable: Any]?, a4: String
            ) throws -> Void in
            try object.replacePersistentStore(
                at: a0, destinationOptions: a1, withPersistentStoreFrom: a2, sourceOptions: a3, ofType: a4)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: @escaping () -> Void) -> Void in object.perform(a0) }
        _ = { (object: NSPersistentStoreCoordinator, a0: () -> Void) -> Void in object.performAndWait(a0) }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: NSPersistentStore.StoreType, a1: String?, a2: URL,
                a3: [AnyHashable: Any]?
            ) throws -> NSPersistentStore in
            try object.addPersistentStore(type: a0, configuration: a1, at: a2, options: a3)
        }
        _ = { (a0: AnyClass?, a1: NSPersistentStore.StoreType) -> Void in
            NSPersistentStoreCoordinator.registerStoreClass(a0, type: a1)
        }
        _ = { (a0: NSPersistentStore.StoreType, a1: URL, a2: [AnyHashable: Any]?) throws -> [String: Any] in
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: a0, at: a1, options: a2)
        }
        _ = { (a0: [String: Any]?, a1: NSPersistentStore.StoreType, a2: URL, a3: [AnyHashable: Any]?) throws -> Void in
            try NSPersistentStoreCoordinator.setMetadata(a0, type: a1, at: a2, options: a3)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: NSPersistentStore, a1: URL, a2: [AnyHashable: Any]?,
                a3: NSPersistentStore.StoreType
            ) throws -> NSPersistentStore in try object.migratePersistentStore(a0, to: a1, options: a2, type: a3)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: URL, a1: NSPersistentStore.StoreType, a2: [AnyHashable: Any]?
            ) throws -> Void in try object.destroyPersistentStore(at: a0, type: a1, options: a2)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: URL, a1: [AnyHashable: Any]?, a2: URL,
                a3: [AnyHashable: Any]?, a4: NSPersistentStore.StoreType
            ) throws -> Void in
            try object.replacePersistentStore(
                at: a0, destinationOptions: a1, withPersistentStoreFrom: a2, sourceOptions: a3, type: a4)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: () throws -> Int) throws -> Int in
            try object.performAndWait(a0)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: @escaping () throws -> Int) async throws -> Int in
            try await object.perform(a0)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: String) -> NSManagedObjectID? in
            object.managedObjectID(for: a0)
        }
        _ = { (object: NSPersistentStoreCoordinator, a0: UnsafePointer<CChar>, a1: Int) -> NSManagedObjectID in
            object.__managedObjectID(fromUTF8String: a0, length: a1)
        }
    }

    static func nsPersistentStoreDescription() {
        _ = NSPersistentStoreDescription.self
        _ = { (object: NSPersistentStoreDescription) -> NSObject in object }
        _ = { (object: NSPersistentStoreDescription) -> any NSCopying in object }
        _ = { (object: NSPersistentStoreDescription) -> String in object.type }
        _ = { (object: NSPersistentStoreDescription, value: String) -> Void in object.type = value }
        _ = { (object: NSPersistentStoreDescription) -> String? in object.configuration }
        _ = { (object: NSPersistentStoreDescription, value: String?) -> Void in object.configuration = value }
        _ = { (object: NSPersistentStoreDescription) -> URL? in object.url }
        _ = { (object: NSPersistentStoreDescription, value: URL?) -> Void in object.url = value }
        _ = { (object: NSPersistentStoreDescription) -> [String: NSObject] in object.options }
        _ = { (object: NSPersistentStoreDescription, a0: NSObject?, a1: String) -> Void in
            object.setOption(a0, forKey: a1)
        }
        _ = { (object: NSPersistentStoreDescription) -> Bool in object.isReadOnly }
        _ = { (object: NSPersistentStoreDescription, value: Bool) -> Void in object.isReadOnly = value }
        _ = { (object: NSPersistentStoreDescription) -> TimeInterval in object.timeout }
        _ = { (object: NSPersistentStoreDescription, value: TimeInterval) -> Void in object.timeout = value }
        _ = { (object: NSPersistentStoreDescription) -> [String: NSObject] in object.sqlitePragmas }
        _ = { (object: NSPersistentStoreDescription, a0: NSObject?, a1: String) -> Void in
            object.setValue(a0, forPragmaNamed: a1)
        }
        _ = { (object: NSPersistentStoreDescription) -> Bool in object.shouldAddStoreAsynchronously }
        _ = { (object: NSPersistentStoreDescription, value: Bool) -> Void in object.shouldAddStoreAsynchronously = value
        }
        _ = { (object: NSPersistentStoreDescription) -> Bool in object.shouldMigrateStoreAutomatically }
        _ = { (object: NSPersistentStoreDescription, value: Bool) -> Void in
            object.shouldMigrateStoreAutomatically = value
        }
        _ = { (object: NSPersistentStoreDescription) -> Bool in object.shouldInferMappingModelAutomatically }
        _ = { (object: NSPersistentStoreDescription, value: Bool) -> Void in
            object.shouldInferMappingModelAutomatically = value
        }
        _ = { (a0: URL) -> NSPersistentStoreDescription in NSPersistentStoreDescription(url: a0) }
    }

    static func global() {
        _ = { () -> Double in NSCoreDataVersionNumber }
        _ = { () -> Double in NSCoreDataVersionNumber10_4 }
        _ = { () -> Double in NSCoreDataVersionNumber10_4_3 }
        _ = { () -> Double in NSCoreDataVersionNumber10_5 }
        _ = { () -> Double in NSCoreDataVersionNumber10_5_3 }
        _ = { () -> Double in NSCoreDataVersionNumber10_6 }
        _ = { () -> Double in NSCoreDataVersionNumber10_6_2 }
        _ = { () -> Double in NSCoreDataVersionNumber10_6_3 }
        _ = { () -> Double in NSCoreDataVersionNumber10_7 }
        _ = { () -> Double in NSCoreDataVersionNumber10_7_2 }
        _ = { () -> Double in NSCoreDataVersionNumber10_7_3 }
        _ = { () -> Double in NSCoreDataVersionNumber10_7_4 }
        _ = { () -> Double in NSCoreDataVersionNumber10_8 }
        _ = { () -> Double in NSCoreDataVersionNumber10_8_2 }
        _ = { () -> Double in NSCoreDataVersionNumber10_9 }
        _ = { () -> Double in NSCoreDataVersionNumber10_9_2 }
        _ = { () -> Double in NSCoreDataVersionNumber10_9_3 }
        _ = { () -> Double in NSCoreDataVersionNumber10_10 }
        _ = { () -> Double in NSCoreDataVersionNumber10_10_2 }
        _ = { () -> Double in NSCoreDataVersionNumber10_10_3 }
        _ = { () -> Double in NSCoreDataVersionNumber10_11 }
        _ = { () -> Double in NSCoreDataVersionNumber10_11_3 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_3_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_3_1 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_3_2 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_4_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_4_1 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_4_2 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_4_3 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_5_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_5_1 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_6_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_6_1 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_7_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_7_1 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_8_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_8_3 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_9_0 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_9_2 }
        _ = { () -> Double in NSCoreDataVersionNumber_iPhoneOS_9_3 }
    }
}
