import Foundation
import Testing

@testable import Strata

/// Names and values that code and stores elsewhere rely on.
@Suite struct ModelConstantsTests {
    @Test func errorCodesAreCoreDatas() {
        let expected: [(CocoaError.Code, CocoaError.Code, Int)] = [
            (.managedObjectValidation, CocoaError.managedObjectValidation, 1_550),
            (.validationMultipleErrors, CocoaError.validationMultipleErrors, 1_560),
            (
                .validationMissingMandatoryProperty, CocoaError.validationMissingMandatoryProperty,
                1_570
            ),
            (
                .validationRelationshipLacksMinimumCount, CocoaError.validationRelationshipLacksMinimumCount,
                1_580
            ),
            (
                .validationRelationshipExceedsMaximumCount, CocoaError.validationRelationshipExceedsMaximumCount,
                1_590
            ),
            (
                .validationRelationshipDeniedDelete, CocoaError.validationRelationshipDeniedDelete,
                1_600
            ),
            (.validationNumberTooLarge, CocoaError.validationNumberTooLarge, 1_610),
            (.validationNumberTooSmall, CocoaError.validationNumberTooSmall, 1_620),
            (.validationDateTooLate, CocoaError.validationDateTooLate, 1_630),
            (.validationDateTooSoon, CocoaError.validationDateTooSoon, 1_640),
            (.validationInvalidDate, CocoaError.validationInvalidDate, 1_650),
            (.validationStringTooLong, CocoaError.validationStringTooLong, 1_660),
            (.validationStringTooShort, CocoaError.validationStringTooShort, 1_670),
            (.validationStringPatternMatching, CocoaError.validationStringPatternMatching, 1_680),
            (.managedObjectContextLocking, CocoaError.managedObjectContextLocking, 132_000),
            (.persistentStoreCoordinatorLocking, CocoaError.persistentStoreCoordinatorLocking, 132_010),
            (.managedObjectReferentialIntegrity, CocoaError.managedObjectReferentialIntegrity, 133_000),
            (.managedObjectExternalRelationship, CocoaError.managedObjectExternalRelationship, 133_010),
            (.managedObjectMerge, CocoaError.managedObjectMerge, 133_020),
            (.managedObjectConstraintMerge, CocoaError.managedObjectConstraintMerge, 133_021),
            (.persistentStoreInvalidType, CocoaError.persistentStoreInvalidType, 134_000),
            (.persistentStoreTypeMismatch, CocoaError.persistentStoreTypeMismatch, 134_010),
            (.persistentStoreIncompatibleSchema, CocoaError.persistentStoreIncompatibleSchema, 134_020),
            (.persistentStoreSave, CocoaError.persistentStoreSave, 134_030),
            (.persistentStoreIncompleteSave, CocoaError.persistentStoreIncompleteSave, 134_040),
            (.persistentStoreSaveConflicts, CocoaError.persistentStoreSaveConflicts, 134_050),
            (.coreData, CocoaError.coreData, 134_060),
            (.persistentStoreOperation, CocoaError.persistentStoreOperation, 134_070),
            (.persistentStoreOpen, CocoaError.persistentStoreOpen, 134_080),
            (.persistentStoreTimeout, CocoaError.persistentStoreTimeout, 134_090),
            (
                .persistentStoreUnsupportedRequestType, CocoaError.persistentStoreUnsupportedRequestType,
                134_091
            ),
            (
                .persistentStoreIncompatibleVersionHash, CocoaError.persistentStoreIncompatibleVersionHash,
                134_100
            ),
            (.migration, CocoaError.migration, 134_110),
            (.migrationCancelled, CocoaError.migrationCancelled, 134_120),
            (.migrationMissingSourceModel, CocoaError.migrationMissingSourceModel, 134_130),
            (.migrationMissingMappingModel, CocoaError.migrationMissingMappingModel, 134_140),
            (.migrationManagerSourceStore, CocoaError.migrationManagerSourceStore, 134_150),
            (.migrationManagerDestinationStore, CocoaError.migrationManagerDestinationStore, 134_160),
            (.entityMigrationPolicy, CocoaError.entityMigrationPolicy, 134_170),
            (.sqlite, CocoaError.sqlite, 134_180),
            (.inferredMappingModel, CocoaError.inferredMappingModel, 134_190),
            (.externalRecordImport, CocoaError.externalRecordImport, 134_200),
        ]
        for (code, same, value) in expected {
            #expect(code.rawValue == value)
            #expect(same == code)
        }
    }

    @Test func stringsAreCoreDatas() {
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

    @Test func notificationNamesAreCoreDatas() {
        let expected: [(Notification.Name, String)] = [
            (.NSManagedObjectContextWillSave, "NSManagingContextWillSaveChangesNotification"),
            (.NSManagedObjectContextDidSave, "NSManagingContextDidSaveChangesNotification"),
            (.NSManagedObjectContextObjectsDidChange, "NSObjectsChangedInManagingContextNotification"),
            (.NSPersistentStoreRemoteChange, "NSPersistentStoreRemoteChangeNotification"),
        ]
        for (name, value) in expected { #expect(name.rawValue == value) }
    }

    @Test func rawValuesAreCoreDatas() {
        #expect(NSAttributeType.integer16AttributeType.rawValue == 100)
        #expect(NSAttributeType.binaryDataAttributeType.rawValue == 1000)
        #expect(NSAttributeType.transformableAttributeType.rawValue == 1800)
        #expect(NSAttributeType.compositeAttributeType.rawValue == 2100)
        #expect(NSDeleteRule.denyDeleteRule.rawValue == 3)
        #expect(NSFetchRequestResultType.countResultType.rawValue == 4)
        #expect(NSPersistentStoreRequestType.batchInsertRequestType.rawValue == 5)
        #expect(NSPersistentHistoryResultType.transactionsAndChanges.rawValue == 5)
        #expect(NSMergePolicyType.rollbackMergePolicyType.rawValue == 4)
        #expect(NSSnapshotEventType.mergePolicy.rawValue == 64)
        #expect(NSKeyValueSetMutationKind.set.rawValue == 4)
        #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
        #expect(NSFetchedResultsChangeType.update.rawValue == 4)
        #expect(NSEntityMappingType.transformEntityMappingType.rawValue == 5)
    }

    @Test func errorsGiveWhatTheyCarry() {
        let object = NSObject()
        let error = CocoaError(
            .validationNumberTooLarge,
            userInfo: [
                NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: "age", NSValidationValueErrorKey: 200,
                NSValidationPredicateErrorKey: NSPredicate(value: true), NSAffectedObjectsErrorKey: [object],
            ])
        #expect(error.validationObject as? NSObject === object)
        #expect(error.validationKey == "age")
        #expect(error.validationValue as? Int == 200)
        #expect(error.validationPredicate != nil)
        #expect(error.affectedObjects?.first === object)
        #expect(error.affectedStores == nil)
        #expect((error as NSError).domain == NSCocoaErrorDomain)
        #expect((error as NSError).code == NSValidationNumberTooLargeError)
        do {
            throw error
        } catch CocoaError.validationNumberTooLarge {
        } catch {
            Issue.record("\(error) did not match its code")
        }
    }
}
