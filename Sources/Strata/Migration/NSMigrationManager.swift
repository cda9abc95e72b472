public import Foundation
import StrataLog
import StrataSupport

/// Makes a store of one model out of a store of another, object by object, as a mapping model says.
///
/// The source is only read. Objects are made, saved and let go a few thousand at a time; what is kept of each are 16
/// bytes that say which object was made of which. Belongs to the thread that calls
/// ``migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)``;
/// ``cancelMigrationWithError(_:)``, ``migrationProgress`` and ``overallProgress`` can be used from any thread.
open class NSMigrationManager: NSObject, KeyValueCoding, PredicateFunctionTarget, @unchecked Sendable {
    // Unchecked: what other threads may use lies in the mutex or is thread-safe itself, all else belongs to one thread.

    /// The model of the source.
    open var sourceModel: NSManagedObjectModel { givenSource }
    /// The model of the destination.
    open var destinationModel: NSManagedObjectModel { givenDestination }
    private let givenSource: NSManagedObjectModel
    private let givenDestination: NSManagedObjectModel

    /// Whether a store may bring its own way to migrate. Nothing depends on it: automatic migration goes the short way
    /// by itself, and a manager always makes a new store.
    open var usesStoreSpecificMigrationManager = true

    /// What the program likes to keep with it.
    open var userInfo: [AnyHashable: Any]?

    /// How far the migration is, from 0 to 1, of 10,000 units; it can be observed by whatever shows a `Progress`.
    /// Cancelling it cancels the migration.
    public let overallProgress: Progress

    private struct Shared {
        var error: UncheckedBox<any Error>?
    }
    private let shared = AdaptiveMutex(Shared())
    private(set) var run: MigrationRun?

    /// A manager that migrates stores of one model to another.
    ///
    /// - Precondition: the models are complete.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        givenSource = sourceModel
        givenDestination = destinationModel
        overallProgress = Progress(totalUnitCount: 10_000)
        super.init()
    }

    // MARK: Running

    /// Migrates a store. The destination is durable when this returns, and does not exist when it throws. A store of
    /// Strata's own appears at its URL when it is complete: after a crash it is there whole or not at all. It is made
    /// beside it until then, so it is at another URL as long as the migration runs.
    ///
    /// - Parameters:
    ///   - sourceURL: a store of the source model. It is as before, whatever happens.
    ///   - sStoreType: its type.
    ///   - sOptions: as for opening it.
    ///   - mappings: what is done; nil for what can be inferred.
    ///   - dURL: where there is no store yet.
    ///   - dStoreType: the type of the store that is made.
    ///   - dOptions: as for opening that.
    /// - Throws: `CocoaError` 134150 when the source cannot be opened, 134160 for the destination, 134020 when the
    ///   mappings
    ///   are for other versions of the models, 134170 for a policy class that is not there, 134111 when values are not
    ///   unique that have to be, the error of a cancellation (134120 if it comes from ``overallProgress``), a
    ///   validation error, and what policies throw.
    /// - Complexity: O(n) in the objects; memory for a few thousand of them, and 16 bytes for each.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        let mapping =
            try mappings
            ?? NSMappingModel.inferredMappingModel(forSourceModel: sourceModel, destinationModel: destinationModel)
        let source = MigrationEnd.Address(url: sourceURL, type: sStoreType, options: sOptions)
        let destination = MigrationEnd.Address(url: dURL, type: dStoreType, options: dOptions)
        try destination.filled { try migrate(from: source, with: mapping, to: $0) }
    }

    /// Migrates a store to where it is written, which nobody looks at before this returns.
    final func migrate(
        from source: MigrationEnd.Address, with mapping: NSMappingModel, to destination: MigrationEnd.Address
    ) throws {
        let run = try MigrationRun(self, mapping, from: source, to: destination)
        self.run = run
        setCompletedUnits(0)
        do {
            try run.start()
            try run.close()
            setCompletedUnits(overallProgress.totalUnitCount)
        } catch {
            run.giveUp()
            throw error
        }
    }

    /// As ``migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)``, in the
    /// new spelling.
    public func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
            toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions)
    }

    /// Forgets what the last migration has left behind.
    open func reset() {
        run = nil
        shared.withLock { $0.error = nil }
        setCompletedUnits(0)
    }

    /// Ends the migration with an error, within the next few thousand objects. From any thread.
    open func cancelMigrationWithError(_ error: any Error) {
        let box = UncheckedBox(error)
        shared.withLock { $0.error = box }
    }

    /// - Throws: the error that the migration was cancelled with.
    func checkCancelled() throws {
        if let box = shared.withLock({ $0.error }) { throw box.value }
        if overallProgress.isCancelled {
            throw DescribedError(
                .migrationCancelled, userInfo: [NSLocalizedDescriptionKey: "The migration was cancelled."])
        }
    }

    /// How far the migration is, from 0 to 1.
    open var migrationProgress: Float {
        Float(overallProgress.completedUnitCount) / Float(overallProgress.totalUnitCount)
    }

    /// Called before ``migrationProgress`` or ``currentEntityMapping`` changes, on the migration's thread. A subclass
    /// overrides it to follow them; does nothing.
    open func willChangeValue(forKey key: String) {}

    /// The counterpart of ``willChangeValue(forKey:)``, called after the change.
    open func didChangeValue(forKey key: String) {}

    final func setCompletedUnits(_ count: Int64) {
        if overallProgress.completedUnitCount == count { return }
        willChangeValue(forKey: "migrationProgress")
        overallProgress.completedUnitCount = count
        didChangeValue(forKey: "migrationProgress")
    }

    // MARK: What policies ask for

    private var running: MigrationRun {
        guard let run else {
            programmerError(
                "NSMigrationManager", "it was asked for what only a migration has", "Ask while migrateStore runs")
        }
        return run
    }

    /// What the migration is done by.
    ///
    /// - Precondition: a migration has been started, as for the properties and methods below.
    open var mappingModel: NSMappingModel { running.mapping }
    /// Reads the source. Reset now and then.
    open var sourceContext: NSManagedObjectContext { running.source.context }
    /// Takes the objects that are made. Saved and reset now and then, until a policy asks for its `registeredObjects`:
    /// those are all objects that the migration has made so far, and stay registered from then on, which takes memory
    /// for all of them.
    open var destinationContext: NSManagedObjectContext { running.destination.context }
    /// The mapping that is being carried out.
    open var currentEntityMapping: NSEntityMapping { running.current }

    /// The source entity of a mapping; nil if it has none. Its objects are plain `NSManagedObject`s.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { running.source.model.entitiesByName[$0] }
    }

    /// The destination entity of a mapping; nil if it has none. Its objects are plain `NSManagedObject`s.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { running.destination.model.entitiesByName[$0] }
    }

    /// Notes that an object was made of another one.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        running.associate(sourceInstance, destinationInstance, entityMapping)
    }

    /// What a mapping made of objects of the source.
    ///
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - sourceInstances: nil for all, which takes memory for all of them.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        running.destinations(of: sourceInstances, mapping: mappingName)
    }

    /// What a mapping made objects of the destination of.
    ///
    /// - Parameters:
    ///   - mappingName: the name of the entity mapping.
    ///   - destinationInstances: nil for all, which takes memory for all of them.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        running.sources(of: destinationInstances, mapping: mappingName)
    }

    /// What `FUNCTION($manager, "selector", …)` in a mapping's expressions gives: the manager's own methods, the source
    /// relationship's objects in the destination, and fetch requests for the source. Linux has no way to call a method
    /// by its name: a subclass with functions of its own overrides this, switches over the names, and calls `super` for
    /// others.
    ///
    /// A function that is not known, a mapping that there is not, and a predicate that cannot be read end the migration
    /// with `CocoaError` 134110.
    open func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? { ownFunction(name, arguments) }

    /// The value of a property by its name, also of one that a subclass stores, for expressions such as
    /// `$manager.sourceContext`. Nil for other names, and for what there is only while a migration runs.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "sourceModel": sourceModel
        case "destinationModel": destinationModel
        case "userInfo": userInfo
        case "migrationProgress": migrationProgress
        case "mappingModel" where run != nil: mappingModel
        case "sourceContext" where run != nil: sourceContext
        case "destinationContext" where run != nil: destinationContext
        case "currentEntityMapping" where run != nil: currentEntityMapping
        default: KeyValueAccess.reflected(self, key: key)
        }
    }

    /// What all mappings made of objects of the source.
    final func destinationInstances(ofSources sources: [NSManagedObject]) -> [NSManagedObject] {
        running.destinations(of: sources)
    }
}
