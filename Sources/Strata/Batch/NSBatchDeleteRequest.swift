public import Foundation

/// Deletes many stored objects at once, without a managed object for each.
///
/// Works on what is stored: unsaved changes of contexts are neither seen nor changed. No context learns of the
/// deletions by itself: pass the IDs to ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``. The
/// history has them, with tombstones.
///
/// Delete rules are followed in the store: *cascade* deletes what the relationship leads to, and what it leads to;
/// with all other rules but *no action*, references to the deleted objects are set to null. When such a reference is
/// mandatory and its object stays, the request fails with error 134070 and nothing is deleted. The *deny* rule counts
/// only with ``appliesValidation``. Objects deleted by cascade are in the history, not in the result.
///
/// A request is one atomic transaction up to ``maximumObjectsPerTransaction`` objects; a greater one is committed in
/// parts of that size.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// Describes what is deleted.
    public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    /// What the result holds. Default ``NSBatchDeleteRequestResultType/resultTypeStatusOnly``.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// An option of Strata: whether the deny rule is enforced. Default `false`, as in Core Data.
    open var appliesValidation = false
    /// An option of Strata: how many objects one transaction deletes at most, those deleted by cascade not counted.
    /// Default 1,048,576.
    open var maximumObjectsPerTransaction = BatchLimits.maximumObjects
    /// Set when the objects were given by their IDs.
    final var objectIDs: [NSManagedObjectID]?
    /// What the fetch request says of those IDs, as long as the program has not changed it.
    private var predicateOfIDs: NSPredicate?

    /// Creates a request that deletes what the fetch request describes; its limit, offset and order count.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        fetchRequest = fetch
        super.init()
    }

    /// Creates a request that deletes the objects with these IDs.
    ///
    /// - Precondition: all are of entities with a common ancestor.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let first = objects.first {
            for id in objects {
                precondition(
                    id.shape.root.name == first.shape.root.name,
                    "mismatched object IDs in a batch delete: \(id) is not of a kind with \(first)")
            }
            let common = first.shape.lineage.last { shape in objects.allSatisfy { $0.shape.isKind(of: shape) } }
            request.entity = (common ?? first.shape).entity
        }
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression.expressionForEvaluatedObject(),
            rightExpression: NSExpression(forConstantValue: objects), modifier: .direct, type: .in)
        request.predicate = predicate
        self.init(fetchRequest: request)
        objectIDs = objects
        predicateOfIDs = predicate
    }

    /// The IDs, when the fetch request describes just the objects that they name.
    var describedIDs: [NSManagedObjectID]? {
        guard let objectIDs, let predicateOfIDs, fetchRequest.predicate === predicateOfIDs,
            fetchRequest.fetchLimit <= 0, fetchRequest.fetchOffset <= 0, fetchRequest.includesSubentities,
            let name = fetchRequest.entityName ?? fetchRequest.entity?.name,
            objectIDs.allSatisfy({ $0.shape.lineage.contains { $0.name == name } })
        else { return nil }
        return objectIDs
    }

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchDeleteRequest(fetchRequest: fetchRequest)
        copy.resultType = resultType
        copy.appliesValidation = appliesValidation
        copy.maximumObjectsPerTransaction = maximumObjectsPerTransaction
        copy.objectIDs = objectIDs
        copy.predicateOfIDs = predicateOfIDs
        copy.affectedStores = affectedStores
        return copy
    }
}
