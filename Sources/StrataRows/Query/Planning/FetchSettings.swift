import Foundation

/// Everything that a fetch request says, whatever its generic parameter: plans are made of it, requests copied by it.
package struct FetchSettings {
    package var entity: NSEntityDescription?
    package var entityName: String?
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor]?
    package var fetchLimit = 0
    package var fetchOffset = 0
    package var fetchBatchSize = 0
    package var resultType: NSFetchRequestResultType = []
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var shouldRefreshRefetchedObjects = false
    package var relationshipKeyPathsForPrefetching: [String]? = []
    package var propertiesToFetch: [Any]?
    package var propertiesToGroupBy: [Any]?
    package var havingPredicate: NSPredicate?
    package var affectedStores: [any OpenStore]?
    package var timeLimit: Duration?

    package init() {}

    /// Whether another request with these settings is the same one, with its entity or only the name of it.
    package func saysTheSame(as other: FetchSettings) -> Bool {
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
