/// A fetch request without its generic parameter.
protocol AnyFetchRequest: NSPersistentStoreRequest {
    var settings: FetchSettings { get }
    /// What the generic parameter says the results are.
    var resultClass: Any.Type { get }
    /// The plan of the request.
    ///
    /// - Throws: as ``PreparedFetch``.
    func plan(in context: NSManagedObjectContext) throws -> FetchPlan
}

/// A request that knows how a context executes it.
protocol ContextExecutable: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension FetchSettings {
    /// The stores that the request names.
    var namedStores: [NSPersistentStore]? {
        affectedStores?.map { unsafeDowncast($0, to: NSPersistentStore.self) }
    }
}
