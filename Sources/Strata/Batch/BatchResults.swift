import Foundation

/// What a batch insert did.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// As ``resultType`` says: true, the IDs of the new objects (`[NSManagedObjectID]`), or how many there are.
    public let result: Any?
    /// The form of ``result``.
    public let resultType: NSBatchInsertRequestResultType

    init(_ outcome: BatchOutcome, _ type: NSBatchInsertRequestResultType) {
        resultType = type
        result =
            switch type {
            case .statusOnly: NSNumber(value: true)
            case .objectIDs: outcome.objectIDs
            case .count: NSNumber(value: outcome.count)
            }
        super.init()
    }
}

/// What a batch update did.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// As ``resultType`` says: true, the IDs of the changed objects (`[NSManagedObjectID]`), or how many there are.
    public let result: Any?
    /// The form of ``result``.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ outcome: BatchOutcome, _ type: NSBatchUpdateRequestResultType) {
        resultType = type
        result =
            switch type {
            case .statusOnlyResultType: NSNumber(value: true)
            case .updatedObjectIDsResultType: outcome.objectIDs
            case .updatedObjectsCountResultType: NSNumber(value: outcome.count)
            }
        super.init()
    }
}

/// What a batch delete did.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// As ``resultType`` says: true, the IDs of the deleted objects (`[NSManagedObjectID]`), or how many there are.
    public let result: Any?
    /// The form of ``result``.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ outcome: BatchOutcome, _ type: NSBatchDeleteRequestResultType) {
        resultType = type
        result =
            switch type {
            case .resultTypeStatusOnly: NSNumber(value: true)
            case .resultTypeObjectIDs: outcome.objectIDs
            case .resultTypeCount: NSNumber(value: outcome.count)
            }
        super.init()
    }
}

/// What a batch request touched.
struct BatchOutcome {
    var count = 0
    /// Gathered only if they are asked for.
    var objectIDs: [NSManagedObjectID] = []
}
