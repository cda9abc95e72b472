import CoreData

/// Where a program's objects lie.
enum StorePlace: String, CaseIterable, Codable, Sendable {
    case log
    case memory
}

/// A store for one run of a program, gone when the run is.
final class RunStore {
    let place: StorePlace
    private var model: NSManagedObjectModel
    private let url: URL
    private(set) var coordinator: NSPersistentStoreCoordinator
    private var second: NSPersistentStoreCoordinator?
    private let hasFollower: Bool
    /// Reads the store with a log of its own.
    private(set) var follower: NSManagedObjectContext?

    init(_ place: StorePlace, _ model: NSManagedObjectModel, hasFollower: Bool) throws {
        self.place = place
        self.hasFollower = hasFollower
        self.model = model
        url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-random-\(UUID().uuidString)")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try open()
    }

    /// Who follows opens the store before it is opened to be written, and so shares nothing with the writer.
    private func open() throws {
        try addStore(coordinator)
        guard hasFollower else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let reader = NSPersistentStoreCoordinator(managedObjectModel: model)
        try addStore(reader, isReader: true)
        follower = NSManagedObjectContext(.privateQueue)
        follower?.persistentStoreCoordinator = reader
        try addStore(coordinator)
    }

    deinit {
        try? close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }

    private func close() throws {
        for coordinator in [coordinator, second, follower?.persistentStoreCoordinator].compactMap(\.self) {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        (second, follower) = (nil, nil)
    }

    private func addStore(_ coordinator: NSPersistentStoreCoordinator, isReader: Bool = false) throws {
        try coordinator.addPersistentStore(
            ofType: place == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: place == .memory ? nil : url,
            options: [
                StrataDurabilityOption: "os", NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true, NSReadOnlyPersistentStoreOption: isReader,
            ])
    }

    /// - Parameter isElsewhere: whether on another coordinator than most.
    func newContext(isElsewhere: Bool = false) throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = isElsewhere ? try otherCoordinator() : coordinator
        return context
    }

    private func otherCoordinator() throws -> NSPersistentStoreCoordinator {
        if let second { return second }
        let made = NSPersistentStoreCoordinator(managedObjectModel: model)
        second = made
        try addStore(made)
        return made
    }

    /// Closes the store and opens it again, with another model if there is one; one in memory stays.
    func reopen(_ model: NSManagedObjectModel? = nil) throws {
        guard place == .log else { return }
        try close()
        if let model { self.model = model }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.model)
        try open()
    }

    /// An object in a context of any of the coordinators.
    func known(_ id: NSManagedObjectID, in context: NSManagedObjectContext) -> NSManagedObject? {
        guard let coordinator = context.persistentStoreCoordinator, coordinator !== self.coordinator else {
            return context.object(with: id)
        }
        return coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()).map(context.object(with:))
    }
}
