extension ModelDocument {
    /// A fetch request template, or the request of a fetched property.
    public struct FetchRequest: Codable, Equatable, Sendable {
        /// The name of the template; of a fetched property's request it says nothing.
        public var name: String
        /// The entity that is fetched.
        public var entityName: String
        /// The condition; nil for all objects.
        public var predicate: String?
        /// The order of the results.
        public var sorts: [Sort] = []
        /// The raw value of `NSFetchRequestResultType`.
        public var resultType = 0
        /// The greatest number of results; 0 for all.
        public var fetchLimit = 0
        /// How many results are left out at the beginning.
        public var fetchOffset = 0
        /// How many objects are read together; 0 for all.
        public var fetchBatchSize = 0
        /// Whether objects of subentities are among the results.
        public var includesSubentities = true
        /// Whether values are read together with the objects.
        public var includesPropertyValues = true
        /// Whether changes that were not saved are taken into account.
        public var includesPendingChanges = true
        /// Whether the results may be faults.
        public var returnsObjectsAsFaults = true
        /// Whether results with equal values are returned once.
        public var returnsDistinctResults = false
        /// Whether objects that are in the context already are read again.
        public var refreshesRefetchedObjects = false
        /// The properties of results that are dictionaries; nil for all.
        public var propertiesToFetch: [String]?
        /// The properties whose equal values make a group.
        public var propertiesToGroupBy: [String]?
        /// The condition for groups.
        public var havingPredicate: String?
        /// The relationships whose objects are read, too.
        public var prefetchedKeyPaths: [String]?

        /// Creates a request for all objects of an entity.
        public init(name: String, entityName: String) {
            self.name = name
            self.entityName = entityName
        }
    }

    /// One criterion of an order.
    public struct Sort: Codable, Equatable, Sendable {
        /// The key path that is compared.
        public var key: String
        /// Whether smaller values come first.
        public var isAscending: Bool
        /// The name of the comparing selector, such as "caseInsensitiveCompare:"; nil for the plain order.
        public var selectorName: String?

        /// Creates a criterion.
        public init(key: String, isAscending: Bool = true, selectorName: String? = nil) {
            self.key = key
            self.isAscending = isAscending
            self.selectorName = selectorName
        }
    }
}
