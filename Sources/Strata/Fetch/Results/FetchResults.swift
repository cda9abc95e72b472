import Foundation
import StrataRuntime

/// What a fetch gives, in its form.
enum FetchResults {
    case objects([NSManagedObject])
    case objectIDs([NSManagedObjectID])
    case dictionaries([NSDictionary])
    case counts([NSNumber])

    var any: [Any] {
        switch self {
        case .objects(let objects): objects
        case .objectIDs(let ids): ids
        case .dictionaries(let dictionaries): dictionaries
        case .counts(let counts): counts
        }
    }

    /// As the type of a request that does not say more.
    var untyped: [any NSFetchRequestResult] {
        switch self {
        case .objects(let objects): objects
        case .objectIDs(let ids): ids
        case .dictionaries(let dictionaries): dictionaries
        case .counts(let counts): counts
        }
    }

    /// The results as an array of the type that the request says.
    ///
    /// - Throws: `CocoaError` when they are of another type.
    func typed<T>(_ plan: FetchPlan) throws -> [T] {
        if case .objects(let objects) = self, plan.prepared.givesResultClass, T.self == plan.prepared.resultClass,
            !ForeignObjects.exist || objects.allSatisfy({ $0 is T })
        {
            // SAFETY: every object is of the class T or of a subclass; arrays of class references have one layout.
            return CollectionLayout.cast(objects, to: [T].self)
        }
        // Otherwise each result is cast, which takes longer than finding it.
        // SAFETY: T is the type of the elements.
        if case .objectIDs(let ids) = self, T.self == NSManagedObjectID.self {
            return CollectionLayout.cast(ids, to: [T].self)
        }
        if T.self == (any NSFetchRequestResult).self { return CollectionLayout.cast(untyped, to: [T].self) }
        return try Self.typed(any)
    }

    /// Results of whatever origin as an array of the type that the request says.
    static func typed<T>(_ results: [Any]) throws -> [T] {
        try results.map { result in
            guard let typed = result as? T else {
                throw FetchProblem.error("The request gives \(type(of: result)), not \(T.self).")
            }
            return typed
        }
    }
}
