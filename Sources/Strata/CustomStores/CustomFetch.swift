import Foundation
import StrataLog

/// A fetch in which incremental stores take part: they find their objects themselves, and the context's unsaved changes
/// are laid over what they say.
struct CustomFetch<T> {
    private let context: NSManagedObjectContext
    private let request: NSFetchRequest<T>
    private let shape: EntityShape
    private let links: [IncrementalStoreLink]
    private let otherStores: [NSPersistentStore]

    /// An object of the context that the store says something else about, or nothing.
    private struct Changed {
        var object: NSManagedObject
        var isDeleted: Bool
    }

    /// Nil when no incremental store holds objects of the request's entity.
    init?(_ context: NSManagedObjectContext, _ request: NSFetchRequest<T>) {
        guard let coordinator = context.coordinator, coordinator.hasCustomStores, let shapes = context.modelShapes
        else {
            return nil
        }
        let name = request.entityName ?? (T.self as? NSManagedObject.Type).flatMap { shapes.shape(ofClass: $0)?.name }
        guard let name, let shape = shapes.shape(named: name) else { return nil }
        let stores = coordinator.persistentStores.filter { store in
            guard request.affectedStores?.contains(where: { $0 === store }) ?? true, let handle = store.handle else {
                return false
            }
            return shape.family.contains { handle.map.serves($0) }
        }
        links = stores.compactMap { $0.handle?.custom as? IncrementalStoreLink }
        guard !links.isEmpty else { return nil }
        otherStores = stores.filter { !($0.handle?.custom is IncrementalStoreLink) }
        self.context = context
        self.request = request
        self.shape = shape
    }

    // MARK: Results

    func results() throws -> [Any] {
        _ = try context.coordinator?.stores(named: request.affectedStores)
        try checkWindow()
        if request.resultType.contains(.countResultType) { return [NSNumber(value: try count())] }
        let changed = try changedObjects()
        if links.count == 1, otherStores.isEmpty, changed.isEmpty {
            let found = try execute(links[0], request.resultType, keepsWindow: true)
            return request.fetchLimit > 0 ? Array(found.prefix(request.fetchLimit)) : found
        }
        if request.resultType.contains(.dictionaryResultType) { return try dictionaries() }
        let objects = window(sorted(try allObjects(changed)))
        return request.resultType.contains(.managedObjectIDResultType) ? objects.map(\.objectID) : objects
    }

    private func checkWindow() throws {
        try FetchProblem.checkWindow(
            limit: request.fetchLimit, offset: request.fetchOffset, batchSize: request.fetchBatchSize)
    }

    func count() throws -> Int {
        _ = try context.coordinator?.stores(named: request.affectedStores)
        try checkWindow()
        let changed = try changedObjects()
        if changed.isEmpty {
            var total = 0
            for link in links {
                let found = try execute(link, .countResultType, keepsWindow: otherStores.isEmpty && links.count == 1)
                total += (found.first as? NSNumber)?.intValue ?? 0
            }
            if !otherStores.isEmpty {
                total += try others(.countResultType).compactMap { ($0 as? NSNumber)?.intValue }.reduce(0, +)
            }
            let isWindowed = otherStores.isEmpty && links.count == 1
            return isWindowed ? total : windowed(total)
        }
        return windowed(try allObjects(changed).count)
    }

    private func windowed(_ total: Int) -> Int {
        let rest = max(0, total - max(0, request.fetchOffset))
        return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
    }

    // MARK: Finding

    /// Asks an incremental store. With `keepsWindow` limit and offset are the store's business: it alone answers the
    /// request as it is.
    private func execute(
        _ link: IncrementalStoreLink, _ type: NSFetchRequestResultType, keepsWindow: Bool
    ) throws -> [Any] {
        let result = try link.execute(storeRequest(type, keepsWindow: keepsWindow), in: context)
        if let number = result as? NSNumber { return [number] }
        guard let elements = AnyElements(result) else {
            throw DescribedError(
                .persistentStoreOperation,
                userInfo: [NSLocalizedDescriptionKey: "execute(_:with:) gave \(Swift.type(of: result)) for a fetch."])
        }
        return elements.elements.compactMap { $0 }
    }

    /// The request as stores get it: without generic parameter, with its entity.
    private func storeRequest(
        _ type: NSFetchRequestResultType, keepsWindow: Bool
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        copy.entity = shape.entity
        copy.predicate = request.predicate
        copy.sortDescriptors = request.sortDescriptors
        copy.resultType = type
        copy.includesSubentities = request.includesSubentities
        copy.includesPropertyValues = request.includesPropertyValues
        copy.includesPendingChanges = request.includesPendingChanges
        copy.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        copy.returnsDistinctResults = request.returnsDistinctResults
        copy.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
        copy.propertiesToFetch = request.propertiesToFetch
        copy.propertiesToGroupBy = request.propertiesToGroupBy
        copy.havingPredicate = request.havingPredicate
        copy.shouldRefreshRefetchedObjects = request.shouldRefreshRefetchedObjects
        copy.fetchBatchSize = request.fetchBatchSize
        copy.affectedStores = request.affectedStores
        copy.timeLimit = request.timeLimit
        if keepsWindow {
            copy.fetchLimit = request.fetchLimit
            copy.fetchOffset = request.fetchOffset
        }
        return copy
    }

    /// Asks all other stores at once.
    private func others(_ type: NSFetchRequestResultType) throws -> [Any] {
        guard !otherStores.isEmpty else { return [] }
        let copy = storeRequest(type, keepsWindow: false)
        copy.affectedStores = otherStores
        return try context.results(of: copy)
    }

    /// The context's objects that differ from what is stored, because of its own changes or those of its parents.
    private func changedObjects() throws -> [Changed] {
        let inherited = try inheritedChanges()
        let own = ownChanges()
        if inherited.isEmpty { return own }
        let known = Set(own.map(\.object))
        return own + inherited.filter { !known.contains($0.object) }
    }

    private func ownChanges() -> [Changed] {
        guard request.includesPendingChanges else { return [] }
        return context.pipeline.changed.filter { $0.hasChanges && isWanted($0.shape) }.map {
            Changed(object: $0, isDeleted: $0.isMarkedDeleted)
        }
    }

    /// What the parents have not saved. To their child it is stored.
    private func inheritedChanges() throws -> [Changed] {
        guard let link = context.link else { return [] }
        return try context.withParent(link) { try $0.changesForChild(isWanted) }.compactMap { change in
            context.object(change.ref).map { Changed(object: $0, isDeleted: change.isDeleted || $0.isMarkedDeleted) }
        }
    }

    private func isWanted(_ other: EntityShape) -> Bool {
        request.includesSubentities ? other.isKind(of: shape) : other === shape
    }

    private func allObjects(_ changed: [Changed]) throws -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        for link in links {
            found += try execute(link, [], keepsWindow: false).compactMap { $0 as? NSManagedObject }
        }
        // The other stores have laid the changes over theirs already.
        let others = try others([]).compactMap { $0 as? NSManagedObject }
        let skipped = Set(changed.map(\.object))
        found = found.filter { !skipped.contains($0) } + others
        var seen = Set(found)
        for change in changed where !change.isDeleted && (request.predicate?.evaluate(with: change.object) ?? true) {
            if seen.insert(change.object).inserted { found.append(change.object) }
        }
        if !request.returnsObjectsAsFaults { for object in found { object.realize() } }
        return found
    }

    private func dictionaries() throws -> [Any] {
        guard ownChanges().isEmpty else {
            throw DescribedError(
                .persistentStoreOperation,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "Dictionaries are made of stored values: save first, or set includesPendingChanges to false."
                ])
        }
        var found: [Any] = []
        for link in links { found += try execute(link, .dictionaryResultType, keepsWindow: false) }
        found += try others(.dictionaryResultType)
        let sorts = request.sortDescriptors ?? []
        if !sorts.isEmpty { found = NSArray(array: found).sortedArray(using: sorts) }
        return window(found)
    }

    // MARK: Ordering

    private func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        let sorts = request.sortDescriptors ?? []
        guard !sorts.isEmpty else { return objects }
        return objects.sorted { left, right in
            for sort in sorts {
                let order = sort.compare(left, to: right)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
    }

    private func window<Element>(_ results: [Element]) -> [Element] {
        let rest = results.dropFirst(max(0, request.fetchOffset))
        return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
    }
}

extension NSManagedObjectContext {
    /// A request that an incremental store has to carry out; nil when there is no such store, or more than one.
    final func executeInCustomStore(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult? {
        guard let coordinator, coordinator.hasCustomStores else { return nil }
        let stores = try coordinator.stores(named: request.affectedStores).compactMap(\.handle)
        guard stores.count == 1, let link = stores[0].custom as? IncrementalStoreLink else { return nil }
        return try link.execute(request, in: self) as? NSPersistentStoreResult
    }
}
