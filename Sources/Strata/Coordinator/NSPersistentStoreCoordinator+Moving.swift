public import Foundation
import StrataLog

extension NSPersistentStoreCoordinator {
    // MARK: Saving elsewhere

    /// Moves everything in a store to a new store, which takes the old one's place in the coordinator.
    ///
    /// The new store has a UUID of its own, so the IDs of its objects differ from those in the old one, which stays as
    /// it is on disk. Objects in contexts of the coordinator become objects of the new store; those of contexts whose
    /// queue is busy do so when it is free. The metadata of the user go along; the history begins anew.
    ///
    /// - Parameters:
    ///   - store: a store of the coordinator.
    ///   - url: where the new store is made. What is there already is replaced.
    ///   - options: of the new store.
    ///   - storeType: of the new store.
    /// - Returns: the new store.
    /// - Throws: as ``addPersistentStore(ofType:configurationName:at:options:)``, and the old store's error when it
    ///   cannot be read. The old store is still there then.
    /// - Complexity: O(n) in the store's objects.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        guard let handle = store.handle, persistentStores.contains(where: { $0 === store }) else {
            throw CocoaError(
                .persistentStoreOperation,
                userInfo: [NSLocalizedDescriptionKey: "The store is not one of the coordinator's."])
        }
        return try StoreMigration(self, store, handle).run(to: url, options: options, type: storeType)
    }

    /// As ``migratePersistentStore(_:to:options:withType:)``, in the new spelling.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Says where a store is from now on.
    ///
    /// A log store is closed, and the one at the URL, which must exist and be of the same model, is opened in its
    /// place. An atomic store is written to the URL by its next save. Objects that contexts have in memory stay those
    /// of the store that they were read from.
    ///
    /// - Returns: whether it could be done; the store is as before if not.
    @discardableResult
    public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard let handle = store.handle, persistentStores.contains(where: { $0 === store }) else { return false }
        if handle.custom != nil || StoreOpening.isInMemory(store.type, store.url) {
            store.url = url
            return true
        }
        do {
            guard FileManager.default.fileExists(atPath: url.path) else { return false }
            try store.savePendingMetadata()
            let opening = try StoreOpening(
                shapes, type: store.type, configuration: store.configurationName, url: url, options: store.options)
            let new = try opening.open()
            let metadata = StoreMetadata.read(new.log, type: store.type)
            let old = store.exchange(new, url: url, metadata: metadata)
            noteStoresChanged()
            try old?.close()
            return true
        } catch {
            return store.url == url
        }
    }

    // MARK: Deferred migration

    /// Does all work that lightweight migrations have put off. Strata's put nothing off, so there is none left.
    public func finishDeferredLightweightMigration() throws {}

    /// Does the next piece of work that lightweight migrations have put off. Strata's put nothing off.
    public func finishDeferredLightweightMigrationTask() throws {}

    // MARK: Replacing and destroying

    /// Puts a copy of the store at one URL in the place of the one at another, as it was at some moment during the call.
    ///
    /// The copy has the UUID of its source, so object IDs stay valid. A store of this coordinator at `destinationURL`
    /// is removed from it first; add it again afterwards. The source may be open, also in another process.
    ///
    /// Atomic: after a crash the store at `destinationURL` is the old or the new one, whole. Durable when it returns.
    ///
    /// - Parameters:
    ///   - destinationURL: what is there is given up; it need not exist.
    ///   - destinationOptions: as for opening the store; the timeout counts, or else that of the source's options.
    ///   - sourceURL: a store of the same type.
    ///   - sourceOptions: as for opening the source. No option changes what is copied.
    /// - Throws: `CocoaError` 260 when there is no source, 259 when it cannot be read, 134080 when the destination is in
    ///   use, 134000 for stores in memory. The destination is as before then.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        var options = destinationOptions ?? [:]
        options[NSPersistentStoreTimeoutOption] =
            options[NSPersistentStoreTimeoutOption] ?? sourceOptions?[NSPersistentStoreTimeoutOption]
        let custom = try StoreClasses.customClass(storeType)
        guard destinationURL.standardizedFileURL != sourceURL.standardizedFileURL else { return }
        if custom == nil {
            let opening = try StoreOpening(
                shapes, type: storeType, configuration: nil, url: destinationURL, options: options)
            if let store = persistentStore(for: destinationURL) { try remove(store) }
            try opening.replace(with: sourceURL)
        } else {
            if let store = persistentStore(for: destinationURL) { try remove(store) }
            try StoreFile.copy(sourceURL, to: destinationURL)
        }
    }

    /// As ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)``, in the new
    /// spelling.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: sourceType.rawValue)
    }

    /// Deletes a store and everything in it. Nothing happens when there is none.
    ///
    /// A store of this coordinator is removed from it first.
    ///
    /// - Warning: The data is gone when this returns.
    /// - Throws: `CocoaError` 134000 for an unknown type, 134080 when another coordinator or process has the store, 259
    ///   when what is there is no store or is damaged; the option ``NSPersistentStoreForceDestroyOption`` removes a
    ///   damaged store, too.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws
    {
        let custom = try StoreClasses.customClass(storeType)
        if let store = persistentStore(for: url) { try remove(store) }
        if custom == nil {
            try StoreOpening(shapes, type: storeType, configuration: nil, url: url, options: options).destroy()
        } else {
            try StoreFile.remove(url)
        }
    }

    /// As ``destroyPersistentStore(at:ofType:options:)``, in the new spelling.
    public func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
    }
}
