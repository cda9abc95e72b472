import Foundation

// What the object graph knows of an open store, and rows do not.
extension StoreHandle {
    /// Where the rows come from and go to when that is a class of the user's; nil for a log store.
    var custom: CustomStore? { customStore.map { unsafeDowncast($0, to: CustomStore.self) } }

    /// The store's own among those that coordinators of this process have open under its identity.
    var store: NSPersistentStore? { openStore.map { unsafeDowncast($0, to: NSPersistentStore.self) } }

    /// Where the history of a token stands in this store: also of a token from before it was copied, as far as both
    /// have it. Nil for a token of other stores.
    func sequence(of token: NSPersistentHistoryToken) -> UInt64? {
        if let sequence = token.sequences[identity.uuidString] { return sequence }
        for ancestor in ancestors.reversed() {
            guard let sequence = token.sequences[ancestor.uuid] else { continue }
            // What came later there never was here: a number that no history has.
            return sequence <= ancestor.sequence ? sequence : .max
        }
        return nil
    }
}

extension StoreHandle {
    /// Tells the coordinators that use the log that it has grown.
    ///
    /// - Parameter told: a coordinator whose followers have been told.
    func tellFollowers(_ sequence: UInt64, besides told: NSPersistentStoreCoordinator?) {
        for store in identity.stores where store.handle?.log === log { store.tellGrowth(to: sequence, besides: told) }
    }
}

extension StoreFailure {
    /// A request names a store of another coordinator, or one that has been removed.
    static func foreignStore(_ store: NSPersistentStore) -> any Error {
        DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(store) is not one of the coordinator's stores. Use one of its persistentStores.",
                NSAffectedStoresErrorKey: [store],
            ])
    }
}
