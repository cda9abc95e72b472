import Foundation
import Strata

extension NSManagedObjectContext {
    /// A page of a request's results, and cursors to the pages beside it.
    ///
    /// ```swift
    /// let request = NSFetchRequest<Book>(entityName: "Book")
    /// request.sortDescriptors = [
    ///     NSSortDescriptor(key: "author.name", ascending: true), NSSortDescriptor(key: "year", ascending: false),
    /// ]
    /// let first = try context.page(request, limit: 20)
    /// let second = try context.page(request, limit: 20, at: first.next)
    /// ```
    ///
    /// Going from page to page, in either direction, meets every object once that keeps its sort keys meanwhile,
    /// whatever is inserted and deleted. A page is read from one state of the store, with the context's own unsaved
    /// changes. The order is that of the request; equal objects are in the order of their creation.
    ///
    /// The sort keys are attributes of every type that has an order, elements of composite attributes, also behind
    /// to-one relationships, and counts of to-many ones (`books.@count`). An index that has the sort keys as its
    /// elements answers a page without looking at what comes before it, except among missing dates and floating-point
    /// numbers; without one, each page goes through all objects.
    ///
    /// - Parameters:
    ///   - request: has neither limit nor offset, and asks for objects.
    ///   - limit: how many results the page has at most, 1 or more.
    ///   - cursor: of a page of a request with the same entity and order; nil for the first page.
    /// - Throws: ``StrataPageError``; what a fetch throws.
    /// - Complexity: with an index, O(log n) and O(1) for each result; O(n) in the number of objects without.
    public final func page<Object: NSManagedObject>(
        _ request: NSFetchRequest<Object>, limit: Int, at cursor: StrataPageCursor? = nil
    ) throws -> StrataPage<Object> {
        // One more is asked for, to know whether there is another page.
        guard limit >= 1, limit < Int.max else {
            throw StrataPageError(.invalidLimit, "A page has at least one result; the limit is \(limit).")
        }
        try Self.check(request)
        let (order, coordinator) = try pageOrder(request)
        let place = try cursor.map { try order.place($0, in: coordinator) }
        let search = PageSearch(context: self, request: request, order: order, limit: limit)
        return try inOneState {
            if let cursor, let place { try search.page(cursor, at: place) } else { try search.firstPage() }
        }
    }

    private static func check<Object>(_ request: NSFetchRequest<Object>) throws {
        let problem: String? =
            if request.fetchOffset != 0 {
                "an offset; a cursor takes its place"
            } else if request.fetchLimit != 0 {
                "a limit of its own; give it to page(_:limit:at:)"
            } else if request.resultType != .managedObjectResultType {
                "another result type than objects"
            } else {
                nil
            }
        if let problem {
            throw StrataPageError(.unsupportedRequest, "The request for a page has \(problem).")
        }
    }

    private func pageOrder<Object>(
        _ request: NSFetchRequest<Object>
    ) throws -> (PageOrder, NSPersistentStoreCoordinator) {
        guard parent == nil, let coordinator = persistentStoreCoordinator else {
            throw StrataPageError(
                .unsupportedStore, "Pages are read by a context of a coordinator, and this one has a parent or none.")
        }
        let model = coordinator.managedObjectModel
        guard let name = request.entityName, let entity = model.entitiesByName[name] else {
            let named = request.entityName.map { "the entity \($0), which the model lacks" } ?? "no entity"
            throw StrataPageError(.unsupportedRequest, "The request for a page names \(named).")
        }
        let stores = (request.affectedStores ?? coordinator.persistentStores).filter { store in
            model.entities(forConfigurationName: store.configurationName)?.contains { $0.name == name } ?? true
        }
        guard stores.count == 1, let store = stores.first else {
            throw StrataPageError(
                .unsupportedStore,
                "The objects of \(name) are in \(stores.count) stores, and pages are read from one: set affectedStores."
            )
        }
        let known = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType]
        guard known.contains(store.type), let uuid = store.identifier else {
            throw StrataPageError(
                .unsupportedStore,
                "The objects of \(name) are in a store of type \(store.type), whose order of objects is not known.")
        }
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
        let order = try PageOrder(entity, request.sortDescriptors ?? [], store: "x-coredata://\(uuid)/\(escaped)")
        return (order, coordinator)
    }

    /// Runs a block in which all requests see the same state of the store.
    private func inOneState<Result>(_ body: () throws -> Result) throws -> Result {
        // Where the context is already pinned, that state is meant.
        guard queryGenerationToken == nil else { return try body() }
        try setQueryGenerationFrom(.current)
        let result = Swift.Result { try body() }
        try setQueryGenerationFrom(nil)
        return try result.get()
    }
}
