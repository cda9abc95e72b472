import Foundation

/// Everything that a fetch request says, whatever its generic parameter: plans are made of it, requests copied by it.
struct FetchSettings {
    var entity: NSEntityDescription?
    var entityName: String?
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor]?
    var fetchLimit = 0
    var fetchOffset = 0
    var fetchBatchSize = 0
    var resultType: NSFetchRequestResultType = []
    var includesSubentities = true
    var includesPropertyValues = true
    var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    var returnsDistinctResults = false
    var shouldRefreshRefetchedObjects = false
    var relationshipKeyPathsForPrefetching: [String]? = []
    var propertiesToFetch: [Any]?
    var propertiesToGroupBy: [Any]?
    var havingPredicate: NSPredicate?
    var affectedStores: [any OpenStore]?
    var timeLimit: Duration?

    /// Whether another request with these settings is the same one, with its entity or only the name of it.
    func saysTheSame(as other: FetchSettings) -> Bool {
        entityName == other.entityName && (entity == nil || other.entity == nil || entity === other.entity)
            && fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset
            && fetchBatchSize == other.fetchBatchSize && resultType == other.resultType
            && includesSubentities == other.includesSubentities
            && includesPropertyValues == other.includesPropertyValues
            && includesPendingChanges == other.includesPendingChanges
            && returnsObjectsAsFaults == other.returnsObjectsAsFaults
            && returnsDistinctResults == other.returnsDistinctResults
            && shouldRefreshRefetchedObjects == other.shouldRefreshRefetchedObjects && timeLimit == other.timeLimit
            && (relationshipKeyPathsForPrefetching ?? []) == (other.relationshipKeyPathsForPrefetching ?? [])
            && predicate?.canonical == other.predicate?.canonical
            && havingPredicate?.canonical == other.havingPredicate?.canonical
            && sortDescriptors == other.sortDescriptors
            && affectedStores?.map { ObjectIdentifier($0) } == other.affectedStores?.map { ObjectIdentifier($0) }
            && Self.areEqual(propertiesToFetch, other.propertiesToFetch)
            && Self.areEqual(propertiesToGroupBy, other.propertiesToGroupBy)
    }

    private static func areEqual(_ left: [Any]?, _ right: [Any]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return NSArray(array: left) == NSArray(array: right)
    }
}
