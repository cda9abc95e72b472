import CoreData

/// Names every symbol of the group "object" with its signature, so that none can vanish. Never run.
enum SurfaceObject {
    static func nsManagedObject1() {
        _ = NSManagedObject.self
        _ = { (object: NSManagedObject) -> NSObject in object }
        _ = NSManagedObject.self
        _ = { (object: NSManagedObject) -> any NSFetchRequestResult in object }
        _ = NSManagedObject.self
        _ = { (object: NSManagedObject) -> any ObservableObject in object }
        _ = { () -> Bool in NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges }
        _ = { () -> NSEntityDescription in NSManagedObject.entity() }
        _ = { (a0: NSEntityDescription, a1: NSManagedObjectContext?) -> NSManagedObject in
            NSManagedObject(entity: a0, insertInto: a1)
        }
        _ = { (a0: NSManagedObjectContext) -> NSManagedObject in NSManagedObject(context: a0) }
        _ = { (object: NSManagedObject) -> NSManagedObjectContext? in object.managedObjectContext }
        _ = { (object: NSManagedObject) -> NSEntityDescription in object.entity }
        _ = { (object: NSManagedObject) -> NSManagedObjectID in object.objectID }
        _ = { (object: NSManagedObject) -> Bool in object.isInserted }
        _ = { (object: NSManagedObject) -> Bool in object.isUpdated }
        _ = { (object: NSManagedObject) -> Bool in object.isDeleted }
        _ = { (object: NSManagedObject) -> Bool in object.hasChanges }
        _ = { (object: NSManagedObject) -> Bool in object.hasPersistentChangedValues }
        _ = { (object: NSManagedObject) -> Bool in object.isFault }
        _ = { (object: NSManagedObject, a0: String) -> Bool in object.hasFault(forRelationshipNamed: a0) }
        _ = { (object: NSManagedObject, a0: String) -> [NSManagedObjectID] in object.objectIDs(forRelationshipNamed: a0)
        }
        _ = { (object: NSManagedObject) -> Int in object.faultingState }
        _ = { (object: NSManagedObject, a0: String?) -> Void in object.willAccessValue(forKey: a0) }
        _ = { (object: NSManagedObject, a0: String?) -> Void in object.didAccessValue(forKey: a0) }
        _ = { (object: NSManagedObject, a0: String) -> Void in object.willChangeValue(forKey: a0) }
        _ = { (object: NSManagedObject, a0: String) -> Void in object.didChangeValue(forKey: a0) }
        _ = { (object: NSManagedObject, a0: String, a1: NSKeyValueSetMutationKind, a2: Set<AnyHashable>) -> Void in
            object.willChangeValue(forKey: a0, withSetMutation: a1, using: a2)
        }
        _ = { (object: NSManagedObject, a0: String, a1: NSKeyValueSetMutationKind, a2: Set<AnyHashable>) -> Void in
            object.didChangeValue(forKey: a0, withSetMutation: a1, using: a2)
        }
        _ = { (object: NSManagedObject) -> Void in object.awakeFromFetch() }
        _ = { (object: NSManagedObject) -> Void in object.awakeFromInsert() }
        _ = { (object: NSManagedObject, a0: NSSnapshotEventType) -> Void in object.awake(fromSnapshotEvents: a0) }
        _ = { (object: NSManagedObject) -> Void in object.prepareForDeletion() }
        _ = { (object: NSManagedObject) -> Void in object.willSave() }
        _ = { (object: NSManagedObject) -> Void in object.didSave() }
        _ = { (object: NSManagedObject) -> Void in object.willTurnIntoFault() }
        _ = { (object: NSManagedObject) -> Void in object.didTurnIntoFault() }
        _ = { (object: NSManagedObject, a0: String) -> Any? in object.value(forKey: a0) }
        _ = { (object: NSManagedObject, a0: Any?, a1: String) -> Void in object.setValue(a0, forKey: a1) }
        _ = { (object: NSManagedObject, a0: String) -> Any? in object.primitiveValue(forKey: a0) }
        _ = { (object: NSManagedObject, a0: Any?, a1: String) -> Void in object.setPrimitiveValue(a0, forKey: a1) }
    }

    static func nsManagedObject2() {
        _ = { (object: NSManagedObject, a0: [String]?) -> [String: Any] in object.committedValues(forKeys: a0) }
        _ = { (object: NSManagedObject) -> [String: Any] in object.changedValues() }
        _ = { (object: NSManagedObject) -> [String: Any] in object.changedValuesForCurrentEvent() }
        _ = { (object: NSManagedObject, a0: UnsafeMutableRawPointer?) -> Void in object.setObservationInfo(a0) }
        _ = { (object: NSManagedObject) -> UnsafeMutableRawPointer? in object.observationInfo() }
        _ = { (object: NSManagedObject) -> ObservableObjectPublisher in object.objectWillChange }
        _ = { (value: ObservableObjectPublisher) -> NSManagedObject.ObjectWillChangePublisher in value }
        _ = { (object: NSManagedObject, key: String) -> Any? in object[key] }
        _ = { (object: NSManagedObject, key: String, value: Any?) -> Void in object[key] = value }
    }

    static func nsManagedObjectID() {
        _ = NSManagedObjectID.self
        _ = { (object: NSManagedObjectID) -> NSObject in object }
        _ = { (object: NSManagedObjectID) -> any NSCopying in object }
        _ = { (object: NSManagedObjectID) -> any Sendable in object }
        _ = NSManagedObjectID.self
        _ = { (object: NSManagedObjectID) -> any NSFetchRequestResult in object }
        _ = { (object: NSManagedObjectID) -> NSEntityDescription in object.entity }
        _ = { (object: NSManagedObjectID) -> NSPersistentStore? in object.persistentStore }
        _ = { (object: NSManagedObjectID) -> Bool in object.isTemporaryID }
        _ = { (object: NSManagedObjectID) -> URL in object.uriRepresentation() }
    }

    static func nsObject() {
        _ = { (object: NSObject, a0: Any?) -> Bool in object.isEqual(a0) }
        _ = { (object: NSObject) -> Int in object.hash }
        _ = { (object: NSObject) -> AnyClass? in object.superclass }
        _ = { () -> AnyClass in NSObject.`class`() }
        _ = { (object: NSObject) -> NSObject in object.`self`() }
        _ = { (object: NSObject) -> Bool in object.isProxy() }
        _ = { (object: NSObject, a0: AnyClass) -> Bool in object.isKind(of: a0) }
        _ = { (object: NSObject, a0: AnyClass) -> Bool in object.isMember(of: a0) }
        _ = { (object: NSObject) -> String in object.description }
        _ = { (a0: AnyClass) -> Bool in NSObject.isSubclass(of: a0) }
    }

    static func nsSnapshotEventType() {
        _ = NSSnapshotEventType.self
        func conformsNSSnapshotEventTypeOptionSet<T: OptionSet>(_: T.Type) {}
        conformsNSSnapshotEventTypeOptionSet(NSSnapshotEventType.self)
        _ = { (object: NSSnapshotEventType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSSnapshotEventType in NSSnapshotEventType(rawValue: a0) }
        _ = { () -> NSSnapshotEventType in NSSnapshotEventType.undoInsertion }
        _ = { () -> NSSnapshotEventType in NSSnapshotEventType.undoDeletion }
        _ = { () -> NSSnapshotEventType in NSSnapshotEventType.undoUpdate }
        _ = { () -> NSSnapshotEventType in NSSnapshotEventType.rollback }
        _ = { () -> NSSnapshotEventType in NSSnapshotEventType.refresh }
        _ = { () -> NSSnapshotEventType in NSSnapshotEventType.mergePolicy }
    }
}
