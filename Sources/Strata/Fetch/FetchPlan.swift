import Foundation
import StrataLog

/// A fetch request with its entity looked up.
struct FetchPlan {
    let shape: EntityShape
    /// The entity, with those that inherit from it if they are wanted.
    let family: [EntityShape]
    let predicate: NSPredicate?
    let sorts: [NSSortDescriptor]
    private(set) var limit: Int
    private(set) var offset: Int
    let resultType: NSFetchRequestResultType
    private(set) var includesPendingChanges: Bool
    let returnsFaults: Bool
    let refreshes: Bool
    let isDistinct: Bool
    let properties: [String]
    let stores: [NSPersistentStore]?

    init<T>(_ request: NSFetchRequest<T>, in context: NSManagedObjectContext) throws {
        guard let shapes = context.modelShapes else {
            throw Self.error("The context has no persistent store coordinator.")
        }
        let name = request.entityName ?? (T.self as? NSManagedObject.Type).flatMap { shapes.shape(ofClass: $0)?.name }
        guard let name, let shape = shapes.byName[name] else {
            throw Self.error("The model has no entity named \(name ?? "nil").")
        }
        guard request.propertiesToGroupBy?.isEmpty ?? true, request.havingPredicate == nil else {
            throw Self.error("propertiesToGroupBy and havingPredicate are not supported yet.")
        }
        self.shape = shape
        family = request.includesSubentities ? shape.family : [shape]
        predicate = request.predicate
        sorts = request.sortDescriptors ?? []
        limit = request.fetchLimit > 0 ? request.fetchLimit : Int.max
        offset = max(0, request.fetchOffset)
        resultType = request.resultType
        includesPendingChanges = request.includesPendingChanges
        returnsFaults = request.returnsObjectsAsFaults
        refreshes = request.shouldRefreshRefetchedObjects
        isDistinct = request.returnsDistinctResults
        stores = request.affectedStores
        properties = try Self.names(request.propertiesToFetch, shape)
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

    private static func names(_ properties: [Any]?, _ shape: EntityShape) throws -> [String] {
        guard let properties else {
            return shape.slots.prefix(shape.persistentSlotCount).filter { !$0.isHidden }.map(\.name)
        }
        return try properties.map { property in
            let name = (property as? NSPropertyDescription)?.name ?? property as? String
            guard let name, !(property is NSExpressionDescription), case .slot = shape.place(name) else {
                throw error("\(property) cannot be fetched into dictionaries of \(shape.name) yet.")
            }
            return name
        }
    }

    static func error(_ text: String) -> CocoaError {
        CocoaError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
