import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The objects that a request describes.
    ///
    /// Runs on the newest state of the stores, with the context's unsaved changes laid over it.
    ///
    /// - Throws: `CocoaError` when the entity is unknown or a store cannot be read.
    /// - Complexity: O(n) in the objects of the entity, unless the predicate names objects or the target of a to-one
    ///   relationship that has an inverse; O(m log m) in the matches with sort descriptors.
    public final func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
        try results(of: request)
    }

    /// As the generic form, for results that are cast later.
    public final func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        try results(of: request)
    }

    /// How many objects a request describes; its limit and offset count.
    ///
    /// - Throws: as ``fetch(_:)-swift.method``.
    /// - Complexity: O(1) without predicate; otherwise as for fetching.
    public final func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
        if let custom = CustomFetch(self, request) { return try custom.count() }
        return try FetchExecutor(self, FetchPlan(request, in: self)).count()
    }

    /// As the generic form.
    public final func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        if let custom = CustomFetch(self, request) { return try custom.count() }
        return try FetchExecutor(self, FetchPlan(request, in: self)).count()
    }

    /// Executes a request: a fetch of persistent history.
    ///
    /// - Throws: `CocoaError` 134091 for requests that are not supported, the store's error when it cannot be read.
    final func executeRequest(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if let request = request as? NSPersistentHistoryChangeRequest {
            return try HistoryExecutor(self, request).execute()
        }
        if let result = try executeInCustomStore(request) { return result }
        throw CocoaError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [NSLocalizedDescriptionKey: "Requests of class \(type(of: request)) cannot be executed."])
    }

    final func results<T>(of request: NSFetchRequest<T>) throws -> [T] {
        if let custom = CustomFetch(self, request) { return try typed(try custom.results()) }
        let plan = try FetchPlan(request, in: self)
        let executor = FetchExecutor(self, plan)
        let results: [Any]
        if plan.resultType.contains(.countResultType) {
            results = [NSNumber(value: try executor.count())]
        } else if plan.resultType.contains(.managedObjectIDResultType) {
            results = try executor.objectIDs()
        } else if plan.resultType.contains(.dictionaryResultType) {
            results = try executor.dictionaries()
        } else {
            let objects = try executor.objects()
            if let type = T.self as? NSManagedObject.Type,
                plan.family.allSatisfy({ Self.isClass($0.objectClass, type) })
            {
                // SAFETY: every object is of the class T or of a subclass; arrays of class references have one layout.
                return unsafeBitCast(objects, to: [T].self)
            }
            results = objects
        }
        return try typed(results)
    }

    private func typed<T>(_ results: [Any]) throws -> [T] {
        try results.map { result in
            guard let typed = result as? T else {
                throw CocoaError(
                    .persistentStoreOperation,
                    userInfo: [
                        NSLocalizedDescriptionKey: "The request gives \(type(of: result)), not \(T.self)."
                    ])
            }
            return typed
        }
    }
}

extension NSManagedObjectContext {
    private static func isClass(_ type: NSManagedObject.Type, _ ancestor: NSManagedObject.Type) -> Bool {
        var current: AnyClass? = type
        while let candidate = current {
            if candidate == ancestor { return true }
            current = _getSuperclass(candidate)
        }
        return false
    }
}

extension NSManagedObjectContext: FetchExpressionContext {
    package final func fetchExpressionValue(_ request: Any, countOnly: Bool) -> Any? {
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult> else { return nil }
        return countOnly ? try? count(for: request) : try? fetch(request)
    }
}
