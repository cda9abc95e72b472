import Foundation
import StrataLog

/// What a controller goes by when it judges changes: its request as it was at the last fetch.
struct FetchedResultsSettings {
    /// Nil when the results are not managed objects, which are not followed.
    let shape: EntityShape?
    let includesSubentities: Bool
    /// As changed objects are judged by.
    let predicate: NSPredicate?
    /// As the request has it.
    let asked: NSPredicate?
    let affectedStores: [NSPersistentStore]?
    let fetchLimit: Int
    let fetchOffset: Int
    let sorts: [NSSortDescriptor]
    /// The slots of properties that the order depends on directly; nil when that cannot be told.
    let sortSlots: [Int]?
    /// What the order and the sections depend on in other objects.
    let paths: LeadingPaths?
    /// Of the request.
    let timeLimit: Duration?

    init<T>(
        _ request: NSFetchRequest<T>, sectionNameKeyPath: KeyPathComponents? = nil, in context: NSManagedObjectContext
    ) {
        timeLimit = request.timeLimit
        let shapes = context.modelShapes
        let name = request.entityName ?? (T.self as? NSManagedObject.Type).flatMap { shapes?.shape(ofClass: $0)?.name }
        let isForObjects = request.resultType.rawValue == 0
        let shape = isForObjects ? name.flatMap { shapes?.shape(named: $0) } : nil
        self.shape = shape
        includesSubentities = request.includesSubentities
        // The fetch throws for one that makes no sense.
        predicate = request.predicate.map { given in
            guard let shape else { return given }
            var folding = ConstantFolding(ColumnAggregates(request.settings, shape, in: context).value(of:))
            let folded = folding.apply(to: given.canonical)
            // Aggregates over all objects have the value that they have now.
            let asked = folding.hasAggregates ? folded : given
            return ThreeValuedLogic(shape).apply(to: (try? ConstantTypes(shape).apply(to: asked)) ?? asked)
        }
        asked = request.predicate
        affectedStores = request.affectedStores
        fetchLimit = request.fetchLimit
        fetchOffset = request.fetchOffset
        // As the fetch goes by them.
        sorts = (request.sortDescriptors ?? []).map { PropertyNames.keyed($0) }
        var slots: [Int]? = []
        for sort in sorts {
            guard let shape, let path = (sort as? KeySortDescriptor)?.path, path.names.count == 1,
                case .slot(let slot)? = shape.property(path.names[0]), shape.slots[slot].isPersistent
            else {
                slots = nil
                break
            }
            slots?.append(slot)
        }
        sortSlots = slots
        let keyPaths = [sectionNameKeyPath].compactMap(\.self) + sorts.compactMap { ($0 as? KeySortDescriptor)?.path }
        let paths = shape.map { LeadingPaths(keyPaths, from: $0) }
        self.paths = paths?.isEmpty ?? true ? nil : paths
    }

    /// Whether the results are a part of what the predicate finds.
    var isWindow: Bool { fetchLimit > 0 || fetchOffset > 0 }

    /// Whether objects of this shape can be results.
    func takes(_ other: EntityShape) -> Bool {
        guard let shape else { return false }
        return includesSubentities ? other.isKind(of: shape) : other === shape
    }

    /// Whether one object comes before another. Objects that the sort descriptors find equal are in the order in which
    /// they were created, as fetched ones are.
    func precedes(_ left: NSManagedObject, _ right: NSManagedObject) -> Bool {
        for sort in sorts {
            switch sort.compare(left, to: right) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return Self.age(left) < Self.age(right)
    }

    /// Objects that have not been saved come last.
    private static func age(_ object: NSManagedObject) -> (UInt16, UInt64) {
        object.storeIndex == 0 ? (.max, object.ref.key) : (object.storeIndex, object.ref.key)
    }

    /// The request as delegates see it.
    static func erased<T>(_ request: NSFetchRequest<T>) -> NSFetchRequest<any NSFetchRequestResult> {
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        if let entity = request.entity {
            copy.entity = entity
        } else if let name = request.entityName {
            let named = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
            return fill(named, request)
        }
        return fill(copy, request)
    }

    private static func fill<T>(
        _ copy: NSFetchRequest<any NSFetchRequestResult>, _ request: NSFetchRequest<T>
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        copy.predicate = request.predicate
        copy.sortDescriptors = request.sortDescriptors
        copy.fetchLimit = request.fetchLimit
        copy.fetchOffset = request.fetchOffset
        copy.fetchBatchSize = request.fetchBatchSize
        copy.resultType = request.resultType
        copy.includesSubentities = request.includesSubentities
        copy.includesPropertyValues = request.includesPropertyValues
        copy.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        copy.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
        copy.includesPendingChanges = request.includesPendingChanges
        copy.returnsDistinctResults = request.returnsDistinctResults
        copy.propertiesToFetch = request.propertiesToFetch
        copy.propertiesToGroupBy = request.propertiesToGroupBy
        copy.havingPredicate = request.havingPredicate
        copy.shouldRefreshRefetchedObjects = request.shouldRefreshRefetchedObjects
        copy.affectedStores = request.affectedStores
        return copy
    }
}
