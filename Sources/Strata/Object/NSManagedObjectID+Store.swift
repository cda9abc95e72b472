extension NSManagedObjectID {
    /// The store that holds the object; nil for a temporary ID and when the store has been removed.
    ///
    /// An ID names an object, whichever coordinator it came from. Where several coordinators of the process have the
    /// store open, it is that of the context whose block is running, otherwise of the one that opened it last.
    public var persistentStore: NSPersistentStore? {
        let stores = identity?.stores ?? []
        guard stores.count > 1, let coordinator = ContextQueue.currentContext?.coordinator else { return stores.last }
        return stores.last { $0.persistentStoreCoordinator === coordinator } ?? stores.last
    }
}
