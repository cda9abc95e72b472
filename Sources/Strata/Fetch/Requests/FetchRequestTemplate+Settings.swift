import Foundation

extension FetchRequestTemplate {
    /// What a request says, in the form that models keep.
    ///
    /// - Throws: ``ModelError`` with `notEncodable` for what has no name: comparators, Swift key paths and expressions
    ///   to fetch.
    init(_ settings: FetchSettings) throws {
        self.init()
        entityName = settings.entityName
        predicate = settings.predicate?.canonical
        sorts = try (settings.sortDescriptors ?? []).map { sort in
            guard let sort = sort as? KeySortDescriptor, let selector = sort.selectorName else {
                throw ModelError(.notEncodable, "The sort descriptor \(sort) has no name to be kept by.")
            }
            return Sort(
                key: sort.path.text, isAscending: sort.ascending, selectorName: sort.isNatural ? nil : selector)
        }
        resultType = settings.resultType
        fetchLimit = settings.fetchLimit
        fetchOffset = settings.fetchOffset
        fetchBatchSize = settings.fetchBatchSize
        includesSubentities = settings.includesSubentities
        includesPropertyValues = settings.includesPropertyValues
        includesPendingChanges = settings.includesPendingChanges
        returnsObjectsAsFaults = settings.returnsObjectsAsFaults
        returnsDistinctResults = settings.returnsDistinctResults
        shouldRefreshRefetchedObjects = settings.shouldRefreshRefetchedObjects
        propertyNamesToFetch = try settings.propertiesToFetch.map(Self.names)
        propertyNamesToGroupBy = try settings.propertiesToGroupBy.map(Self.names)
        havingPredicate = settings.havingPredicate?.canonical
        // Models say nothing of what is empty, as before there were any.
        relationshipKeyPathsForPrefetching = settings.relationshipKeyPathsForPrefetching.flatMap {
            $0.isEmpty ? nil : $0
        }
        timeLimit = settings.timeLimit
    }

    private static func names(_ properties: [Any]) throws -> [String] {
        try properties.map { property in
            if let name = property as? String { return name }
            guard let description = property as? NSPropertyDescription, !(property is NSExpressionDescription) else {
                throw ModelError(.notEncodable, "\(property) has no name in the model to be kept by.")
            }
            return description.name
        }
    }

    /// The request's settings; the entity is the model's.
    func settings(in model: NSManagedObjectModel?) -> FetchSettings {
        var settings = FetchSettings()
        settings.entityName = entityName
        settings.entity = entityName.flatMap { model?.entitiesByName[$0] }
        settings.predicate = predicate
        if !sorts.isEmpty {
            settings.sortDescriptors = sorts.map { sort in
                let order = sort.selectorName.map { KeySortDescriptor.Order.selector(Selector($0)) } ?? .natural
                return KeySortDescriptor(key: sort.key, ascending: sort.isAscending, order: order)
            }
        }
        settings.resultType = resultType
        settings.fetchLimit = fetchLimit
        settings.fetchOffset = fetchOffset
        settings.fetchBatchSize = fetchBatchSize
        settings.includesSubentities = includesSubentities
        settings.includesPropertyValues = includesPropertyValues
        settings.includesPendingChanges = includesPendingChanges
        settings.returnsObjectsAsFaults = returnsObjectsAsFaults
        settings.returnsDistinctResults = returnsDistinctResults
        settings.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        settings.propertiesToFetch = propertyNamesToFetch
        settings.propertiesToGroupBy = propertyNamesToGroupBy
        settings.havingPredicate = havingPredicate
        settings.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching ?? []
        settings.timeLimit = timeLimit
        return settings
    }
}

/// A fetch request in an archive: one value, the bytes of its template.
enum FetchRequestCoding {
    private static let key = "fetchRequest"
    /// In the place of a request that has no encoding: why.
    private static let problemKey = "fetchRequestProblem"

    static func encode(_ settings: FetchSettings, with coder: NSCoder) {
        do {
            guard settings.affectedStores == nil else {
                throw ModelError(.notEncodable, "affectedStores cannot be kept in an archive.")
            }
            var writer = ModelWriter(mode: .storing)
            try writer.write(template: FetchRequestTemplate(settings))
            coder.encode(NSData(data: Data(writer.payload)), forKey: key)
        } catch {
            // NSCoder.failWithError would end the program on Linux, and this method cannot throw.
            coder.encode("\(error)" as NSString, forKey: problemKey)
        }
    }

    static func settings(from coder: NSCoder) -> FetchSettings? {
        // An unarchiver that is asked for what it has not got ends the program.
        guard coder.containsValue(forKey: key), let data = coder.decodeObject(of: NSData.self, forKey: key) else {
            return nil
        }
        var reader = ModelReader(Array(Data(referencing: data)))
        return try? reader.readTemplateAlone().settings(in: nil)
    }
}
