public import Foundation
import StrataLog

extension NSPersistentStoreCoordinator {
    // MARK: Saving elsewhere

    func moveStore(
        _ store: NSPersistentStore, to url: URL, _ options: [AnyHashable: Any]?, _ storeType: String
    ) throws -> NSPersistentStore {
        guard let handle = store.handle, persistentStores.contains(where: { $0 === store }) else {
            throw DescribedError(
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

    func changeURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard let handle = store.handle, persistentStores.contains(where: { $0 === store }) else { return false }
        if handle.custom != nil || StoreOpening.isInMemory(store.type, store.url) {
            store.url = url
            return true
        }
        do {
            guard FileManager.default.fileExists(atPath: url.path) else { return false }
            if handle.log.isAtItsPath {
                try store.savePendingMetadata()
            } else {
                // It was moved, and is open alone: it is closed where it was, and opened where it is.
                guard SharedLogs.useCount(handle.log) <= 1 else { return false }
                try handle.close()
            }
            let opening = try StoreOpening(
                shapes, type: store.type, configuration: store.configurationName, url: url, options: store.options)
            let new = try opening.open()
            let metadata = StoreMetadata.read(new.log, type: store.type)
            let old = store.exchange(new, url: url, metadata: metadata)
            recordStoresChanged()
            try old?.close()
            return true
        } catch {
            return store.url == url
        }
    }

    // MARK: Deferred migration

    /// Does all work that lightweight migrations have put off. Strata's need none: rows are read as the newer model has
    /// them, and written so when compaction comes to them.
    public func finishDeferredLightweightMigration() throws {}

    /// Does the next piece of work that lightweight migrations have put off; see
    /// ``finishDeferredLightweightMigration()``.
    public func finishDeferredLightweightMigrationTask() throws {}

    // MARK: Replacing and destroying

    func replaceStore(
        at destinationURL: URL, _ destinationOptions: [AnyHashable: Any]?, with sourceURL: URL,
        _ sourceOptions: [AnyHashable: Any]?, _ storeType: String
    ) throws {
        var options = destinationOptions ?? [:]
        options[NSPersistentStoreTimeoutOption] =
            options[NSPersistentStoreTimeoutOption] ?? sourceOptions?[NSPersistentStoreTimeoutOption]
        let custom = try StoreClasses.customClass(storeType)
        guard StoreLocation(destinationURL) != StoreLocation(sourceURL) else { return }
        if let custom {
            try checkCanBeReplaced(destinationURL, by: custom)
            if let store = persistentStore(for: destinationURL) { try remove(store) }
            try StoreFile.copy(sourceURL, to: destinationURL)
        } else {
            let opening = try StoreOpening(
                shapes, type: storeType, configuration: nil, url: destinationURL, options: options)
            try opening.replace(with: sourceURL) { try removeEverywhere($0, at: destinationURL) }
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

    func destroyStore(at url: URL, _ storeType: String, _ options: [AnyHashable: Any]?) throws {
        if let custom = try StoreClasses.customClass(storeType) {
            // What stands for no file at all is nothing to be destroyed.
            guard !url.isNullDevice else { return }
            try checkCanBeReplaced(url, by: custom)
            if let store = persistentStore(for: url) { try remove(store) }
            try StoreFile.remove(url, isOwn: StoreFile.own(custom)) { contents in
                try (custom as? PropertyListStore.Type)?.check(contents, at: url)
            }
        } else {
            let opening = try StoreOpening(shapes, type: storeType, configuration: nil, url: url, options: options)
            try opening.destroy { try removeEverywhere($0, at: url) }
        }
    }

    /// Removes a store that is to be replaced or destroyed from all coordinators of this process.
    ///
    /// - Parameter log: the log that they share; nil when this process does not write the store.
    private func removeEverywhere(_ log: LogStore?, at url: URL) throws {
        if let store = persistentStore(for: url) { try removeAnyhow(store) }
        guard let log else { return }
        for store in StoreIdentity.named(StoreLineage(log).uuid).stores where store.handle?.log === log {
            try store.persistentStoreCoordinator?.removeAnyhow(store)
        }
    }

    /// Metadata that cannot be written keeps no store open that is to go.
    private func removeAnyhow(_ store: NSPersistentStore) throws {
        do {
            try remove(store)
        } catch {
            // Somebody else may have removed it meanwhile.
            guard persistentStores.contains(where: { $0 === store }) else { return }
            store.forgetMetadataChange()
            try remove(store)
        }
    }

    /// A file of the property-list stores must be one of theirs. What other classes keep at their URLs they know
    /// themselves.
    private func checkCanBeReplaced(_ url: URL, by custom: NSPersistentStore.Type) throws {
        guard let type = custom as? PropertyListStore.Type, url.isFileURL, try StoreFile.exists(url) else { return }
        _ = try type.metadataForPersistentStore(with: url)
    }

    /// As ``destroyPersistentStore(at:ofType:options:)``, in the new spelling.
    public func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
    }
}
