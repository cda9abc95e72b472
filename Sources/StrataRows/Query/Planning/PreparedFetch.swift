import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// A fetch request once it is checked: entity and key paths looked up, constants folded, null's logic applied. All that
/// its executions have in common, whatever the values of the predicate's constants; a ``FetchPlan`` is one of them.
///
/// Unchecked: immutable, and made of immutable parts; sort descriptors and stores are never changed.
@usableFromInline
package final class PreparedFetch: @unchecked Sendable {
    /// Tells prepared fetches apart, also those that are gone.
    package let serial: UInt64
    @usableFromInline package let shape: EntityShape
    /// The entity, with those that inherit from it if they are wanted.
    package let family: [EntityShape]
    /// Nil for all rows.
    @usableFromInline let condition: PlannedCondition?
    /// The predicate asks for something that only objects know: a block, or a method of the object's class.
    @usableFromInline package let needsObjects: Bool
    /// Whether requests with other constants can be executed by it.
    package let isShareable: Bool
    package let sorts: [NSSortDescriptor]
    /// Those of ``sorts`` that go by keys.
    package let keySorts: [KeySortDescriptor]
    /// ``sorts`` as what is computed of rows, if all of them are.
    package let computedSorts: [ComputedSort]?
    /// ``sorts`` as columns, if all of them are.
    package let columnSorts: [ColumnSort]?
    @usableFromInline package let limit: Int
    @usableFromInline package let offset: Int
    @usableFromInline package let resultType: NSFetchRequestResultType
    @usableFromInline package let includesPendingChanges: Bool
    @usableFromInline package let includesValues: Bool
    @usableFromInline package let returnsFaults: Bool
    @usableFromInline package let refreshes: Bool
    @usableFromInline package let isDistinct: Bool
    @usableFromInline package let batchSize: Int
    package let prefetchedPaths: [KeyPathComponents]
    package let stores: [any OpenStore]?
    /// What is read, if something else has been read that the results must agree with.
    package let snapshots: RequestSnapshots?
    /// What of the condition and the order leads to rows without looking for a way; nil when nothing does.
    package let direct: DirectCondition?
    /// Whether it leads to all that the request asks of objects.
    package var isDirect: Bool { dictionaries == nil && direct?.others.isEmpty == true }
    /// The way in the store that the plan was first executed in.
    private let knownPath = CompiledReference<DirectPath>()
    /// Whether the store, or what it has of indexes, is another one since: then the request is planned anew.
    package let isOutdated = Atomic<Bool>(false)
    /// Only of requests for dictionaries.
    package let dictionaries: DictionaryPlan?
    /// Where the dictionaries want nothing but extremes: for each the fetch of the row that has it.
    package let extremes: [PreparedFetch]
    /// Whether an index alone may give its results, as they are.
    package var isIndexedPage: Bool {
        columnSorts?.isEmpty == false && prefetchedPaths.isEmpty && !refreshes && dictionaries == nil
            && !resultType.contains(.countResultType)
    }
    /// What the request says that its results are.
    package let resultClass: Any.Type
    /// Whether all objects of the entities are of that class.
    package let givesResultClass: Bool
    /// Which of the last requests have been made more than once, and whether the way to the results of one is
    /// remembered.
    package let repetition = RepetitionFilter()
    package let hasPages = Atomic<Bool>(false)

    private static let made = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - parameters: the constants of the predicate that may be others the next time; nil for a plan that is used
    ///     once.
    ///   - snapshots: what is to be read, of a plan that is used once.
    ///   - fold: folds the constants of a request's predicate, in which whoever made the request may have to evaluate
    ///     something.
    /// - Throws: `CocoaError` 134070 for a request that makes no sense: an unknown entity or key, options that exclude
    ///   each other, a negative limit, a constant that cannot be compared with the property.
    package init(
        _ settings: FetchSettings, resultClass: Any.Type, _ shapes: ModelShapes, parameters: [PlanParameter]? = nil,
        snapshots: RequestSnapshots? = nil, fold: (FetchSettings, EntityShape) throws -> FoldedPredicate
    ) throws {
        let shape = try Self.shape(settings, resultClass, shapes)
        self.shape = shape
        serial = Self.made.wrappingAdd(1, ordering: .relaxed).newValue
        let family = settings.includesSubentities ? shape.family : [shape]
        self.family = family
        try FetchProblem.checkWindow(
            limit: settings.fetchLimit, offset: settings.fetchOffset, batchSize: settings.fetchBatchSize)
        let checker = KeyPathChecker(shape)
        let folded = try fold(settings, shape)
        try folded.predicate.map { try checker.check($0) }
        let typed = try folded.predicate.map { try ConstantTypes(shape).apply(to: $0) }
        let predicate = typed.map { ThreeValuedLogic(shape).apply(to: $0) }
        let (condition, isShareable) = Self.condition(predicate, shape, parameters ?? [], folded.folding)
        (self.condition, self.isShareable) = (condition, isShareable)
        self.snapshots = folded.folding.hasAggregates ? folded.snapshots : snapshots
        needsObjects = folded.folding.needsObjects
        resultType = settings.resultType
        let dictionaries =
            settings.resultType.contains(.dictionaryResultType) ? try DictionaryPlan(settings, shape) : nil
        self.dictionaries = dictionaries
        extremes = dictionaries.map { Self.extremes($0, of: shape, settings, predicate, shapes, fold) } ?? []
        sorts = (settings.sortDescriptors ?? []).map { PropertyNames.keyed($0) }
        keySorts = sorts.compactMap { $0 as? KeySortDescriptor }
        try Self.check(keySorts, columns: dictionaries?.names ?? [], checker, shape)
        let allSorts = keySorts.count == sorts.count ? ComputedSort.all(keySorts, shape) : nil
        columnSorts = allSorts.flatMap { ColumnSort.all($0) }
        computedSorts = allSorts.map { ComputedSort.telling($0, condition) }
        let isPlain = parameters != nil && isShareable && !needsObjects && !settings.shouldRefreshRefetchedObjects
        direct = isPlain ? DirectCondition(condition, columnSorts, shape) : nil
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
        self.resultClass = resultClass
        givesResultClass =
            (resultClass as? AnyClass).map { type in
                family.allSatisfy { Self.isClass($0.entityClass.type, type) }
            } ?? false
        try Self.checkOptions(settings, shape)
    }

    deinit { knownPath.release() }

    /// The way in a store as some context sees it; nil where the store, or what it has of indexes, is another than when
    /// the plan was first executed.
    package func directPath(_ handle: StoreHandle, _ snapshot: Snapshot) -> DirectPath? {
        guard let direct else { return nil }
        if let path = knownPath.load() {
            if path.isFor(handle, snapshot) { return path }
            // A context that shows the past may see indexes that are no more.
            if !path.isFor(handle, handle.log.snapshot) { isOutdated.store(true, ordering: .relaxed) }
            return nil
        }
        guard snapshot.orderedRules === handle.log.snapshot.orderedRules else { return nil }
        let path = knownPath.storeIfNil(DirectPath(self, direct, handle, snapshot))
        return path.isFor(handle, snapshot) ? path : nil
    }

    /// The condition, whose parameters are those constants that came through folding and typing as they are.
    private static func condition(
        _ predicate: NSPredicate?, _ shape: EntityShape, _ parameters: [PlanParameter], _ folding: ConstantFolding
    ) -> (PlannedCondition?, isShareable: Bool) {
        guard let predicate, !isAlwaysTrue(predicate) else { return (nil, parameters.isEmpty) }
        if folding.hasAggregates || folding.hasNullAggregates { return (PlannedCondition(predicate, shape), false) }
        var numbers: [ObjectIdentifier: Int] = [:]
        for (number, parameter) in parameters.enumerated() {
            let folded = folding.replacements[ObjectIdentifier(parameter.expression)] ?? parameter.expression
            numbers[ObjectIdentifier(folded)] = number
        }
        // One expression in two places has one value here, but may have two the next time.
        if numbers.count == parameters.count {
            let condition = PlannedCondition(predicate, shape, numbers: numbers)
            if condition.hasAllParameters { return (condition, true) }
        }
        return (PlannedCondition(predicate, shape), false)
    }

    /// Whether a predicate holds for every row, and so is none. The text is asked of leaves only: that of others is
    /// long.
    private static func isAlwaysTrue(_ predicate: NSPredicate) -> Bool {
        switch predicate {
        case is NSComparisonPredicate: false
        case let compound as NSCompoundPredicate:
            compound.compoundPredicateType == .and && compound.subpredicates.allSatisfy { isAlwaysTrue($0) }
        default: predicate.formatString == "TRUEPREDICATE"
        }
    }

    private static func check(
        _ sorts: [KeySortDescriptor], columns: Set<String>, _ checker: KeyPathChecker, _ shape: EntityShape
    ) throws {
        for sort in sorts where !columns.contains(sort.path.text) {
            try checker.check(sort.path.names[...], from: shape, whole: sort.path.text)
            if checker.isToMany(sort.path), !sort.path.text.contains("@") {
                throw FetchProblem.error("to-many key not allowed here: \(sort.path.text)")
            }
        }
    }

    private static func isClass(_ type: AnyClass?, _ ancestor: AnyClass) -> Bool {
        var current: AnyClass? = type
        while let candidate = current {
            if candidate == ancestor { return true }
            current = _getSuperclass(candidate)
        }
        return false
    }

    private static func shape(
        _ settings: FetchSettings, _ resultClass: Any.Type, _ shapes: ModelShapes
    ) throws -> EntityShape {
        let byClass = (resultClass as? AnyClass).flatMap { shapes.shape(ofClass: $0)?.name }
        guard let name = settings.entityName ?? byClass else {
            throw FetchProblem.error("A fetch request must have an entity.")
        }
        guard let shape = shapes.shape(named: name) else {
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
                guard let name, property is NSExpressionDescription || shape.property(name) != nil else {
                    throw FetchProblem.error(
                        "Invalid property \(property) passed to setPropertiesToFetch: of \(shape.name)"
                            + shape.suggestion(for: "\(property)"))
                }
            }
        }
    }
}
