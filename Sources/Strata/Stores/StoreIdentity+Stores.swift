extension StoreIdentity {
    /// The store most recently added under this identity that is still open.
    var store: NSPersistentStore? { stores.last }

    /// All open stores of this identity: coordinators may share one.
    var stores: [NSPersistentStore] { openStores.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
}
