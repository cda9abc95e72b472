// Keys of the user info of errors.

/// The errors, in an error of several: `[NSError]`.
public let NSDetailedErrorsKey: String = "NSDetailedErrors"

/// The object that is invalid.
public let NSValidationObjectErrorKey: String = "NSValidationErrorObject"

/// The name of the property that is invalid.
public let NSValidationKeyErrorKey: String = "NSValidationErrorKey"

/// The predicate that the value did not satisfy.
public let NSValidationPredicateErrorKey: String = "NSValidationErrorPredicate"

/// The value that is invalid.
public let NSValidationValueErrorKey: String = "NSValidationErrorValue"

/// The stores that an error concerns.
public let NSAffectedStoresErrorKey: String = "NSAffectedStoresErrorKey"

/// The objects that an error concerns.
public let NSAffectedObjectsErrorKey: String = "NSAffectedObjectsErrorKey"

/// The conflicts that stopped a save.
public let NSPersistentStoreSaveConflictsErrorKey: String = "conflictList"

/// The domain of SQLite's own codes. Strata never uses it; the name is kept for code that mentions it.
public let NSSQLiteErrorDomain: String = "NSSQLiteErrorDomain"
