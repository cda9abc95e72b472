import CoreData

/// Names every symbol of the group "deprecated" with its signature, so that none can vanish. Never run.
@available(*, deprecated)
enum SurfaceDeprecated {
    static func nsManagedObjectContext() {
        _ = { () -> NSManagedObjectContext in NSManagedObjectContext() }
        _ = { (object: NSManagedObjectContext) -> Void in object.lock() }
        _ = { (object: NSManagedObjectContext) -> Void in object.unlock() }
        _ = { (object: NSManagedObjectContext) -> Bool in object.tryLock() }
    }

    static func nsManagedObjectContextConcurrencyType() {
        _ = { () -> NSManagedObjectContextConcurrencyType in .confinementConcurrencyType }
    }

    static func nsEntityDescription() {
        _ = { (object: NSEntityDescription) -> [[Any]] in object.compoundIndexes }
        _ = { (object: NSEntityDescription, value: [[Any]]) -> Void in object.compoundIndexes = value }
    }

    static func nsPropertyDescription() {
        _ = { (object: NSPropertyDescription) -> Bool in object.isIndexed }
        _ = { (object: NSPropertyDescription, value: Bool) -> Void in object.isIndexed = value }
        _ = { (object: NSPropertyDescription) -> Bool in object.isStoredInExternalRecord }
        _ = { (object: NSPropertyDescription, value: Bool) -> Void in object.isStoredInExternalRecord = value }
    }

    static func nsPersistentStoreCoordinator() {
        _ = { (a0: URL) -> [AnyHashable: Any] in NSPersistentStoreCoordinator.elementsDerived(fromExternalRecordAt: a0)
        }
        _ = {
            (
                object: NSPersistentStoreCoordinator, a0: String?, a1: URL, a2: URL, a3: [AnyHashable: Any]?, a4: String
            ) throws -> NSPersistentStore in
            try object.importStore(
                withIdentifier: a0, fromExternalRecordsDirectoryAt: a1, to: a2, options: a3, ofType: a4)
        }
        _ = { (a0: URL) throws -> [AnyHashable: Any] in
            try NSPersistentStoreCoordinator.metadataForPersistentStore(with: a0)
        }
        _ = { (object: NSPersistentStoreCoordinator) -> Void in object.lock() }
        _ = { (object: NSPersistentStoreCoordinator) -> Void in object.unlock() }
        _ = { (object: NSPersistentStoreCoordinator) -> Bool in object.tryLock() }
        _ = { (a0: String?, a1: URL) throws -> [String: Any] in
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: a0, at: a1)
        }
        _ = { (a0: [String: Any]?, a1: String?, a2: URL) throws -> Void in
            try NSPersistentStoreCoordinator.setMetadata(a0, forPersistentStoreOfType: a1, at: a2)
        }
        _ = { (a0: URL, a1: [AnyHashable: Any]?) throws -> Void in
            try NSPersistentStoreCoordinator.removeUbiquitousContentAndPersistentStore(at: a0, options: a1)
        }
    }

    static func nsNotificationMemberName() {
        _ = { () -> NSNotification.Name in NSNotification.Name.NSPersistentStoreDidImportUbiquitousContentChanges }
    }

    static func cocoaError1() {
        _ = { () -> CocoaError.Code in CocoaError.managedObjectValidationError }
        _ = { () -> CocoaError.Code in CocoaError.validationMultipleErrorsError }
        _ = { () -> CocoaError.Code in CocoaError.validationMissingMandatoryPropertyError }
        _ = { () -> CocoaError.Code in CocoaError.validationRelationshipLacksMinimumCountError }
        _ = { () -> CocoaError.Code in CocoaError.validationRelationshipExceedsMaximumCountError }
        _ = { () -> CocoaError.Code in CocoaError.validationRelationshipDeniedDeleteError }
        _ = { () -> CocoaError.Code in CocoaError.validationNumberTooLargeError }
        _ = { () -> CocoaError.Code in CocoaError.validationNumberTooSmallError }
        _ = { () -> CocoaError.Code in CocoaError.validationDateTooLateError }
        _ = { () -> CocoaError.Code in CocoaError.validationDateTooSoonError }
        _ = { () -> CocoaError.Code in CocoaError.validationInvalidDateError }
        _ = { () -> CocoaError.Code in CocoaError.validationStringTooLongError }
        _ = { () -> CocoaError.Code in CocoaError.validationStringTooShortError }
        _ = { () -> CocoaError.Code in CocoaError.validationStringPatternMatchingError }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectContextLockingError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreCoordinatorLockingError }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectReferentialIntegrityError }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectExternalRelationshipError }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectMergeError }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectConstraintMergeError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreInvalidTypeError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreTypeMismatchError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreIncompatibleSchemaError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreSaveError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreIncompleteSaveError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreSaveConflictsError }
        _ = { () -> CocoaError.Code in CocoaError.coreDataError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreOperationError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreOpenError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreTimeoutError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreUnsupportedRequestTypeError }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreIncompatibleVersionHashError }
        _ = { () -> CocoaError.Code in CocoaError.migrationError }
        _ = { () -> CocoaError.Code in CocoaError.migrationCancelledError }
        _ = { () -> CocoaError.Code in CocoaError.migrationMissingSourceModelError }
        _ = { () -> CocoaError.Code in CocoaError.migrationMissingMappingModelError }
        _ = { () -> CocoaError.Code in CocoaError.migrationManagerSourceStoreError }
        _ = { () -> CocoaError.Code in CocoaError.migrationManagerDestinationStoreError }
        _ = { () -> CocoaError.Code in CocoaError.entityMigrationPolicyError }
        _ = { () -> CocoaError.Code in CocoaError.sqliteError }
    }

    static func cocoaError2() {
        _ = { () -> CocoaError.Code in CocoaError.inferredMappingModelError }
        _ = { () -> CocoaError.Code in CocoaError.externalRecordImportError }
    }

    static func cocoaErrorMemberCode1() {
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectValidationError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationMultipleErrorsError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationMissingMandatoryPropertyError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationRelationshipLacksMinimumCountError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationRelationshipExceedsMaximumCountError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationRelationshipDeniedDeleteError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationNumberTooLargeError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationNumberTooSmallError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationDateTooLateError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationDateTooSoonError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationInvalidDateError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationStringTooLongError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationStringTooShortError }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationStringPatternMatchingError }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectContextLockingError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreCoordinatorLockingError }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectReferentialIntegrityError }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectExternalRelationshipError }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectMergeError }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectConstraintMergeError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreInvalidTypeError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreTypeMismatchError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreIncompatibleSchemaError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreSaveError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreIncompleteSaveError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreSaveConflictsError }
        _ = { () -> CocoaError.Code in CocoaError.Code.coreDataError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreOperationError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreOpenError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreTimeoutError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreUnsupportedRequestTypeError }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreIncompatibleVersionHashError }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationError }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationCancelledError }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationMissingSourceModelError }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationMissingMappingModelError }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationManagerSourceStoreError }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationManagerDestinationStoreError }
        _ = { () -> CocoaError.Code in CocoaError.Code.entityMigrationPolicyError }
        _ = { () -> CocoaError.Code in CocoaError.Code.sqliteError }
    }

    static func cocoaErrorMemberCode2() {
        _ = { () -> CocoaError.Code in CocoaError.Code.inferredMappingModelError }
        _ = { () -> CocoaError.Code in CocoaError.Code.externalRecordImportError }
    }

    static func nsPersistentStoreUbiquitousTransitionType() {
        _ = NSPersistentStoreUbiquitousTransitionType.self
        _ = { (value: NSPersistentStoreUbiquitousTransitionType) -> UInt in value.rawValue }
        _ = { (object: NSPersistentStoreUbiquitousTransitionType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSPersistentStoreUbiquitousTransitionType? in
            NSPersistentStoreUbiquitousTransitionType(rawValue: a0)
        }
        _ = { (object: NSPersistentStoreUbiquitousTransitionType) -> UInt in object.rawValue }
        _ = { () -> NSPersistentStoreUbiquitousTransitionType in .accountAdded }
        _ = { () -> NSPersistentStoreUbiquitousTransitionType in .accountRemoved }
        _ = { () -> NSPersistentStoreUbiquitousTransitionType in .contentRemoved }
        _ = { () -> NSPersistentStoreUbiquitousTransitionType in .initialImportCompleted }
    }

    static func global() {
        _ = { () -> String in NSXMLExternalRecordType }
        _ = { () -> String in NSBinaryExternalRecordType }
        _ = { () -> String in NSExternalRecordsFileFormatOption }
        _ = { () -> String in NSExternalRecordsDirectoryOption }
        _ = { () -> String in NSExternalRecordExtensionOption }
        _ = { () -> String in NSEntityNameInPathKey }
        _ = { () -> String in NSStoreUUIDInPathKey }
        _ = { () -> String in NSStorePathKey }
        _ = { () -> String in NSModelPathKey }
        _ = { () -> String in NSObjectURIKey }
        _ = { () -> String in NSPersistentStoreUbiquitousContentNameKey }
        _ = { () -> String in NSPersistentStoreUbiquitousContentURLKey }
        _ = { () -> String in NSPersistentStoreUbiquitousTransitionTypeKey }
        _ = { () -> String in NSPersistentStoreUbiquitousPeerTokenOption }
        _ = { () -> String in NSPersistentStoreRemoveUbiquitousMetadataOption }
        _ = { () -> String in NSPersistentStoreUbiquitousContainerIdentifierKey }
        _ = { () -> String in NSPersistentStoreRebuildFromUbiquitousContentOption }
    }
}
