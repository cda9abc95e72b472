import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// The source or the destination of a migration: a store with a coordinator and a context of its own.
final class MigrationEnd {
    struct Address {
        var url: URL
        var type: String
        var options: [AnyHashable: Any]?
        var configuration: String?
        /// Entries of the program's own that the store is to have.
        var metadata: [String: Any]?

        var fileSystem: any FileSystem { StoreHost.of(options).fileSystem }

        /// Whether it is a directory that holds a log.
        private var isLog: Bool {
            get throws { try StoreClasses.customClass(type) == nil && !StoreOpening.isInMemory(type, url) }
        }

        /// Whether a store can be made here. An empty directory is none.
        var isFree: Bool {
            get throws {
                let path = FilePath(url.path)
                do {
                    guard let found = try fileSystem.attributes(path) else { return true }
                    return try found.isDirectory && fileSystem.list(path).isEmpty
                } catch let error as Errno {
                    throw StoreFailure.opening(
                        StoreError(.io, "could not look at the destination", errno: error), url.path)
                }
            }
        }

        var isTaken: any Error {
            DescribedError(
                .migrationManagerDestinationStore,
                userInfo: [
                    NSLocalizedDescriptionKey: "There is something at the destination already.",
                    NSFilePathErrorKey: url.path,
                ])
        }

        /// Has a store made for this place: one with a log beside it, which takes its place when it is complete.
        func filled(_ make: (Address) throws -> Void) throws {
            guard try isLog else { return try make(self) }
            guard try isFree else { throw isTaken }
            do {
                try StoreDirectory(FilePath(url.path), fileSystem).replace { path in
                    var address = self
                    // Nobody sees the store before it is complete, and closing it flushes it.
                    address.options = (address.options ?? [:]).merging([StrataDurabilityOption: "os"]) { $1 }
                    address.url = URL(fileURLWithPath: path.string, isDirectory: true)
                    try make(address)
                }
                SQLiteSideFiles.make(beside: FilePath(url.path), fileSystem)
            } catch let error as StoreError {
                throw StoreFailure.opening(error, url.path)
            }
        }
    }

    let address: Address
    /// A copy whose objects have no classes of the program's: those are for the newest model only.
    let model: NSManagedObjectModel
    let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private(set) var store: NSPersistentStore?

    init(_ address: Address, _ model: NSManagedObjectModel) {
        self.address = address
        let plain = model.copy() as? NSManagedObjectModel ?? model
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        self.model = plain
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: plain)
        context = MigrationContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        context.skipsValidation = true
    }

    func open(_ code: CocoaError.Code) throws {
        do {
            store = try coordinator.addPersistentStore(
                ofType: address.type, configurationName: address.configuration, at: address.url,
                options: address.options)
            if let metadata = address.metadata { store?.metadata = metadata }
        } catch {
            throw DescribedError(
                code,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The store at \(address.url.path) cannot be opened for the migration: \(error)",
                    NSUnderlyingErrorKey: error, NSFilePathErrorKey: address.url.path,
                ])
        }
    }

    func close() throws {
        context.performAndWait { context.reset() }
        guard let store else { return }
        self.store = nil
        let saving = Result { try store.savePendingMetadata() }
        try coordinator.remove(store)
        try saving.get()
    }

    /// Removes the store, with its directory if nothing else is in it.
    func remove() {
        try? NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(
            at: address.url, ofType: address.type, options: address.options)
        if (try? address.isFree) == true { try? address.fileSystem.removeDirectory(FilePath(address.url.path)) }
    }

    /// The objects of an entity that a request asks for.
    func refs(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [ObjectRef] {
        guard let handle = store?.handle else { return [] }
        if handle.custom != nil {
            // Stores of the program's own have no rows before they are asked.
            return try context.fetch(request).compactMap { ($0 as? NSManagedObject)?.ref }
        }
        return try BatchRows(request, handle, in: context, nil).refs
    }

    /// Nil for an object that a policy has deleted.
    func object(_ ref: ObjectRef) -> NSManagedObject? {
        guard let handle = store?.handle, let shape = handle.map.shape(ref.entity) else { return nil }
        if handle.custom == nil, (try? handle.log.snapshot.locate(ref))?.isAbsent == true { return nil }
        let object = context.object(with: NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape))
        return object.isMarkedDeleted ? nil : object
    }
}
