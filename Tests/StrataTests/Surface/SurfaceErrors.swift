import CoreData

/// Names every symbol of the group "errors" with its signature, so that none can vanish. Never run.
enum SurfaceErrors {
    static func cocoaError1() {
        _ = { () -> CocoaError.Code in CocoaError.managedObjectValidation }
        _ = { () -> CocoaError.Code in CocoaError.validationMultipleErrors }
        _ = { () -> CocoaError.Code in CocoaError.validationMissingMandatoryProperty }
        _ = { () -> CocoaError.Code in CocoaError.validationRelationshipLacksMinimumCount }
        _ = { () -> CocoaError.Code in CocoaError.validationRelationshipExceedsMaximumCount }
        _ = { () -> CocoaError.Code in CocoaError.validationRelationshipDeniedDelete }
        _ = { () -> CocoaError.Code in CocoaError.validationNumberTooLarge }
        _ = { () -> CocoaError.Code in CocoaError.validationNumberTooSmall }
        _ = { () -> CocoaError.Code in CocoaError.validationDateTooLate }
        _ = { () -> CocoaError.Code in CocoaError.validationDateTooSoon }
        _ = { () -> CocoaError.Code in CocoaError.validationInvalidDate }
        _ = { () -> CocoaError.Code in CocoaError.validationStringTooLong }
        _ = { () -> CocoaError.Code in CocoaError.validationStringTooShort }
        _ = { () -> CocoaError.Code in CocoaError.validationStringPatternMatching }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectContextLocking }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreCoordinatorLocking }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectReferentialIntegrity }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectExternalRelationship }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectMerge }
        _ = { () -> CocoaError.Code in CocoaError.managedObjectConstraintMerge }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreInvalidType }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreTypeMismatch }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreIncompatibleSchema }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreSave }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreIncompleteSave }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreSaveConflicts }
        _ = { () -> CocoaError.Code in CocoaError.coreData }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreOperation }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreOpen }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreTimeout }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreUnsupportedRequestType }
        _ = { () -> CocoaError.Code in CocoaError.persistentStoreIncompatibleVersionHash }
        _ = { () -> CocoaError.Code in CocoaError.migration }
        _ = { () -> CocoaError.Code in CocoaError.migrationCancelled }
        _ = { () -> CocoaError.Code in CocoaError.migrationMissingSourceModel }
        _ = { () -> CocoaError.Code in CocoaError.migrationMissingMappingModel }
        _ = { () -> CocoaError.Code in CocoaError.migrationManagerSourceStore }
        _ = { () -> CocoaError.Code in CocoaError.migrationManagerDestinationStore }
        _ = { () -> CocoaError.Code in CocoaError.entityMigrationPolicy }
        _ = { () -> CocoaError.Code in CocoaError.sqlite }
    }

    static func cocoaError2() {
        _ = { () -> CocoaError.Code in CocoaError.inferredMappingModel }
        _ = { () -> CocoaError.Code in CocoaError.externalRecordImport }
        _ = { (object: CocoaError) -> [AnyObject]? in object.affectedStores }
        _ = { (object: CocoaError) -> [AnyObject]? in object.affectedObjects }
        _ = { (object: CocoaError) -> [NSMergeConflict]? in object.persistentStoreSaveConflicts }
    }

    static func cocoaErrorMemberCode1() {
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectValidation }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationMultipleErrors }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationMissingMandatoryProperty }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationRelationshipLacksMinimumCount }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationRelationshipExceedsMaximumCount }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationRelationshipDeniedDelete }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationNumberTooLarge }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationNumberTooSmall }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationDateTooLate }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationDateTooSoon }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationInvalidDate }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationStringTooLong }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationStringTooShort }
        _ = { () -> CocoaError.Code in CocoaError.Code.validationStringPatternMatching }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectContextLocking }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreCoordinatorLocking }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectReferentialIntegrity }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectExternalRelationship }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectMerge }
        _ = { () -> CocoaError.Code in CocoaError.Code.managedObjectConstraintMerge }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreInvalidType }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreTypeMismatch }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreIncompatibleSchema }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreSave }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreIncompleteSave }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreSaveConflicts }
        _ = { () -> CocoaError.Code in CocoaError.Code.coreData }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreOperation }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreOpen }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreTimeout }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreUnsupportedRequestType }
        _ = { () -> CocoaError.Code in CocoaError.Code.persistentStoreIncompatibleVersionHash }
        _ = { () -> CocoaError.Code in CocoaError.Code.migration }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationCancelled }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationMissingSourceModel }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationMissingMappingModel }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationManagerSourceStore }
        _ = { () -> CocoaError.Code in CocoaError.Code.migrationManagerDestinationStore }
        _ = { () -> CocoaError.Code in CocoaError.Code.entityMigrationPolicy }
        _ = { () -> CocoaError.Code in CocoaError.Code.sqlite }
    }

    static func cocoaErrorMemberCode2() {
        _ = { () -> CocoaError.Code in CocoaError.Code.inferredMappingModel }
        _ = { () -> CocoaError.Code in CocoaError.Code.externalRecordImport }
    }

    static func global1() {
        _ = { () -> String in NSDetailedErrorsKey }
        _ = { () -> String in NSAffectedStoresErrorKey }
        _ = { () -> String in NSAffectedObjectsErrorKey }
        _ = { () -> String in NSPersistentStoreSaveConflictsErrorKey }
        _ = { () -> String in NSSQLiteErrorDomain }
        _ = { () -> Int in NSManagedObjectValidationError }
        _ = { () -> Int in NSManagedObjectConstraintValidationError }
        _ = { () -> Int in NSValidationMultipleErrorsError }
        _ = { () -> Int in NSValidationMissingMandatoryPropertyError }
        _ = { () -> Int in NSValidationRelationshipLacksMinimumCountError }
        _ = { () -> Int in NSValidationRelationshipExceedsMaximumCountError }
        _ = { () -> Int in NSValidationRelationshipDeniedDeleteError }
        _ = { () -> Int in NSValidationNumberTooLargeError }
        _ = { () -> Int in NSValidationNumberTooSmallError }
        _ = { () -> Int in NSValidationDateTooLateError }
        _ = { () -> Int in NSValidationDateTooSoonError }
        _ = { () -> Int in NSValidationInvalidDateError }
        _ = { () -> Int in NSValidationStringTooLongError }
        _ = { () -> Int in NSValidationStringTooShortError }
        _ = { () -> Int in NSValidationStringPatternMatchingError }
        _ = { () -> Int in NSValidationInvalidURIError }
        _ = { () -> Int in NSManagedObjectContextLockingError }
        _ = { () -> Int in NSPersistentStoreCoordinatorLockingError }
        _ = { () -> Int in NSManagedObjectReferentialIntegrityError }
        _ = { () -> Int in NSManagedObjectExternalRelationshipError }
        _ = { () -> Int in NSManagedObjectMergeError }
        _ = { () -> Int in NSManagedObjectConstraintMergeError }
        _ = { () -> Int in NSPersistentStoreInvalidTypeError }
        _ = { () -> Int in NSPersistentStoreTypeMismatchError }
        _ = { () -> Int in NSPersistentStoreIncompatibleSchemaError }
        _ = { () -> Int in NSPersistentStoreSaveError }
        _ = { () -> Int in NSPersistentStoreIncompleteSaveError }
        _ = { () -> Int in NSPersistentStoreSaveConflictsError }
        _ = { () -> Int in NSCoreDataError }
        _ = { () -> Int in NSPersistentStoreOperationError }
        _ = { () -> Int in NSPersistentStoreOpenError }
        _ = { () -> Int in NSPersistentStoreTimeoutError }
        _ = { () -> Int in NSPersistentStoreUnsupportedRequestTypeError }
        _ = { () -> Int in NSPersistentStoreIncompatibleVersionHashError }
        _ = { () -> Int in NSMigrationError }
    }

    static func global2() {
        _ = { () -> Int in NSMigrationConstraintViolationError }
        _ = { () -> Int in NSMigrationCancelledError }
        _ = { () -> Int in NSMigrationMissingSourceModelError }
        _ = { () -> Int in NSMigrationMissingMappingModelError }
        _ = { () -> Int in NSMigrationManagerSourceStoreError }
        _ = { () -> Int in NSMigrationManagerDestinationStoreError }
        _ = { () -> Int in NSEntityMigrationPolicyError }
        _ = { () -> Int in NSSQLiteError }
        _ = { () -> Int in NSInferredMappingModelError }
        _ = { () -> Int in NSExternalRecordImportError }
        _ = { () -> Int in NSPersistentHistoryTokenExpiredError }
        _ = { () -> Int in NSManagedObjectModelReferenceNotFoundError }
        _ = { () -> Int in NSStagedMigrationFrameworkVersionMismatchError }
        _ = { () -> Int in NSStagedMigrationBackwardMigrationError }
    }
}
