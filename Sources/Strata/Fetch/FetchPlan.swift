import Foundation
import StrataLog

/// A fetch request with its entity looked up and its key paths checked: all that an executor needs to know.
struct FetchPlan {
    let shape: EntityShape
    /// The entity, with those that inherit from it if they are wanted.
    let family: [EntityShape]
    let predicate: NSPredicate?
    /// The predicate asks for something that only objects know: a block, or a method of the object's class.
    let needsObjects: Bool
    let sorts: [NSSortDescriptor]
    private(set) var limit: Int
    private(set) var offset: Int
    let resultType: NSFetchRequestResultType
    private(set) var includesPendingChanges: Bool
    let includesValues: Bool
    let returnsFaults: Bool
    let refreshes: Bool
    let isDistinct: Bool
    let batchSize: Int
    let prefetchedPaths: [KeyPathComponents]
    let stores: [NSPersistentStore]?
    /// Only of requests for dictionaries.
    var dictionaries: DictionaryPlan?

    init<T>(_ request: NSFetchRequest<T>, in context: NSManagedObjectContext) throws {
        request.isExecuted(with: context.modelShapes)
        try self.init(request.settings, resultClass: request.resultClass, in: context)
    }

    /// - Throws: `CocoaError` 134070 for a request that makes no sense: an unknown entity or key, options that exclude
    ///   each other, a negative limit, a constant that cannot be compared with the property.
    init(_ settings: FetchSettings, resultClass: Any.Type, in context: NSManagedObjectContext) throws {
        guard let shapes = context.modelShapes else {
            throw FetchProblem.error("The context has no persistent store coordinator.")
        }
        let shape = try Self.shape(settings, resultClass, shapes)
        self.shape = shape
        family = settings.includesSubentities ? shape.family : [shape]
        try FetchProblem.checkWindow(
            limit: settings.fetchLimit, offset: settings.fetchOffset, batchSize: settings.fetchBatchSize)
        let checker = KeyPathChecker(shape)
        var folding = ConstantFolding()
        // Requests in the predicate are made here; one that fails must not be one that finds nothing.
        let folded = try context.throwingReadFailures { settings.predicate.map { folding.apply(to: $0) } }
        try folded.map { try checker.check($0) }
        let typed = try folded.map { try ConstantTypes(shape).apply(to: $0) }
        let predicate = typed.map { ThreeValuedLogic(shape).apply(to: $0) }
        self.predicate = Self.isAlwaysTrue(predicate) ? nil : predicate
        needsObjects = folding.needsObjects
        resultType = settings.resultType
        dictionaries =
            settings.resultType.contains(.dictionaryResultType) ? try DictionaryPlan(settings, shape) : nil
        sorts = (settings.sortDescriptors ?? []).map { PropertyNames.keyed($0) }
        let columns = dictionaries?.names ?? []
        for case let sort as KeySortDescriptor in sorts where !columns.contains(sort.path.text) {
            try checker.check(sort.path.names[...], from: shape, whole: sort.path.text)
            if checker.isToMany(sort.path), !sort.path.text.contains("@") {
                throw FetchProblem.error("to-many key not allowed here: \(sort.path.text)")
            }
        }
        limit = settings.fetchLimit > 0 ? settings.fetchLimit : Int.max
        offset = settings.fetchOffset
        includesPendingChanges = settings.includesPendingChanges && dictionaries == nil
        includesValues = settings.includesPropertyValues
        returnsFaults = settings.returnsObjectsAsFaults || !settings.includesPropertyValues
        refreshes = settings.shouldRefreshRefetchedObjects
        isDistinct = settings.returnsDistinctResults
        batchSize = settings.fetchBatchSize
        stores = settings.affectedStores
        prefetchedPaths = try (settings.relationshipKeyPathsForPrefetching ?? []).map { text in
            let path = KeyPathComponents(text)
            try checker.checkRelationships(path)
            return path
        }
        try Self.checkOptions(settings, shape)
    }

    /// Whether a predicate holds for every row, and so is none. The text is asked of leaves only: that of others is long.
    private static func isAlwaysTrue(_ predicate: NSPredicate?) -> Bool {
        switch predicate {
        case nil, is NSComparisonPredicate: false
        case let compound as NSCompoundPredicate:
            compound.compoundPredicateType == .and && compound.subpredicates.allSatisfy { isAlwaysTrue($0) }
        case let predicate?: predicate.formatString == "TRUEPREDICATE"
        }
    }

    /// What a child context asks its parent, whose unsaved changes always count: for the child they are what is stored.
    ///
    /// - Parameter limit: how many matches do.
    func forParent(limit: Int) -> FetchPlan {
        var plan = self
        plan.limit = limit
        plan.offset = 0
        plan.includesPendingChanges = true
        return plan
    }

    private static func shape(
        _ settings: FetchSettings, _ resultClass: Any.Type, _ shapes: ModelShapes
    ) throws -> EntityShape {
        let byClass = (resultClass as? NSManagedObject.Type).flatMap { shapes.shape(ofClass: $0)?.name }
        guard let name = settings.entityName ?? byClass else {
            throw FetchProblem.error("A fetch request must have an entity.")
        }
        guard let shape = shapes.byName[name] else {
            throw FetchProblem.unknownEntity(name, shapes)
        }
        return shape
    }

    private static func checkOptions(_ settings: FetchSettings, _ shape: EntityShape) throws {
        let isGrouped = settings.propertiesToGroupBy?.isEmpty == false
        if isGrouped, !settings.resultType.contains(.dictionaryResultType) {
            throw FetchProblem.error("Invalid fetch request: GROUP BY requires NSDictionaryResultType")
        }
        if settings.havingPredicate != nil, !isGrouped {
            throw FetchProblem.error("Invalid fetch request: HAVING requires GROUP BY")
        }
        if !settings.resultType.contains(.dictionaryResultType), let properties = settings.propertiesToFetch {
            for property in properties {
                let name = (property as? NSPropertyDescription)?.name ?? property as? String
                guard let name, property is NSExpressionDescription || shape.place(name) != nil else {
                    throw FetchProblem.error(
                        "Invalid property \(property) passed to setPropertiesToFetch: of \(shape.name)"
                            + shape.suggestion(for: "\(property)"))
                }
            }
        }
    }
}
