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
    var relationshipKeyPathsForPrefetching: [String]?
    var propertiesToFetch: [Any]?
    var propertiesToGroupBy: [Any]?
    var havingPredicate: NSPredicate?
    var affectedStores: [NSPersistentStore]?
    var timeLimit: Duration?
}

/// A fetch request without its generic parameter.
protocol AnyFetchRequest: NSPersistentStoreRequest {
    var settings: FetchSettings { get }
    /// What the generic parameter says the results are.
    var resultClass: Any.Type { get }
}

/// A request that knows how a context executes it.
protocol ContextExecutable: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}
