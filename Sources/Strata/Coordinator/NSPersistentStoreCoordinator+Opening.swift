public import Foundation
import StrataIO
import StrataLog
import SystemPackage

extension NSPersistentStoreCoordinator {
    /// Opens a store, creating it if nothing is there, and adds it.
    ///
    /// - Parameters:
    ///   - storeType: ``NSSQLiteStoreType``, which names the log store here, or ``NSInMemoryStoreType``.
    ///   - configuration: the part of the model that the store holds; nil for all entities.
    ///   - storeURL: the directory of the store; /dev/null, too, makes a store in memory.
    /// - Throws: `CocoaError` 134000 for another type, 134080 when the store cannot be opened (the engine's error is
    ///   the
    ///   underlying one), 134100 when it was written with another model.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let opening = try StoreOpening(
            shapes, type: storeType, configuration: configuration, url: storeURL, options: options)
        let handle = try opening.open()
        try HistoryFacts.noteWriter(handle)
        let store = NSPersistentStore(
            coordinator: self, type: storeType, configuration: configuration, url: storeURL, options: options,
            handle: handle, metadata: StoreMetadata.read(handle.log, type: storeType))
        add(store)
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
    public func addPersistentStore(
        with description: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = UncheckedBox { [self] in
            do {
                try addPersistentStore(
                    ofType: description.type, configurationName: description.configuration, at: description.url,
                    options: description.options)
                block(description, nil)
            } catch {
                block(description, error)
            }
        }
        if description.shouldAddStoreAsynchronously {
            DispatchQueue.global().async { work.value() }
        } else {
            work.value()
        }
    }

    /// Deletes a store's directory and everything in it. Nothing happens when there is none.
    ///
    /// - Warning: The data is gone when this returns.
    /// - Throws: `CocoaError` 134080 when what is there is not a store or is in use; the option
    ///   ``NSPersistentStoreForceDestroyOption`` removes a damaged store, too.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        let opening = try StoreOpening(shapes, type: storeType, configuration: nil, url: url, options: options)
        try opening.destroy()
    }

    /// As ``destroyPersistentStore(at:ofType:options:)``, in the new spelling.
    public func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
    }

    /// The metadata of a store that no coordinator need have opened.
    ///
    /// - Throws: `CocoaError` 134080 when there is no store.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        let log = try StoreOpening.openExisting(url, readOnly: true)
        defer { try? log.close() }
        return StoreMetadata.read(log, type: storeType)
    }

    /// As ``metadataForPersistentStore(ofType:at:options:)``, in the new spelling.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// Sets the metadata of a store that nobody has opened. Durable when it returns.
    ///
    /// - Throws: `CocoaError` 134080 when there is no store or it is in use.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let log = try StoreOpening.openExisting(url, readOnly: false)
        do {
            try StoreMetadata.write(metadata ?? [:], to: log)
            try log.close()
        } catch let error as StoreError {
            throw StoreFailure.opening(error, url.path)
        }
    }
}
