import CoreData

/// Names every symbol of the group "context" with its signature, so that none can vanish. Never run.
enum SurfaceContext {
    static func nsManagedObjectContext1() {
        _ = NSManagedObjectContext.self
        _ = { (object: NSManagedObjectContext) -> NSObject in object }
        _ = { (object: NSManagedObjectContext) -> any NSCoding in object }
        _ = { (object: NSManagedObjectContext) -> any NSLocking in object }
        _ = { (a0: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext in
            NSManagedObjectContext(concurrencyType: a0)
        }
        _ = { (object: NSManagedObjectContext, a0: @escaping () -> Void) -> Void in object.perform(a0) }
        _ = { (object: NSManagedObjectContext, a0: () -> Void) -> Void in object.performAndWait(a0) }
        _ = { (object: NSManagedObjectContext) -> NSPersistentStoreCoordinator? in object.persistentStoreCoordinator }
        _ = { (object: NSManagedObjectContext, value: NSPersistentStoreCoordinator?) -> Void in
            object.persistentStoreCoordinator = value
        }
        _ = { (object: NSManagedObjectContext) -> NSManagedObjectContext? in object.parent }
        _ = { (object: NSManagedObjectContext, value: NSManagedObjectContext?) -> Void in object.parent = value }
        _ = { (object: NSManagedObjectContext) -> String? in object.name }
        _ = { (object: NSManagedObjectContext, value: String?) -> Void in object.name = value }
        _ = { (object: NSManagedObjectContext) -> UndoManager? in object.undoManager }
        _ = { (object: NSManagedObjectContext, value: UndoManager?) -> Void in object.undoManager = value }
        _ = { (object: NSManagedObjectContext) -> Bool in object.hasChanges }
        _ = { (object: NSManagedObjectContext) -> NSMutableDictionary in object.userInfo }
        _ = { (object: NSManagedObjectContext) -> NSManagedObjectContextConcurrencyType in object.concurrencyType }
        _ = { (object: NSManagedObjectContext, a0: NSManagedObjectID) -> NSManagedObject? in
            object.registeredObject(for: a0)
        }
        _ = { (object: NSManagedObjectContext, a0: NSManagedObjectID) -> NSManagedObject in object.object(with: a0) }
        _ = { (object: NSManagedObjectContext, a0: NSManagedObjectID) throws -> NSManagedObject in
            try object.existingObject(with: a0)
        }
        _ = { (object: NSManagedObjectContext, a0: NSPersistentStoreRequest) throws -> NSPersistentStoreResult in
            try object.execute(a0)
        }
        _ = { (object: NSManagedObjectContext, a0: NSManagedObject) -> Void in object.insert(a0) }
        _ = { (object: NSManagedObjectContext, a0: NSManagedObject) -> Void in object.delete(a0) }
        _ = { (object: NSManagedObjectContext, a0: NSManagedObject, a1: Bool) -> Void in
            object.refresh(a0, mergeChanges: a1)
        }
        _ = {
            (
                object: NSManagedObjectContext, a0: String?, a1: Any?, a2: [String: Any]?, a3: UnsafeMutableRawPointer?
            ) -> Void in object.observeValue(forKeyPath: a0, of: a1, change: a2, context: a3)
        }
        _ = { (object: NSManagedObjectContext) -> Void in object.processPendingChanges() }
        _ = { (object: NSManagedObjectContext, a0: Any, a1: NSPersistentStore) -> Void in object.assign(a0, to: a1) }
        _ = { (object: NSManagedObjectContext) -> Set<NSManagedObject> in object.insertedObjects }
        _ = { (object: NSManagedObjectContext) -> Set<NSManagedObject> in object.updatedObjects }
        _ = { (object: NSManagedObjectContext) -> Set<NSManagedObject> in object.deletedObjects }
        _ = { (object: NSManagedObjectContext) -> Set<NSManagedObject> in object.registeredObjects }
        _ = { (object: NSManagedObjectContext) -> Void in object.undo() }
        _ = { (object: NSManagedObjectContext) -> Void in object.redo() }
        _ = { (object: NSManagedObjectContext) -> Void in object.reset() }
        _ = { (object: NSManagedObjectContext) -> Void in object.rollback() }
        _ = { (object: NSManagedObjectContext) throws -> Void in try object.save() }
        _ = { (object: NSManagedObjectContext) -> Void in object.refreshAllObjects() }
        _ = { (object: NSManagedObjectContext) -> Bool in object.propagatesDeletesAtEndOfEvent }
        _ = { (object: NSManagedObjectContext, value: Bool) -> Void in object.propagatesDeletesAtEndOfEvent = value }
    }

    static func nsManagedObjectContext2() {
        _ = { (object: NSManagedObjectContext) -> Bool in object.retainsRegisteredObjects }
        _ = { (object: NSManagedObjectContext, value: Bool) -> Void in object.retainsRegisteredObjects = value }
        _ = { (object: NSManagedObjectContext) -> Bool in object.shouldDeleteInaccessibleFaults }
        _ = { (object: NSManagedObjectContext, value: Bool) -> Void in object.shouldDeleteInaccessibleFaults = value }
        _ = {
            (
                object: NSManagedObjectContext, a0: NSManagedObject, a1: NSManagedObjectID, a2: NSPropertyDescription?
            ) -> Bool in object.shouldHandleInaccessibleFault(a0, for: a1, triggeredByProperty: a2)
        }
        _ = { (object: NSManagedObjectContext) -> TimeInterval in object.stalenessInterval }
        _ = { (object: NSManagedObjectContext, value: TimeInterval) -> Void in object.stalenessInterval = value }
        _ = { (object: NSManagedObjectContext, a0: [NSManagedObject]) throws -> Void in
            try object.obtainPermanentIDs(for: a0)
        }
        _ = { (a0: NSManagedObjectContext.ConcurrencyType) -> NSManagedObjectContext in NSManagedObjectContext(a0) }
        _ = { (object: NSManagedObjectContext, a0: () throws -> Int) throws -> Int in try object.performAndWait(a0) }
        _ = {
            (
                object: NSManagedObjectContext, a0: NSManagedObjectContext.ScheduledTaskType,
                a1: @escaping () throws -> Int
            ) async throws -> Int in try await object.perform(schedule: a0, a1)
        }
    }

    static func nsManagedObjectContextMemberConcurrencyType() {
        _ = NSManagedObjectContext.ConcurrencyType.self
        func conformsNSManagedObjectContextConcurrencyTypeHashable<T: Hashable>(_: T.Type) {}
        conformsNSManagedObjectContextConcurrencyTypeHashable(NSManagedObjectContext.ConcurrencyType.self)
        func conformsNSManagedObjectContextConcurrencyTypeEquatable<T: Equatable>(_: T.Type) {}
        conformsNSManagedObjectContextConcurrencyTypeEquatable(NSManagedObjectContext.ConcurrencyType.self)
        func conformsNSManagedObjectContextConcurrencyTypeRawRepresentable<T: RawRepresentable>(_: T.Type) {}
        conformsNSManagedObjectContextConcurrencyTypeRawRepresentable(NSManagedObjectContext.ConcurrencyType.self)
        _ = { () -> NSManagedObjectContext.ConcurrencyType in NSManagedObjectContext.ConcurrencyType.privateQueue }
        _ = { () -> NSManagedObjectContext.ConcurrencyType in NSManagedObjectContext.ConcurrencyType.mainQueue }
        _ = { (object: NSManagedObjectContext.ConcurrencyType) -> NSManagedObjectContextConcurrencyType in
            object.rawValue
        }
        _ = { (a0: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext.ConcurrencyType in
            NSManagedObjectContext.ConcurrencyType(rawValue: a0)
        }
        _ = { (value: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext.ConcurrencyType.RawValue in value
        }
    }

    static func nsManagedObjectContextMemberScheduledTaskType() {
        _ = NSManagedObjectContext.ScheduledTaskType.self
        _ = { () -> NSManagedObjectContext.ScheduledTaskType in .immediate }
        _ = { () -> NSManagedObjectContext.ScheduledTaskType in .enqueued }
        _ = { (a: NSManagedObjectContext.ScheduledTaskType, b: NSManagedObjectContext.ScheduledTaskType) -> Bool in
            a == b
        }
        _ = { (object: NSManagedObjectContext.ScheduledTaskType, hasher: inout Hasher) -> Void in
            object.hash(into: &hasher)
        }
        _ = { (object: NSManagedObjectContext.ScheduledTaskType) -> Int in object.hashValue }
    }

    static func nsManagedObjectContextConcurrencyType() {
        _ = NSManagedObjectContextConcurrencyType.self
        _ = { (value: NSManagedObjectContextConcurrencyType) -> UInt in value.rawValue }
        _ = { (object: NSManagedObjectContextConcurrencyType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSManagedObjectContextConcurrencyType? in
            NSManagedObjectContextConcurrencyType(rawValue: a0)
        }
        _ = { (object: NSManagedObjectContextConcurrencyType) -> UInt in object.rawValue }
        _ = { () -> NSManagedObjectContextConcurrencyType in .privateQueueConcurrencyType }
        _ = { () -> NSManagedObjectContextConcurrencyType in .mainQueueConcurrencyType }
    }
}
