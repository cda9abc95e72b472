import Foundation

// Which of the coordinator's stores something is about. Stores are told by themselves, never by their identity: another
// coordinator may have the same one open.
extension NSPersistentStoreCoordinator {
    /// - Throws: `CocoaError` 134070 when the store is none of the coordinator's.
    func handle(ofOwn store: NSPersistentStore) throws -> StoreHandle {
        guard let handle = store.handle, persistentStores.contains(where: { $0 === store }) else {
            throw StoreFailure.foreignStore(store)
        }
        return handle
    }

    /// The stores that a request is about: those it names, or all.
    ///
    /// - Throws: `CocoaError` 134070 when the request names a store of another coordinator, or one that was removed.
    func stores(named: [NSPersistentStore]?) throws -> [NSPersistentStore] {
        let own = persistentStores
        guard let named else { return own }
        if let foreign = named.first(where: { store in !own.contains { $0 === store } }) {
            throw StoreFailure.foreignStore(foreign)
        }
        return own.filter { store in named.contains { $0 === store } }
    }

    /// The stores that a request is about and that hold objects of some entities.
    ///
    /// - Throws: as ``stores(named:)``; `CocoaError` 134070 when the coordinator has no store that holds any, none
    ///   having been added or one having been removed.
    func handles(of family: [EntityShape], named: [NSPersistentStore]?) throws -> [StoreHandle] {
        func holds(_ handle: StoreHandle) -> Bool { family.contains { handle.map.serves($0) } }
        let handles = try stores(named: named).compactMap(\.handle).filter(holds)
        if !handles.isEmpty { return handles }
        // A request may name none of several stores, and configurations may leave an entity out: then nothing is found.
        let own = persistentStores
        if own.isEmpty || !removedPaths.isEmpty, !own.contains(where: { $0.handle.map(holds) ?? false }) {
            throw noStore(holding: family.first)
        }
        return []
    }

    func noStore(holding shape: EntityShape?) -> any Error {
        let removed = removedPaths
        let why =
            removed.isEmpty
            ? "none has been added" : "removed have been: \(removed.joined(separator: ", "))"
        let what = shape.map { "store with objects of the entity \($0.name)" } ?? "store"
        return DescribedError(
            .persistentStoreOperation,
            userInfo: [NSLocalizedDescriptionKey: "The coordinator has no \(what): \(why)."])
    }
}
