// Error codes of the Cocoa error domain under their old names, with Core Data's values.

/// An object is invalid, without saying why.
public let NSManagedObjectValidationError: Int = 1550

/// Objects that are saved together break a uniqueness constraint.
public let NSManagedObjectConstraintValidationError: Int = 1551

/// Several things are invalid; see ``NSDetailedErrorsKey``.
public let NSValidationMultipleErrorsError: Int = 1560

/// A property that is not optional has no value.
public let NSValidationMissingMandatoryPropertyError: Int = 1570

/// A relationship has too few objects.
public let NSValidationRelationshipLacksMinimumCountError: Int = 1580

/// A relationship has too many objects.
public let NSValidationRelationshipExceedsMaximumCountError: Int = 1590

/// A relationship whose rule is to deny deletion still has objects.
public let NSValidationRelationshipDeniedDeleteError: Int = 1600

/// A number exceeds its maximum.
public let NSValidationNumberTooLargeError: Int = 1610

/// A number is below its minimum.
public let NSValidationNumberTooSmallError: Int = 1620

/// A date is after the latest allowed.
public let NSValidationDateTooLateError: Int = 1630

/// A date is before the earliest allowed.
public let NSValidationDateTooSoonError: Int = 1640

/// A date is none.
public let NSValidationInvalidDateError: Int = 1650

/// A text is too long.
public let NSValidationStringTooLongError: Int = 1660

/// A text is too short.
public let NSValidationStringTooShortError: Int = 1670

/// A text does not match its pattern.
public let NSValidationStringPatternMatchingError: Int = 1680

/// A URI is none.
public let NSValidationInvalidURIError: Int = 1690

/// A context could not be locked.
public let NSManagedObjectContextLockingError: Int = 132000

/// A coordinator could not be locked.
public let NSPersistentStoreCoordinatorLockingError: Int = 132010

/// A fault leads to an object that is not in the store.
public let NSManagedObjectReferentialIntegrityError: Int = 133000

/// An object refers to one of another store.
public let NSManagedObjectExternalRelationshipError: Int = 133010

/// Changes conflict with those of others and the merge policy does not resolve them.
public let NSManagedObjectMergeError: Int = 133020

/// A uniqueness constraint is broken and the merge policy does not resolve it.
public let NSManagedObjectConstraintMergeError: Int = 133021

/// There is no store type of that name.
public let NSPersistentStoreInvalidTypeError: Int = 134000

/// The store is of another type.
public let NSPersistentStoreTypeMismatchError: Int = 134010

/// The store refused the model, for example its uniqueness constraints.
public let NSPersistentStoreIncompatibleSchemaError: Int = 134020

/// Saving failed.
public let NSPersistentStoreSaveError: Int = 134030

/// Saving failed in some of the stores.
public let NSPersistentStoreIncompleteSaveError: Int = 134040

/// Saving found conflicts; see ``NSPersistentStoreSaveConflictsErrorKey``.
public let NSPersistentStoreSaveConflictsError: Int = 134050

/// A failure without a code of its own.
public let NSCoreDataError: Int = 134060

/// An operation of the store failed.
public let NSPersistentStoreOperationError: Int = 134070

/// The store could not be opened.
public let NSPersistentStoreOpenError: Int = 134080

/// The store did not answer in time.
public let NSPersistentStoreTimeoutError: Int = 134090

/// The store does not know requests of that type.
public let NSPersistentStoreUnsupportedRequestTypeError: Int = 134091

/// The store was written with another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError: Int = 134100

/// Migration failed.
public let NSMigrationError: Int = 134110

/// Migration broke a uniqueness constraint.
public let NSMigrationConstraintViolationError: Int = 134111

/// Migration was cancelled.
public let NSMigrationCancelledError: Int = 134120

/// The model that the store was written with was not found.
public let NSMigrationMissingSourceModelError: Int = 134130

/// No mapping between the models was found.
public let NSMigrationMissingMappingModelError: Int = 134140

/// The store that migration reads failed.
public let NSMigrationManagerSourceStoreError: Int = 134150

/// The store that migration writes failed.
public let NSMigrationManagerDestinationStoreError: Int = 134160

/// A migration policy failed.
public let NSEntityMigrationPolicyError: Int = 134170

/// The store's engine failed. Strata has no SQLite; the code is kept for code that mentions it.
public let NSSQLiteError: Int = 134180

/// No mapping between the models can be inferred.
public let NSInferredMappingModelError: Int = 134190

/// External records could not be imported.
public let NSExternalRecordImportError: Int = 134200

/// The history token refers to history that is no longer kept.
public let NSPersistentHistoryTokenExpiredError: Int = 134301

/// A model reference leads to no model.
public let NSManagedObjectModelReferenceNotFoundError: Int = 134504

/// A staged migration was made for another version of the library.
public let NSStagedMigrationFrameworkVersionMismatchError: Int = 134505

/// The store is newer than the last stage of the migration.
public let NSStagedMigrationBackwardMigrationError: Int = 134506
