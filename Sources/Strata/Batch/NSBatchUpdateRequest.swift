public import Foundation
import StrataSupport

/// Changes properties of many stored objects at once, without a managed object for each.
///
/// Works on what is stored: unsaved changes of contexts are neither seen nor changed. No context learns of the changes
/// by itself: refresh objects, or pass the IDs to
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``. The history has them.
///
/// A request is one atomic transaction up to ``maximumObjectsPerTransaction`` objects; a greater one is committed in
/// parts of that size.
///
/// ```swift
/// let update = NSBatchUpdateRequest(entityName: "Book")
/// update.predicate = NSPredicate(format: "pages < %d", 200)
/// update.propertiesToUpdate = ["pages": 200]
/// update.resultType = .updatedObjectsCountResultType
/// let result = try context.execute(update) as? NSBatchUpdateResult
/// let count = result?.result as? Int
/// ```
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private let givenName: String
    private let givenEntity: NSEntityDescription?
    final var resolvedEntity: NSEntityDescription?
    /// What objects must satisfy to be changed; nil for all of the entity.
    open var predicate: NSPredicate?
    /// Whether objects of entities that inherit from the entity are changed, too. Default `true`.
    open var includesSubentities = true
    /// What the result holds. Default ``NSBatchUpdateRequestResultType/statusOnlyResultType``.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// The new values by property: names or property descriptions, with values, `NSNull` or an `NSExpression` over the
    /// object as it was before. To-one relationships whose inverse is to-many take an `NSManagedObjectID` or a saved
    /// object.
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// An option of Strata: whether each object is validated as a save would, with
    /// ``NSManagedObject/validateForUpdate()``. Default `false`, as in Core Data.
    open var appliesValidation = false
    /// An option of Strata: how many objects one transaction takes at most. Default 1,048,576.
    open var maximumObjectsPerTransaction = BatchLimits.maximumObjects

    /// Creates a request for the objects of an entity, which the context looks up.
    public init(entityName: String) {
        givenName = entityName
        givenEntity = nil
        super.init()
    }

    /// Creates a request for the objects of an entity.
    public init(entity: NSEntityDescription) {
        givenName = entity.name ?? ""
        givenEntity = entity
        super.init()
    }

    /// The name of the entity.
    open var entityName: String { givenName }

    /// The entity.
    ///
    /// - Precondition: the request was created with an entity, or has been executed.
    open var entity: NSEntityDescription {
        guard let entity = givenEntity ?? resolvedEntity else {
            programmerError(
                "NSBatchUpdateRequest.entity", "the entity \"\(givenName)\" is known only once the request is executed",
                "Read entityName, or create the request with an entity")
        }
        return entity
    }

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy = givenEntity.map { NSBatchUpdateRequest(entity: $0) } ?? NSBatchUpdateRequest(entityName: givenName)
        copy.predicate = predicate
        copy.includesSubentities = includesSubentities
        copy.resultType = resultType
        copy.propertiesToUpdate = propertiesToUpdate
        copy.appliesValidation = appliesValidation
        copy.maximumObjectsPerTransaction = maximumObjectsPerTransaction
        copy.affectedStores = affectedStores
        copy.timeLimit = timeLimit
        return copy
    }
}
