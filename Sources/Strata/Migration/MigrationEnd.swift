import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// The source or the destination of a migration: a store with a coordinator and a context of its own.
final class MigrationEnd {
    struct Place {
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
        func filled(_ make: (Place) throws -> Void) throws {
            guard try isLog else { return try make(self) }
            guard try isFree else { throw isTaken }
            do {
                try StoreDirectory(FilePath(url.path), fileSystem).replace { path in
                    var place = self
                    // Nobody sees the store before it is complete, and closing it flushes it.
                    place.options = (place.options ?? [:]).merging([StrataDurabilityOption: "os"]) { $1 }
                    place.url = URL(fileURLWithPath: path.string, isDirectory: true)
                    try make(place)
                }
            } catch let error as StoreError {
                throw StoreFailure.opening(error, url.path)
            }
        }
    }

    let place: Place
    /// A copy whose objects have no classes of the program's: those are for the newest model only.
    let model: NSManagedObjectModel
    let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private(set) var store: NSPersistentStore?

    init(_ place: Place, _ model: NSManagedObjectModel) {
        self.place = place
        let plain = model.copy() as? NSManagedObjectModel ?? model
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        self.model = plain
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: plain)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        context.skipsValidation = true
    }

    func open(_ code: CocoaError.Code) throws {
        do {
            store = try coordinator.addPersistentStore(
                ofType: place.type, configurationName: place.configuration, at: place.url, options: place.options)
            if let metadata = place.metadata { store?.metadata = metadata }
        } catch {
            throw DescribedError(
                code,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The store at \(place.url.path) cannot be opened for the migration: \(error)",
                    NSUnderlyingErrorKey: error, NSFilePathErrorKey: place.url.path,
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
            at: place.url, ofType: place.type, options: place.options)
        if (try? place.isFree) == true { try? place.fileSystem.removeDirectory(FilePath(place.url.path)) }
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
