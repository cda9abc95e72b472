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

    init(_ place: StorePlace, _ model: NSManagedObjectModel) throws {
        self.place = place
        self.model = model
        url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-random-\(UUID().uuidString)")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try addStore(coordinator)
    }

    deinit {
        try? close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }

    private func close() throws {
        for coordinator in [coordinator, second].compactMap(\.self) {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        second = nil
    }

    private func addStore(_ coordinator: NSPersistentStoreCoordinator) throws {
        try coordinator.addPersistentStore(
            ofType: place == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: place == .memory ? nil : url,
            options: [
                StrataDurabilityOption: "os", NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
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
        try addStore(coordinator)
    }
}
