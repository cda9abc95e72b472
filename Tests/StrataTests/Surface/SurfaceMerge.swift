import CoreData

/// Names every symbol of the group "merge" with its signature, so that none can vanish. Never run.
enum SurfaceMerge {
    static func nsManagedObjectContext() {
        _ = { (object: NSManagedObjectContext, a0: NSManagedObject) -> Void in object.detectConflicts(for: a0) }
        _ = { (object: NSManagedObjectContext) -> Any in object.mergePolicy }
        _ = { (object: NSManagedObjectContext, value: Any) -> Void in object.mergePolicy = value }
        _ = { (object: NSManagedObjectContext, a0: Notification) -> Void in object.mergeChanges(fromContextDidSave: a0)
        }
        _ = { (a0: [AnyHashable: Any], a1: [NSManagedObjectContext]) -> Void in
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: a0, into: a1)
        }
        _ = { (object: NSManagedObjectContext) -> Bool in object.automaticallyMergesChangesFromParent }
        _ = { (object: NSManagedObjectContext, value: Bool) -> Void in
            object.automaticallyMergesChangesFromParent = value
        }
    }

    static func nsConstraintConflict() {
        _ = NSConstraintConflict.self
        _ = { (object: NSConstraintConflict) -> NSObject in object }
        _ = { (object: NSConstraintConflict) -> [String] in object.constraint }
        _ = { (object: NSConstraintConflict) -> [String: Any] in object.constraintValues }
        _ = { (object: NSConstraintConflict) -> NSManagedObject? in object.databaseObject }
        _ = { (object: NSConstraintConflict) -> [String: Any]? in object.databaseSnapshot }
        _ = { (object: NSConstraintConflict) -> [NSManagedObject] in object.conflictingObjects }
        _ = { (object: NSConstraintConflict) -> [[AnyHashable: Any]] in object.conflictingSnapshots }
        _ = {
            (
                a0: [String], a1: NSManagedObject?, a2: [AnyHashable: Any]?, a3: [NSManagedObject], a4: [Any]
            ) -> NSConstraintConflict in
            NSConstraintConflict(
                constraint: a0, database: a1, databaseSnapshot: a2, conflicting: a3, conflictingSnapshots: a4)
        }
    }

    static func nsMergeConflict() {
        _ = NSMergeConflict.self
        _ = { (object: NSMergeConflict) -> NSObject in object }
        _ = { (object: NSMergeConflict) -> NSManagedObject in object.sourceObject }
        _ = { (object: NSMergeConflict) -> [String: Any]? in object.objectSnapshot }
        _ = { (object: NSMergeConflict) -> [String: Any]? in object.cachedSnapshot }
        _ = { (object: NSMergeConflict) -> [String: Any]? in object.persistedSnapshot }
        _ = { (object: NSMergeConflict) -> Int in object.newVersionNumber }
        _ = { (object: NSMergeConflict) -> Int in object.oldVersionNumber }
        _ = { (a0: NSManagedObject, a1: Int, a2: Int, a3: [String: Any]?, a4: [String: Any]?) -> NSMergeConflict in
            NSMergeConflict(source: a0, newVersion: a1, oldVersion: a2, cachedSnapshot: a3, persistedSnapshot: a4)
        }
    }

    static func nsMergePolicy() {
        _ = NSMergePolicy.self
        _ = { (object: NSMergePolicy) -> NSObject in object }
        _ = { () -> NSMergePolicy in NSMergePolicy.error }
        _ = { () -> NSMergePolicy in NSMergePolicy.rollback }
        _ = { () -> NSMergePolicy in NSMergePolicy.overwrite }
        _ = { () -> NSMergePolicy in NSMergePolicy.mergeByPropertyObjectTrump }
        _ = { () -> NSMergePolicy in NSMergePolicy.mergeByPropertyStoreTrump }
        _ = { (object: NSMergePolicy) -> NSMergePolicyType in object.mergeType }
        _ = { (a0: NSMergePolicyType) -> NSMergePolicy in NSMergePolicy(merge: a0) }
        _ = { (object: NSMergePolicy, a0: [Any]) throws -> Void in try object.resolve(mergeConflicts: a0) }
        _ = { (object: NSMergePolicy, a0: [NSMergeConflict]) throws -> Void in
            try object.resolve(optimisticLockingConflicts: a0)
        }
        _ = { (object: NSMergePolicy, a0: [NSConstraintConflict]) throws -> Void in
            try object.resolve(constraintConflicts: a0)
        }
    }

    static func nsMergePolicyType() {
        _ = NSMergePolicyType.self
        _ = { (value: NSMergePolicyType) -> UInt in value.rawValue }
        _ = { (object: NSMergePolicyType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSMergePolicyType? in NSMergePolicyType(rawValue: a0) }
        _ = { (object: NSMergePolicyType) -> UInt in object.rawValue }
        _ = { () -> NSMergePolicyType in .errorMergePolicyType }
        _ = { () -> NSMergePolicyType in .mergeByPropertyStoreTrumpMergePolicyType }
        _ = { () -> NSMergePolicyType in .mergeByPropertyObjectTrumpMergePolicyType }
        _ = { () -> NSMergePolicyType in .overwriteMergePolicyType }
        _ = { () -> NSMergePolicyType in .rollbackMergePolicyType }
    }

    static func global() {
        _ = { () -> AnyObject in NSErrorMergePolicy }
        _ = { () -> AnyObject in NSMergeByPropertyStoreTrumpMergePolicy }
        _ = { () -> AnyObject in NSMergeByPropertyObjectTrumpMergePolicy }
        _ = { () -> AnyObject in NSOverwriteMergePolicy }
        _ = { () -> AnyObject in NSRollbackMergePolicy }
    }
}
