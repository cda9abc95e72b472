import CoreData
import Foundation

/// A copy of a kept store in a directory of its own, which goes with the object.
final class WrittenStoreCopy {
    let url: URL
    private let directory: URL
    private let version: Int
    private let files = FileManager.default

    init(_ folder: URL, version: Int, withCheckpoints: Bool = true) throws {
        self.version = version
        directory = files.temporaryDirectory.appendingPathComponent("strata-written-\(UUID().uuidString)")
        url = directory.appendingPathComponent("store")
        try files.createDirectory(at: url, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: folder.path)
        where withCheckpoints || !name.hasSuffix(".chk") {
            try files.copyItem(at: folder.appendingPathComponent(name), to: url.appendingPathComponent(name))
        }
    }

    deinit { try? files.removeItem(at: directory) }

    /// Opens the store, with the model of its version unless another is given, hands a context out, and closes it.
    func with(
        model: Int? = nil, readOnly: Bool = false, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: WrittenStore.model(model ?? version))
        var options: [AnyHashable: Any] = model == nil ? [:] : MigratedStore.automatic
        options[NSReadOnlyPersistentStoreOption] = readOnly
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let result = context.performAndWait { Result { try body(context) } }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
        try result.get()
    }

    /// Every file beside and in the store's directory.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try files.subpathsOfDirectory(atPath: directory.path) {
            let file = directory.appendingPathComponent(name)
            contents[name] = file.hasDirectoryPath ? Data() : try? Data(contentsOf: file)
        }
        return contents
    }
}
