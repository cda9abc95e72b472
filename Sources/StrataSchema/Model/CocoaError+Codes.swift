import Foundation

// Core Data's codes in the Swift spelling.
extension CocoaError.Code {
    /// An object is invalid, without saying why.
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code(rawValue: 1550) }

    /// Several things are invalid; see ``NSDetailedErrorsKey``.
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code(rawValue: 1560) }

    /// A property that is not optional has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code { CocoaError.Code(rawValue: 1570) }

    /// A relationship has too few objects.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code { CocoaError.Code(rawValue: 1580) }

    /// A relationship has too many objects.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { CocoaError.Code(rawValue: 1590) }

    /// A relationship whose rule is to deny deletion still has objects.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { CocoaError.Code(rawValue: 1600) }

    /// A number exceeds its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code(rawValue: 1610) }

    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code(rawValue: 1620) }

    /// A date is after the latest allowed.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code(rawValue: 1630) }

    /// A date is before the earliest allowed.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code(rawValue: 1640) }

    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code(rawValue: 1650) }

    /// A text is too long.
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code(rawValue: 1660) }

    /// A text is too short.
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code(rawValue: 1670) }

    /// A text does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code { CocoaError.Code(rawValue: 1680) }

    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code { CocoaError.Code(rawValue: 132000) }

    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { CocoaError.Code(rawValue: 132010) }

    /// A fault leads to an object that is not in the store.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { CocoaError.Code(rawValue: 133000) }

    /// An object refers to one of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code { CocoaError.Code(rawValue: 133010) }

    /// Changes conflict with those of others and the merge policy does not resolve them.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code(rawValue: 133020) }

    /// A uniqueness constraint is broken and the merge policy does not resolve it.
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code(rawValue: 133021) }

    /// There is no store type of that name.
    public static var persistentStoreInvalidType: CocoaError.Code { CocoaError.Code(rawValue: 134000) }

    /// The store is of another type.
    public static var persistentStoreTypeMismatch: CocoaError.Code { CocoaError.Code(rawValue: 134010) }

    /// The store refused the model, for example its uniqueness constraints.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { CocoaError.Code(rawValue: 134020) }

    /// Saving failed.
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code(rawValue: 134030) }

    /// Saving failed in some of the stores.
    public static var persistentStoreIncompleteSave: CocoaError.Code { CocoaError.Code(rawValue: 134040) }

    /// Saving found conflicts; see ``NSPersistentStoreSaveConflictsErrorKey``.
    public static var persistentStoreSaveConflicts: CocoaError.Code { CocoaError.Code(rawValue: 134050) }

    /// A failure without a code of its own.
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: 134060) }

    /// An operation of the store failed.
    public static var persistentStoreOperation: CocoaError.Code { CocoaError.Code(rawValue: 134070) }

    /// The store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code(rawValue: 134080) }

    /// The store did not answer in time.
    public static var persistentStoreTimeout: CocoaError.Code { CocoaError.Code(rawValue: 134090) }

    /// The store does not know requests of that type.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { CocoaError.Code(rawValue: 134091) }

    /// The store was written with another version of the model.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { CocoaError.Code(rawValue: 134100) }

    /// Migration failed.
    public static var migration: CocoaError.Code { CocoaError.Code(rawValue: 134110) }

    /// Migration was cancelled.
    public static var migrationCancelled: CocoaError.Code { CocoaError.Code(rawValue: 134120) }

    /// The model that the store was written with was not found.
    public static var migrationMissingSourceModel: CocoaError.Code { CocoaError.Code(rawValue: 134130) }

    /// No mapping between the models was found.
    public static var migrationMissingMappingModel: CocoaError.Code { CocoaError.Code(rawValue: 134140) }

    /// The store that migration reads failed.
    public static var migrationManagerSourceStore: CocoaError.Code { CocoaError.Code(rawValue: 134150) }

    /// The store that migration writes failed.
    public static var migrationManagerDestinationStore: CocoaError.Code { CocoaError.Code(rawValue: 134160) }

    /// A migration policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { CocoaError.Code(rawValue: 134170) }

    /// The store's engine failed. Strata has no SQLite; the code is kept for code that mentions it.
    public static var sqlite: CocoaError.Code { CocoaError.Code(rawValue: 134180) }

    /// No mapping between the models can be inferred.
    public static var inferredMappingModel: CocoaError.Code { CocoaError.Code(rawValue: 134190) }

    /// External records could not be imported.
    public static var externalRecordImport: CocoaError.Code { CocoaError.Code(rawValue: 134200) }
}

// The same codes, for `catch CocoaError.validationMultipleErrors` and its like.
extension CocoaError {
    /// An object is invalid, without saying why.
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }

    /// Several things are invalid; see ``NSDetailedErrorsKey``.
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }

    /// A property that is not optional has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }

    /// A relationship has too few objects.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .validationRelationshipLacksMinimumCount
    }

    /// A relationship has too many objects.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .validationRelationshipExceedsMaximumCount
    }

    /// A relationship whose rule is to deny deletion still has objects.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }

    /// A number exceeds its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }

    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }

    /// A date is after the latest allowed.
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }

    /// A date is before the earliest allowed.
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }

    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }

    /// A text is too long.
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }

    /// A text is too short.
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }

    /// A text does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }

    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }

    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }

    /// A fault leads to an object that is not in the store.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }

    /// An object refers to one of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }

    /// Changes conflict with those of others and the merge policy does not resolve them.
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }

    /// A uniqueness constraint is broken and the merge policy does not resolve it.
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }

    /// There is no store type of that name.
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }

    /// The store is of another type.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }

    /// The store refused the model, for example its uniqueness constraints.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }

    /// Saving failed.
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }

    /// Saving failed in some of the stores.
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }

    /// A failure without a code of its own.
    public static var coreData: CocoaError.Code { .coreData }

    /// An operation of the store failed.
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }

    /// The store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }

    /// The store did not answer in time.
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }

    /// The store does not know requests of that type.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }

    /// The store was written with another version of the model.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .persistentStoreIncompatibleVersionHash
    }

    /// Migration failed.
    public static var migration: CocoaError.Code { .migration }

    /// Migration was cancelled.
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }

    /// The model that the store was written with was not found.
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }

    /// No mapping between the models was found.
    public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }

    /// The store that migration reads failed.
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }

    /// The store that migration writes failed.
    public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }

    /// A migration policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }

    /// The store's engine failed. Strata has no SQLite; the code is kept for code that mentions it.
    public static var sqlite: CocoaError.Code { .sqlite }

    /// No mapping between the models can be inferred.
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }

    /// External records could not be imported.
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
}
