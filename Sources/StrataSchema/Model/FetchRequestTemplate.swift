import Foundation

/// A fetch request as models keep it: the templates of a model and the requests of fetched properties. `NSFetchRequest`
/// converts from and to it; entities and properties are referred to by name.
package struct FetchRequestTemplate {
    package struct Sort: Hashable {
        package var key: String
        package var isAscending: Bool
        /// The name of the comparing selector, such as "caseInsensitiveCompare:"; nil for the plain order.
        package var selectorName: String?

        package init(key: String, isAscending: Bool, selectorName: String?) {
            self.key = key
            self.isAscending = isAscending
            self.selectorName = selectorName
        }
    }

    package var entityName: String?
    package var predicate: NSPredicate?
    package var sorts: [Sort] = []
    package var resultType: NSFetchRequestResultType = []
    package var fetchLimit = 0
    package var fetchOffset = 0
    package var fetchBatchSize = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var shouldRefreshRefetchedObjects = false
    package var propertyNamesToFetch: [String]?
    package var propertyNamesToGroupBy: [String]?
    package var havingPredicate: NSPredicate?
    package var relationshipKeyPathsForPrefetching: [String]?
    package var timeLimit: Duration?

    package init() {}
}
