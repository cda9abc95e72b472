import CoreData
import Foundation

/// Opens and closes the store that holds the graph.
struct GraphStore {
    /// A store that could not be opened.
    struct OpenError: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path): the store cannot be opened: \(reason)" }
    }

    let container: NSPersistentContainer

    /// Opens the store at the URL, creating it when there is none. History is kept.
    init(at url: URL) throws {
        container = NSPersistentContainer(name: "PackageGraph", managedObjectModel: PackageGraphModel.shared)
        let description = NSPersistentStoreDescription(url: url)
        description.shouldAddStoreAsynchronously = false
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw OpenError(path: url.path, reason: failure.localizedDescription) }
    }

    /// Closes the store, so that another container or process can open it.
    func close() throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
