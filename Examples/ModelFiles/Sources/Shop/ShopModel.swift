import CoreData
import Foundation

public enum ShopModel {
    /// The current version of "Shop.xcdatamodeld", as the plugin compiled it into this target's bundle.
    public static let shared: NSManagedObjectModel = {
        guard let url = Bundle.module.url(forResource: "Shop", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: url)
        else { fatalError("Shop.momd is not in the bundle") }
        return model
    }()

    /// The first version.
    package static func first() throws -> NSManagedObjectModel {
        let versions = Bundle.module.url(forResource: "Shop", withExtension: "momd")
        guard let file = versions?.appendingPathComponent("Shop.mom"),
            let model = NSManagedObjectModel(contentsOf: file)
        else { throw CocoaError(.fileReadNoSuchFile) }
        return model
    }

    /// A container with the model, in memory.
    public static func container() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: shared)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }
}
