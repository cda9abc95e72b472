public import Foundation
import StrataSupport

/// Deletes many stored objects at once, without a managed object for each.
///
/// Works on what is stored: unsaved changes of contexts are neither seen nor changed. No context learns of the
/// deletions by itself: pass the IDs to ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``. The
/// history has them, with tombstones.
///
/// Delete rules are followed in the store: *cascade* deletes what the relationship leads to, and what it leads to;
/// with all other rules but *no action*, references to the deleted objects are set to null. When such a reference is
/// mandatory and its object stays, the request fails with error 134070 and nothing is deleted. The *deny* rule counts
/// only with ``appliesValidation``. Objects deleted by cascade are in the history, not in the result; merging the
/// result deletes those that a context has in memory.
///
/// A request is one atomic transaction up to ``maximumObjectsPerTransaction`` objects; a greater one is committed in
/// parts of that size.
///
/// ```swift
/// let short = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
/// short.predicate = NSPredicate(format: "pages <= %d", 200)
/// let delete = NSBatchDeleteRequest(fetchRequest: short)
/// delete.resultType = .resultTypeCount
/// let result = try context.execute(delete) as? NSBatchDeleteResult
/// let count = result?.result as? Int
/// ```
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// Describes what is deleted.
    public final var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        if let described { return described }
        let request = Self.request(for: objectIDs ?? [])
        described = request
        return request
    }
    /// Nil as long as nobody has asked what a request for object IDs looks like.
    private var described: NSFetchRequest<any NSFetchRequestResult>?
    /// What the result holds. Default ``NSBatchDeleteRequestResultType/resultTypeStatusOnly``.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// An option of Strata: whether the deny rule is enforced. Default `false`, as in Core Data.
    open var appliesValidation = false
    /// An option of Strata: how many objects one transaction deletes at most, those deleted by cascade not counted.
    /// Default 1,048,576.
    open var maximumObjectsPerTransaction = BatchLimits.maximumObjects
    /// Set when the objects were given by their IDs.
    final var objectIDs: [NSManagedObjectID]?

    /// Creates a request that deletes what the fetch request describes; its limit, offset and order count.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        described = fetch
        super.init()
    }

    /// Creates a request that deletes the objects with these IDs.
    ///
    /// All must be of entities with a common ancestor: a request with others throws error 134070 when it is executed.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        self.init(fetchRequest: NSFetchRequest<any NSFetchRequestResult>())
        objectIDs = objects
        described = nil
    }

    /// - Throws: `CocoaError` 134070 when the IDs are of entities without a common ancestor.
    func checkIDs() throws {
        guard let ids = objectIDs, let first = ids.first?.shape else { return }
        for id in ids where id.shape.root !== first.root {
            guard id.shape.root.name == first.root.name else {
                throw BatchSession.error(
                    "The IDs of a batch delete are of \(first.name) and \(id.shape.name), which have no ancestor in "
                        + "common. Make one request for each entity hierarchy.")
            }
        }
    }

    private static func request(for ids: [NSManagedObjectID]) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = commonShape(of: ids)?.entity
        request.predicate = NSPredicate(format: "SELF IN %@", ids)
        return request
    }

    private static func commonShape(of ids: [NSManagedObjectID]) -> EntityShape? {
        guard let first = ids.first?.shape else { return nil }
        // Most are of one entity.
        let others = ids.filter { $0.shape !== first }
        return first.lineage.last { shape in others.allSatisfy { $0.shape.isKind(of: shape) } } ?? first
    }

    /// The objects to be deleted, when the request has their IDs and nobody can have changed what it describes.
    var plainIDs: [NSManagedObjectID]? { described == nil ? objectIDs : nil }

    /// The entity that the objects are of.
    var entityName: String? {
        guard let described else { return Self.commonShape(of: objectIDs ?? [])?.name }
        return described.entityName ?? described.entity?.name
    }

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            plainIDs.map { NSBatchDeleteRequest(objectIDs: $0) } ?? NSBatchDeleteRequest(fetchRequest: fetchRequest)
        copy.resultType = resultType
        copy.appliesValidation = appliesValidation
        copy.maximumObjectsPerTransaction = maximumObjectsPerTransaction
        copy.objectIDs = objectIDs
        copy.affectedStores = affectedStores
        copy.timeLimit = timeLimit
        return copy
    }
}
