public import Foundation

/// Which objects are wanted, in which order and in which form.
///
/// `ResultType` is a class of managed objects, `NSManagedObjectID`, `NSDictionary` or `NSNumber`, or
/// `any NSFetchRequestResult` for requests whose results are cast later.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The entity whose objects are wanted.
    open var entity: NSEntityDescription? {
        didSet { storedName = entity?.name }
    }
    private var storedName: String?
    /// What the objects must satisfy; nil for all.
    open var predicate: NSPredicate?
    /// The order of the results; without it, the order in which the objects were created.
    open var sortDescriptors: [NSSortDescriptor]?
    /// The greatest number of results; 0 for no limit.
    open var fetchLimit = 0
    /// How many of the results are left out at the beginning.
    open var fetchOffset = 0
    /// The form of the results.
    open var resultType: NSFetchRequestResultType = []
    /// Whether objects of entities that inherit from the entity are wanted, too. Default `true`.
    open var includesSubentities = true
    /// Whether values are read along with the objects. Kept only: faults are read in blocks.
    open var includesPropertyValues = true
    /// Whether the results may be faults (the default) or have their values at once.
    open var returnsObjectsAsFaults = true
    /// Key paths of relationships to be read along. Kept only.
    open var relationshipKeyPathsForPrefetching: [String]?
    /// Whether changes that have not been saved count. Default `true`.
    open var includesPendingChanges = true
    /// Whether equal dictionaries appear once. Default `false`.
    open var returnsDistinctResults = false
    /// The properties of dictionaries: names, or property descriptions.
    open var propertiesToFetch: [Any]?
    /// How many objects are made at a time. Kept only: a fault costs little until it is read.
    open var fetchBatchSize = 0
    /// Whether objects in memory take the values found in the store. Default `false`.
    open var shouldRefreshRefetchedObjects = false
    /// The properties that dictionaries are grouped by. Not supported yet.
    open var propertiesToGroupBy: [Any]?
    /// What groups must satisfy. Not supported yet.
    open var havingPredicate: NSPredicate?

    /// Creates a request that has no entity yet.
    override public init() {}

    /// Creates a request for the objects of an entity, which the context looks up.
    public convenience init(entityName: String) {
        self.init()
        storedName = entityName
    }

    /// The name of the entity.
    open var entityName: String? { storedName }

    /// Runs the request in the context that executes blocks on the calling queue.
    ///
    /// - Throws: `CocoaError` when the caller is not inside of a context's `perform`, otherwise as
    ///   ``NSManagedObjectContext/fetch(_:)-swift.method``.
    open func execute() throws -> [ResultType] {
        guard let context = ContextQueue.currentContext else {
            throw CocoaError(
                .persistentStoreOperation,
                userInfo: [NSLocalizedDescriptionKey: "execute() works only inside of a context's perform."])
        }
        return try context.results(of: self)
    }

    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchRequest<ResultType>()
        copy.entity = entity
        copy.storedName = storedName
        copy.predicate = predicate
        copy.sortDescriptors = sortDescriptors
        copy.fetchLimit = fetchLimit
        copy.fetchOffset = fetchOffset
        copy.resultType = resultType
        copy.includesSubentities = includesSubentities
        copy.includesPropertyValues = includesPropertyValues
        copy.returnsObjectsAsFaults = returnsObjectsAsFaults
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        copy.includesPendingChanges = includesPendingChanges
        copy.returnsDistinctResults = returnsDistinctResults
        copy.propertiesToFetch = propertiesToFetch
        copy.fetchBatchSize = fetchBatchSize
        copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        copy.propertiesToGroupBy = propertiesToGroupBy
        copy.havingPredicate = havingPredicate
        copy.affectedStores = affectedStores
        return copy
    }
}
