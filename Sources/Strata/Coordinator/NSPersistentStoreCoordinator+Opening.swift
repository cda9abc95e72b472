public import Foundation
import StrataLog
import StrataSupport
import SystemPackage

extension NSPersistentStoreCoordinator {
    func openStore(
        _ storeType: String, _ configuration: String?, _ storeURL: URL?, _ options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        try checkIsNew(storeURL, storeType)
        try shapes.checkDerivations()
        let customType = try StoreClasses.customClass(storeType)
        if let stages = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager,
            let storeURL, !StoreOpening.isInMemory(storeType, storeURL),
            customType.map({ $0 is NSAtomicStore.Type && StoreFile.isFile(storeURL) }) ?? true
        {
            try StagedMigration(stages, storeURL, storeType, configuration, options, managedObjectModel).run()
        }
        if let customType {
            return try addCustomStore(customType, storeType, configuration, storeURL, options)
        }
        let opening = try StoreOpening(
            shapes, type: storeType, configuration: configuration, url: storeURL, options: options)
        let policy = try HistoryRetention.option(options)
        let handle = try opening.open()
        do {
            try checkIsOnly(handle)
            try prepare(handle, policy, options)
        } catch {
            try? handle.close()
            throw (error as? StoreError).map { StoreFailure.opening($0, handle.path) } ?? error
        }
        let store = NSPersistentStore(
            coordinator: self, type: storeType, configuration: configuration, url: storeURL, options: options,
            handle: handle, metadata: StoreMetadata.read(handle.log, type: storeType))
        add(store)
        if store.postsRemoteChanges { handle.startFollowing() }
        return store
    }

    /// What is done with a store that was opened before anybody sees it.
    private func prepare(
        _ handle: StoreHandle, _ policy: HistoryRetention?, _ options: [AnyHashable: Any]?
    ) throws {
        try HistoryState.recordWriter(handle)
        if let policy {
            handle.retention = RetentionKeeper(policy)
            try handle.retention?.apply(handle)
        }
        // A store that has no room for it, or a damaged segment, is as good as without: it has to open, so that objects
        // can be deleted and what is readable can be saved.
        if !handle.isReadOnly, StoreOptions.flag(options, NSSQLiteManualVacuumOption) {
            _ = try? handle.log.compact()
        }
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

    func openStore(
        _ description: NSPersistentStoreDescription,
        _ block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let isAsynchronous = description.shouldAddStoreAsynchronously
        let work = UncheckedBox { [self] in
            let outcome = Result {
                try addPersistentStore(
                    ofType: description.type, configurationName: description.configuration, at: description.url,
                    options: description.options)
            }
            // Before the block, which may wait for whoever closes the stores.
            if isAsynchronous { opening.leave() }
            switch outcome {
            case .success: block(description, nil)
            case .failure(let error): block(description, error)
            }
        }
        if isAsynchronous {
            opening.enter()
            DispatchQueue.global().async { work.value() }
        } else {
            work.value()
        }
    }

    private func checkIsNew(_ url: URL?, _ type: String) throws {
        guard let url, !StoreOpening.isInMemory(type, url), !url.isNullDevice, persistentStore(for: url) != nil
        else { return }
        throw DescribedError(
            CocoaError.Code(rawValue: Self.sameStoreTwice),
            userInfo: [
                NSLocalizedDescriptionKey: "Can't add the same store twice.", NSFilePathErrorKey: url.path,
            ])
    }

    /// Object IDs name a store by its UUID: two stores of one UUID, such as a store and its copy, could not be told
    /// apart.
    private func checkIsOnly(_ handle: StoreHandle) throws {
        guard let other = persistentStores.first(where: { $0.handle?.identity === handle.identity }) else { return }
        throw DescribedError(
            CocoaError.Code(rawValue: Self.sameStoreTwice),
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The coordinator has a store of the same UUID, \(handle.identity.uuidString), at "
                    + "\(other.url?.path ?? "no URL"). Add the copy to a coordinator of its own.",
                NSFilePathErrorKey: handle.path,
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
        func made() throws -> (store: NSPersistentStore, metadata: [String: Any], isCompatible: Bool) {
            let store = type.made(
                self, configuration: configuration, url: url ?? URL(fileURLWithPath: "/dev/null"), options: options)
            try store.loadMetadata()
            let metadata: [String: Any] = store.metadata ?? [:]
            let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
            let isCompatible =
                try hashes.isEmpty || StoreOptions.flag(options, NSIgnorePersistentStoreVersioningOption)
                || managedObjectModel.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
                || hasHashesWithoutConstraints(type, url, configuration, hashes)
            return (store, metadata, isCompatible)
        }
        var (store, loaded, isCompatible) = try made()
        if !isCompatible {
            try AtomicStoreMigration(
                type: type, typeName: name, url: url, configuration: configuration, options: options,
                model: managedObjectModel
            ).run(loaded)
            (store, loaded, isCompatible) = try made()
            guard isCompatible else { throw StoreOpening.incompatible(loaded, path: url?.path ?? "") }
        }
        if let found = loaded[NSStoreTypeKey] as? String, found != name {
            throw DescribedError(
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
        try checkIsOnly(handle)
        let hashes = try StoredModel(bytes: handle.log.schema.model).versionHashes
        var metadata = StoreMetadata.ofModel(
            hashes: hashes, identifiers: managedObjectModel.versionIdentifiers.map { "\($0.base)" }.sorted())
        (metadata[NSStoreTypeKey], metadata[NSStoreUUIDKey]) = (name, uuid)
        store.setSystemMetadata(metadata)
        store.forgetMetadataChange()
        store.attach(handle, type: name, to: self)
        recordCustomStore()
        do {
            try (link as? AtomicStoreLink)?.load(self)
        } catch {
            try store.detach()?.close()
            throw error
        }
        add(store)
        return store
    }

    /// Whether an earlier build of Strata wrote a file with this model, when constraints were not part of version
    /// hashes. Stores without rows know nothing of what is unique.
    private func hasHashesWithoutConstraints(
        _ type: NSPersistentStore.Type, _ url: URL?, _ configuration: String?, _ hashes: [String: Data]
    ) throws -> Bool {
        guard let type = type as? PropertyListStore.Type, let url, StoreFile.isFile(url) else { return false }
        let held = try StoreOpening.entities(shapes, configuration)
        guard Set(hashes.keys) == held,
            hashes.allSatisfy({ shapes.byName[$0]?.entity.computeVersionHash(withConstraints: false) == $1 })
        else { return false }
        // The first files did not carry their model.
        guard let bytes = try type.modelBytes(at: url) else { return true }
        return (try? StoredModel(bytes: bytes)).map { $0.hashForm == nil } ?? false
    }
}
