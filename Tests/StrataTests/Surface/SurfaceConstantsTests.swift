import CoreData
import Testing

/// Values that code and stores elsewhere rely on, as Core Data has them.
@Suite struct SurfaceConstantsTests {
    @Test func errorNumbers() {
        let expected: [(Int, Int)] = [
            (NSManagedObjectValidationError, 1_550),
            (NSManagedObjectConstraintValidationError, 1_551),
            (NSValidationMultipleErrorsError, 1_560),
            (NSValidationMissingMandatoryPropertyError, 1_570),
            (NSValidationRelationshipLacksMinimumCountError, 1_580),
            (NSValidationRelationshipExceedsMaximumCountError, 1_590),
            (NSValidationRelationshipDeniedDeleteError, 1_600),
            (NSValidationNumberTooLargeError, 1_610),
            (NSValidationNumberTooSmallError, 1_620),
            (NSValidationDateTooLateError, 1_630),
            (NSValidationDateTooSoonError, 1_640),
            (NSValidationInvalidDateError, 1_650),
            (NSValidationStringTooLongError, 1_660),
            (NSValidationStringTooShortError, 1_670),
            (NSValidationStringPatternMatchingError, 1_680),
            (NSValidationInvalidURIError, 1_690),
            (NSManagedObjectContextLockingError, 132_000),
            (NSPersistentStoreCoordinatorLockingError, 132_010),
            (NSManagedObjectReferentialIntegrityError, 133_000),
            (NSManagedObjectExternalRelationshipError, 133_010),
            (NSManagedObjectMergeError, 133_020),
            (NSManagedObjectConstraintMergeError, 133_021),
            (NSPersistentStoreInvalidTypeError, 134_000),
            (NSPersistentStoreTypeMismatchError, 134_010),
            (NSPersistentStoreIncompatibleSchemaError, 134_020),
            (NSPersistentStoreSaveError, 134_030),
            (NSPersistentStoreIncompleteSaveError, 134_040),
            (NSPersistentStoreSaveConflictsError, 134_050),
            (NSCoreDataError, 134_060),
            (NSPersistentStoreOperationError, 134_070),
            (NSPersistentStoreOpenError, 134_080),
            (NSPersistentStoreTimeoutError, 134_090),
            (NSPersistentStoreUnsupportedRequestTypeError, 134_091),
            (NSPersistentStoreIncompatibleVersionHashError, 134_100),
            (NSMigrationError, 134_110),
            (NSMigrationConstraintViolationError, 134_111),
            (NSMigrationCancelledError, 134_120),
            (NSMigrationMissingSourceModelError, 134_130),
            (NSMigrationMissingMappingModelError, 134_140),
            (NSMigrationManagerSourceStoreError, 134_150),
            (NSMigrationManagerDestinationStoreError, 134_160),
            (NSEntityMigrationPolicyError, 134_170),
            (NSSQLiteError, 134_180),
            (NSInferredMappingModelError, 134_190),
            (NSExternalRecordImportError, 134_200),
            (NSPersistentHistoryTokenExpiredError, 134_301),
            (NSManagedObjectModelReferenceNotFoundError, 134_504),
            (NSStagedMigrationFrameworkVersionMismatchError, 134_505),
            (NSStagedMigrationBackwardMigrationError, 134_506),
        ]
        for (number, value) in expected { #expect(number == value) }
    }

    @Test func errorCodes() {
        let expected: [(CocoaError.Code, Int)] = [
            (.managedObjectValidation, 1_550),
            (.validationMultipleErrors, 1_560),
            (.validationMissingMandatoryProperty, 1_570),
            (.validationRelationshipLacksMinimumCount, 1_580),
            (.validationRelationshipExceedsMaximumCount, 1_590),
            (.validationRelationshipDeniedDelete, 1_600),
            (.validationNumberTooLarge, 1_610),
            (.validationNumberTooSmall, 1_620),
            (.validationDateTooLate, 1_630),
            (.validationDateTooSoon, 1_640),
            (.validationInvalidDate, 1_650),
            (.validationStringTooLong, 1_660),
            (.validationStringTooShort, 1_670),
            (.validationStringPatternMatching, 1_680),
            (.managedObjectContextLocking, 132_000),
            (.persistentStoreCoordinatorLocking, 132_010),
            (.managedObjectReferentialIntegrity, 133_000),
            (.managedObjectExternalRelationship, 133_010),
            (.managedObjectMerge, 133_020),
            (.managedObjectConstraintMerge, 133_021),
            (.persistentStoreInvalidType, 134_000),
            (.persistentStoreTypeMismatch, 134_010),
            (.persistentStoreIncompatibleSchema, 134_020),
            (.persistentStoreSave, 134_030),
            (.persistentStoreIncompleteSave, 134_040),
            (.persistentStoreSaveConflicts, 134_050),
            (.coreData, 134_060),
            (.persistentStoreOperation, 134_070),
            (.persistentStoreOpen, 134_080),
            (.persistentStoreTimeout, 134_090),
            (.persistentStoreUnsupportedRequestType, 134_091),
            (.persistentStoreIncompatibleVersionHash, 134_100),
            (.migration, 134_110),
            (.migrationCancelled, 134_120),
            (.migrationMissingSourceModel, 134_130),
            (.migrationMissingMappingModel, 134_140),
            (.migrationManagerSourceStore, 134_150),
            (.migrationManagerDestinationStore, 134_160),
            (.entityMigrationPolicy, 134_170),
            (.sqlite, 134_180),
            (.inferredMappingModel, 134_190),
            (.externalRecordImport, 134_200),
        ]
        for (code, value) in expected { #expect(code.rawValue == value) }
    }

    @Test func strings() {
        let expected: [(String, String)] = [
            (NSDetailedErrorsKey, "NSDetailedErrors"),
            (NSValidationObjectErrorKey, "NSValidationErrorObject"),
            (NSValidationKeyErrorKey, "NSValidationErrorKey"),
            (NSValidationValueErrorKey, "NSValidationErrorValue"),
            (NSAffectedObjectsErrorKey, "NSAffectedObjectsErrorKey"),
            (NSPersistentStoreSaveConflictsErrorKey, "conflictList"),
            (NSSQLiteErrorDomain, "NSSQLiteErrorDomain"),
            (NSMigrationManagerKey, "manager"),
            (NSMigrationSourceObjectKey, "source"),
            (NSMigrationDestinationObjectKey, "destination"),
            (NSMigrationEntityMappingKey, "entityMapping"),
            (NSMigrationPropertyMappingKey, "propertyMapping"),
            (NSMigrationEntityPolicyKey, "entityPolicy"),
            (NSInsertedObjectsKey, "inserted"),
            (NSUpdatedObjectsKey, "updated"),
            (NSDeletedObjectsKey, "deleted"),
            (NSRefreshedObjectsKey, "refreshed"),
            (NSInvalidatedObjectsKey, "invalidated"),
            (NSInvalidatedAllObjectsKey, "invalidatedAll"),
            (NSInsertedObjectIDsKey, "inserted_objectIDs"),
            (NSUpdatedObjectIDsKey, "updated_objectIDs"),
            (NSDeletedObjectIDsKey, "deleted_objectIDs"),
            (NSSQLiteStoreType, "SQLite"),
            (NSXMLStoreType, "XML"),
            (NSBinaryStoreType, "Binary"),
            (NSInMemoryStoreType, "InMemory"),
            (NSStoreTypeKey, "NSStoreType"),
            (NSStoreUUIDKey, "NSStoreUUID"),
            (NSMigratePersistentStoresAutomaticallyOption, "NSMigratePersistentStoresAutomaticallyOption"),
            (NSInferMappingModelAutomaticallyOption, "NSInferMappingModelAutomaticallyOption"),
            (NSStoreModelVersionHashesKey, "NSStoreModelVersionHashes"),
            (NSStoreModelVersionIdentifiersKey, "NSStoreModelVersionIdentifiers"),
            (NSPersistentHistoryTrackingKey, "NSPersistentHistoryTrackingKey"),
            (
                NSPersistentStoreRemoteChangeNotificationPostOptionKey,
                "NSPersistentStoreRemoteChangeNotificationOptionKey"
            ),
            (NSPersistentStoreURLKey, "storeURL"),
            (NSPersistentHistoryTokenKey, "historyToken"),
            (NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionChecksumKey"),
        ]
        for (constant, value) in expected { #expect(constant == value) }
    }

    @available(*, deprecated)
    @Test func stringsThatHaveBeenGivenUp() {
        let expected: [(String, String)] = [
            (NSPersistentStoreUbiquitousContentNameKey, "NSPersistentStoreUbiquitousContentNameKey"),
            (NSPersistentStoreUbiquitousContentURLKey, "NSPersistentStoreUbiquitousContentURLKey"),
        ]
        for (constant, value) in expected { #expect(constant == value) }
    }

    @Test func notificationNames() {
        let expected: [(Notification.Name, String)] = [
            (Notification.Name.NSManagedObjectContextWillSave, "NSManagingContextWillSaveChangesNotification"),
            (Notification.Name.NSManagedObjectContextDidSave, "NSManagingContextDidSaveChangesNotification"),
            (Notification.Name.NSManagedObjectContextObjectsDidChange, "NSObjectsChangedInManagingContextNotification"),
            (Notification.Name.NSPersistentStoreRemoteChange, "NSPersistentStoreRemoteChangeNotification"),
            (NSManagedObjectContext.willSaveObjectsNotification, "NSManagingContextWillSaveChangesNotification"),
            (NSManagedObjectContext.didSaveObjectsNotification, "NSManagingContextDidSaveChangesNotification"),
            (NSManagedObjectContext.didChangeObjectsNotification, "NSObjectsChangedInManagingContextNotification"),
        ]
        for (name, value) in expected { #expect(name.rawValue == value) }
    }

    @Test func storeTypes() {
        let expected: [(NSPersistentStore.StoreType, String)] = [
            (NSPersistentStore.StoreType.sqlite, "SQLite"),
            (NSPersistentStore.StoreType.xml, "XML"),
            (NSPersistentStore.StoreType.binary, "Binary"),
            (NSPersistentStore.StoreType.inMemory, "InMemory"),
        ]
        for (type, value) in expected { #expect(type.rawValue == value) }
    }

    @Test func rawValues() {
        let expected: [(Int, Int)] = [
            (Int(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue), 1),
            (Int(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue), 2),
            (Int(NSAttributeType.undefinedAttributeType.rawValue), 0),
            (Int(NSAttributeType.integer16AttributeType.rawValue), 100),
            (Int(NSAttributeType.integer32AttributeType.rawValue), 200),
            (Int(NSAttributeType.integer64AttributeType.rawValue), 300),
            (Int(NSAttributeType.decimalAttributeType.rawValue), 400),
            (Int(NSAttributeType.doubleAttributeType.rawValue), 500),
            (Int(NSAttributeType.floatAttributeType.rawValue), 600),
            (Int(NSAttributeType.stringAttributeType.rawValue), 700),
            (Int(NSAttributeType.booleanAttributeType.rawValue), 800),
            (Int(NSAttributeType.dateAttributeType.rawValue), 900),
            (Int(NSAttributeType.binaryDataAttributeType.rawValue), 1_000),
            (Int(NSAttributeType.UUIDAttributeType.rawValue), 1_100),
            (Int(NSAttributeType.URIAttributeType.rawValue), 1_200),
            (Int(NSAttributeType.transformableAttributeType.rawValue), 1_800),
            (Int(NSAttributeType.objectIDAttributeType.rawValue), 2_000),
            (Int(NSAttributeType.compositeAttributeType.rawValue), 2_100),
            (Int(NSDeleteRule.noActionDeleteRule.rawValue), 0),
            (Int(NSDeleteRule.nullifyDeleteRule.rawValue), 1),
            (Int(NSDeleteRule.cascadeDeleteRule.rawValue), 2),
            (Int(NSDeleteRule.denyDeleteRule.rawValue), 3),
            (Int(NSFetchIndexElementType.binary.rawValue), 0),
            (Int(NSFetchIndexElementType.rTree.rawValue), 1),
            (Int(NSPersistentStoreRequestType.fetchRequestType.rawValue), 1),
            (Int(NSPersistentStoreRequestType.saveRequestType.rawValue), 2),
            (Int(NSPersistentStoreRequestType.batchInsertRequestType.rawValue), 5),
            (Int(NSPersistentStoreRequestType.batchUpdateRequestType.rawValue), 6),
            (Int(NSPersistentStoreRequestType.batchDeleteRequestType.rawValue), 7),
            (Int(NSBatchDeleteRequestResultType.resultTypeStatusOnly.rawValue), 0),
            (Int(NSBatchDeleteRequestResultType.resultTypeObjectIDs.rawValue), 1),
            (Int(NSBatchDeleteRequestResultType.resultTypeCount.rawValue), 2),
            (Int(NSBatchInsertRequestResultType.statusOnly.rawValue), 0),
            (Int(NSBatchInsertRequestResultType.objectIDs.rawValue), 1),
            (Int(NSBatchInsertRequestResultType.count.rawValue), 2),
            (Int(NSBatchUpdateRequestResultType.statusOnlyResultType.rawValue), 0),
            (Int(NSBatchUpdateRequestResultType.updatedObjectIDsResultType.rawValue), 1),
            (Int(NSBatchUpdateRequestResultType.updatedObjectsCountResultType.rawValue), 2),
            (Int(NSPersistentHistoryChangeType.insert.rawValue), 0),
            (Int(NSPersistentHistoryChangeType.update.rawValue), 1),
            (Int(NSPersistentHistoryChangeType.delete.rawValue), 2),
            (Int(NSPersistentHistoryResultType.statusOnly.rawValue), 0),
            (Int(NSPersistentHistoryResultType.objectIDs.rawValue), 1),
            (Int(NSPersistentHistoryResultType.count.rawValue), 2),
            (Int(NSPersistentHistoryResultType.transactionsOnly.rawValue), 3),
            (Int(NSPersistentHistoryResultType.changesOnly.rawValue), 4),
            (Int(NSPersistentHistoryResultType.transactionsAndChanges.rawValue), 5),
            (Int(NSMergePolicyType.errorMergePolicyType.rawValue), 0),
            (Int(NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType.rawValue), 1),
            (Int(NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType.rawValue), 2),
            (Int(NSMergePolicyType.overwriteMergePolicyType.rawValue), 3),
            (Int(NSMergePolicyType.rollbackMergePolicyType.rawValue), 4),
            (Int(NSEntityMappingType.undefinedEntityMappingType.rawValue), 0),
            (Int(NSEntityMappingType.customEntityMappingType.rawValue), 1),
            (Int(NSEntityMappingType.addEntityMappingType.rawValue), 2),
            (Int(NSEntityMappingType.removeEntityMappingType.rawValue), 3),
            (Int(NSEntityMappingType.copyEntityMappingType.rawValue), 4),
            (Int(NSEntityMappingType.transformEntityMappingType.rawValue), 5),
            (Int(NSFetchedResultsChangeType.insert.rawValue), 1),
            (Int(NSFetchedResultsChangeType.delete.rawValue), 2),
            (Int(NSFetchedResultsChangeType.move.rawValue), 3),
            (Int(NSFetchedResultsChangeType.update.rawValue), 4),
        ]
        for (rawValue, value) in expected { #expect(rawValue == value) }
    }
}
