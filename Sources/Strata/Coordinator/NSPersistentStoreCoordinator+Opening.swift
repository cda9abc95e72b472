public import Foundation
import StrataIO
import StrataLog
import SystemPackage

extension NSPersistentStoreCoordinator {
    /// Opens a store, creating it if nothing is there, and adds it.
    ///
    /// - Parameters:
    ///   - storeType: ``NSSQLiteStoreType``, which names the log store here, ``NSInMemoryStoreType``,
    ///     ``NSBinaryStoreType``, ``NSXMLStoreType``, or a type that a class has been registered for.
    ///   - configuration: the part of the model that the store holds; nil for all entities.
    ///   - storeURL: the directory (or file) of the store; /dev/null, too, makes a store in memory.
    /// - Throws: `CocoaError` 134000 for an unknown type; 134080 for an unknown configuration, and when another process
    ///   has the store; 134081 when the coordinator has a store at the URL already; 134090 when another process still
    ///   has it after ``NSPersistentStoreTimeoutOption`` seconds; 134100 with its metadata when the store was written
    ///   with another model; 259 when what is there is no store or is damaged; 260 when a store to be opened read-only
    ///   is not there; 512 when it cannot be made.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try checkIsNew(storeURL, storeType)
        if let type = try StoreClasses.customClass(storeType) {
            return try addCustomStore(type, storeType, configuration, storeURL, options)
        }
        let opening = try StoreOpening(
            shapes, type: storeType, configuration: configuration, url: storeURL, options: options)
        let policy = try HistoryRetention.option(options)
        let handle = try opening.open()
        try HistoryFacts.noteWriter(handle)
        if let policy {
            handle.retention = RetentionKeeper(policy)
            do {
                try handle.retention?.apply(handle)
            } catch {
                try? handle.close()
                throw (error as? StoreError).map { StoreFailure.opening($0, handle.path) } ?? error
            }
        }
        let store = NSPersistentStore(
            coordinator: self, type: storeType, configuration: configuration, url: storeURL, options: options,
            handle: handle, metadata: StoreMetadata.read(handle.log, type: storeType))
        add(store)
        if store.postsRemoteChanges { handle.startFollowing() }
        return store
    }

    /// As ``addPersistentStore(ofType:configurationName:at:options:)``, in the new spelling.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds a store by its description, on a thread of its own if that says so, and calls the block with the outcome.
    ///
    /// A block for a store that is added asynchronously is called on that thread.
    public func addPersistentStore(
        with description: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = UncheckedBox { [self] in
            do {
                try addPersistentStore(
                    ofType: description.type, configurationName: description.configuration, at: description.url,
                    options: description.options)
            } catch {
                return block(description, error)
            }
            block(description, nil)
        }
        if description.shouldAddStoreAsynchronously {
            DispatchQueue.global().async { work.value() }
        } else {
            work.value()
        }
    }

    private func checkIsNew(_ url: URL?, _ type: String) throws {
        guard let url, !StoreOpening.isInMemory(type, url), url.path != "/dev/null", persistentStore(for: url) != nil
        else { return }
        throw CocoaError(
            CocoaError.Code(rawValue: Self.sameStoreTwice),
            userInfo: [
                NSLocalizedDescriptionKey: "Can't add the same store twice.", NSFilePathErrorKey: url.path,
            ])
    }

    /// A code of Core Data's that has no name.
    private static var sameStoreTwice: Int { 134_081 }

    // MARK: Custom stores

    /// Opens a store of a class of the user's: metadata first, then what an atomic store holds.
    private func addCustomStore(
        _ type: NSPersistentStore.Type, _ name: String, _ configuration: String?, _ url: URL?,
        _ options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        let store = type.init(
            _made: self, configuration: configuration, url: url ?? URL(fileURLWithPath: "/dev/null"), options: options)
        try store.loadMetadata()
        let loaded: [String: Any] = store.metadata ?? [:]
        if let hashes = loaded[NSStoreModelVersionHashesKey] as? [String: Data], !hashes.isEmpty,
            !StoreOptions.flag(options, NSIgnorePersistentStoreVersioningOption),
            !managedObjectModel.isConfiguration(withName: configuration, compatibleWithStoreMetadata: loaded)
        {
            throw StoreOpening.incompatible(loaded, path: url?.path ?? "")
        }
        if let found = loaded[NSStoreTypeKey] as? String, found != name {
            throw CocoaError(
                .persistentStoreTypeMismatch,
                userInfo: [
                    NSLocalizedDescriptionKey: "The store is of the type \(found), not \(name).",
                    NSFilePathErrorKey: url?.path ?? "",
                ])
        }
        let uuid = loaded[NSStoreUUIDKey] as? String ?? UUID().uuidString
        let link: CustomStore
        switch store {
        case let store as NSAtomicStore: link = AtomicStoreLink(store)
        case let store as NSIncrementalStore: link = IncrementalStoreLink(store)
        default: throw StoreOpening.unknownType(name)
        }
        let handle = try link.makeHandle(shapes, store, StoreIdentity.named(uuid))
        store.setSystemMetadata([
            NSStoreTypeKey: name, NSStoreUUIDKey: uuid,
            NSStoreModelVersionHashesKey: try StoredModel(bytes: handle.log.schema.model).versionHashes,
            NSStoreModelVersionIdentifiersKey: managedObjectModel.versionIdentifiers.map { "\($0.base)" }.sorted(),
        ])
        store.forgetMetadataChange()
        store.attach(handle, type: name, to: self)
        noteCustomStore()
        do {
            try (link as? AtomicStoreLink)?.load(self)
        } catch {
            try store.detach()?.close()
            throw error
        }
        add(store)
        return store
    }
}
