public import Foundation
import StrataSupport
import Synchronization

/// Sets up what most programs need: a model, a coordinator with its stores, and a context for the main queue.
///
/// Safe to use from any thread, except for ``viewContext``, which belongs to the main queue.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.shared)
/// container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
/// var failure: (any Error)?
/// container.loadPersistentStores { _, error in failure = error }
/// if let failure { throw failure }
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Unchecked, as an open class has to be: what changes is in the mutex, and the context guards itself by its queue.

    /// The name of the container: of its model, and of its store unless told otherwise.
    open var name: String { ownName }
    /// The model.
    open var managedObjectModel: NSManagedObjectModel { model }
    /// The coordinator.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    /// The context of the main queue.
    open var viewContext: NSManagedObjectContext { mainContext }

    private let ownName: String
    private let model: NSManagedObjectModel
    private let coordinator: NSPersistentStoreCoordinator
    private let mainContext: NSManagedObjectContext
    /// Nil until they are asked for or set: finding the default directory takes longer than opening a store's files.
    private let descriptions = Mutex<UncheckedBox<[NSPersistentStoreDescription]>?>(nil)
    /// Of the stores that were added.
    private let loaded = Mutex<[UncheckedBox<NSPersistentStoreDescription>]>([])

    /// Where stores lie unless told otherwise: the program's directory in the user's application support directory.
    open class func defaultDirectoryURL() -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    /// Creates a container whose model is the file of that name (".momd" or ".mom", Strata's or Apple's) in the main
    /// bundle or, failing that, in a bundle of resources beside the program or another one that it has loaded; failing
    /// that, all models of the program, merged.
    ///
    /// - Precondition: there is a model, and it can be read.
    public convenience init(name: String) {
        let model = ModelBundles.model(named: name) ?? NSManagedObjectModel.mergedModel(from: nil)
        guard let model else {
            programmerError(
                "NSPersistentContainer(name: \"\(name)\")",
                "no bundle of the program has a model of that name that can be read",
                "Pass the model: NSPersistentContainer(name:managedObjectModel:)")
        }
        self.init(name: name, managedObjectModel: model)
    }

    /// Creates a container with one store, `name.sqlite` in ``defaultDirectoryURL()``, that has not been loaded yet.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        ownName = name
        self.model = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(.mainQueue)
        mainContext.persistentStoreCoordinator = coordinator
    }

    /// The stores that ``loadPersistentStores(completionHandler:)`` loads.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get {
            if let known = descriptions.withLock({ $0 }) { return known.value }
            let url = Swift.type(of: self).defaultDirectoryURL().appendingPathComponent("\(ownName).sqlite")
            let made = UncheckedBox([NSPersistentStoreDescription(url: url)])
            return descriptions.withLock { descriptions in
                let current = descriptions ?? made
                descriptions = current
                return current
            }.value
        }
        set {
            let box = UncheckedBox(newValue)
            descriptions.withLock { $0 = box }
        }
    }

    /// Adds the stores that it has not added yet, creating those that do not exist and the directories they lie in, and
    /// calls the block once for each, with the error that kept it from being added, if any.
    ///
    /// Returns when all have been added, except for those that are to be added asynchronously: their blocks are called
    /// on other threads, when they have been added.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions where !isLoaded(description) {
            if let failure = makeDirectory(for: description) {
                block(description, failure)
                continue
            }
            let box = UncheckedBox(description)
            persistentStoreCoordinator.addPersistentStore(with: description) { [self] description, error in
                if error == nil { loaded.withLock { $0.append(box) } }
                block(description, error)
            }
        }
    }

    /// Makes the directory that a new store lies in.
    ///
    /// - Returns: what kept it from being made, if it is not there.
    private func makeDirectory(for description: NSPersistentStoreDescription) -> (any Error)? {
        guard let url = description.url, url.isFileURL, !url.isNullDevice, !description.isReadOnly else {
            return nil
        }
        let directory = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            return nil
        } catch {
            // With a store that cannot be looked at, opening it says why.
            if FileManager.default.fileExists(atPath: directory.path) { return nil }
            let cause = error as NSError
            let reason = (cause.userInfo[NSUnderlyingErrorKey] as? NSError ?? cause).localizedDescription
            return DescribedError(
                cause.domain == NSCocoaErrorDomain ? CocoaError.Code(rawValue: cause.code) : .fileWriteUnknown,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The directory for the store cannot be made (\(directory.path)): \(reason)",
                    NSFilePathErrorKey: directory.path, NSUnderlyingErrorKey: cause,
                ])
        }
    }

    /// Whether the container has added the store and the coordinator still has it. Descriptions identify stores on
    /// disk; those of stores in memory may all be the same.
    private func isLoaded(_ description: NSPersistentStoreDescription) -> Bool {
        let url = description.url
        let isOnDisk = url.map { $0.isFileURL && !$0.isNullDevice } ?? false
        let known = loaded.withLock { $0 }
        return known.contains { $0.value === description || (isOnDisk && $0.value == description) }
            && persistentStoreCoordinator.persistentStores.contains { $0.url == url && $0.type == description.type }
    }

    /// A new context with a queue of its own. It merges what other contexts save only if
    /// `automaticallyMergesChangesFromParent` is set.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block with a new context on its queue, later.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block with a new context on its queue and suspends until it is done.
    ///
    /// ```swift
    /// let count = try await container.performBackgroundTask { context in
    ///     try context.count(for: NSFetchRequest<Author>(entityName: "Author"))
    /// }
    /// ```
    ///
    /// - Throws: what the block throws, and `CancellationError`, as for
    ///   ``NSManagedObjectContext/perform(schedule:_:)``.
    public final func performBackgroundTask<T, Failure: Error>(
        _ block: @escaping (NSManagedObjectContext) throws(Failure) -> T
    ) async throws(Failure) -> T {
        let context = newBackgroundContext()
        return try await context.perform { () throws(Failure) -> T in try block(context) }
    }
}
