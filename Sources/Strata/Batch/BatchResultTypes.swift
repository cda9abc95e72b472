/// What a batch delete returns.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it succeeded.
    case resultTypeStatusOnly = 0
    /// The identifiers of the deleted objects.
    case resultTypeObjectIDs = 1
    /// How many objects were deleted.
    case resultTypeCount = 2
}

/// What a batch insert returns.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it succeeded.
    case statusOnly = 0
    /// The identifiers of the new objects.
    case objectIDs = 1
    /// How many objects were inserted.
    case count = 2
}

/// What a batch update returns.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it succeeded.
    case statusOnlyResultType = 0
    /// The identifiers of the changed objects.
    case updatedObjectIDsResultType = 1
    /// How many objects were changed.
    case updatedObjectsCountResultType = 2
}
