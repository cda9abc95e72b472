import Foundation

/// A fetch request as models keep it: the templates of a model and the requests of fetched properties. `NSFetchRequest`
/// converts from and to it; entities and properties are referred to by name.
struct FetchRequestTemplate {
    struct Sort: Hashable {
        var key: String
        var isAscending: Bool
        /// The name of the comparing selector, such as "caseInsensitiveCompare:"; nil for the plain order.
        var selectorName: String?
    }

    var entityName: String?
    var predicate: NSPredicate?
    var sorts: [Sort] = []
    var resultType: NSFetchRequestResultType = []
    var fetchLimit = 0
    var fetchOffset = 0
    var fetchBatchSize = 0
    var includesSubentities = true
    var includesPropertyValues = true
    var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    var returnsDistinctResults = false
    var shouldRefreshRefetchedObjects = false
    var propertyNamesToFetch: [String]?
    var propertyNamesToGroupBy: [String]?
    var havingPredicate: NSPredicate?
    var relationshipKeyPathsForPrefetching: [String]?
    var timeLimit: Duration?
}
