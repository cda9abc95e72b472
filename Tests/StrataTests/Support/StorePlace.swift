import CoreData
import Foundation

/// Where a store is kept: each is saved to in a way of its own.
enum StorePlace: String, CaseIterable, Sendable {
    case log, memory, file

    /// A coordinator with a new store; one in memory leaves the URL alone.
    func coordinator(_ model: NSManagedObjectModel, at url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let type =
            switch self {
            case .log: NSSQLiteStoreType
            case .memory: NSInMemoryStoreType
            case .file: NSBinaryStoreType
            }
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: self == .memory ? nil : url,
            options: self == .log ? [StrataDurabilityOption: "os"] : nil)
        return coordinator
    }
}
