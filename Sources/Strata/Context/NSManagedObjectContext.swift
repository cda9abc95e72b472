public import Foundation
import StrataLog
import Synchronization

/// A space to work with managed objects in: it knows which objects are there, what has changed, and saves it at once.
///
/// A context and its objects belong to its queue: use them inside ``perform(_:)`` and its kin, a main-queue context
/// also directly on the main thread. The store is read at its newest state whenever a fault fires or a fetch runs.
open class NSManagedObjectContext: NSObject, NSLocking {
    /// The registered objects.
    final let registry = ObjectRegistry()
    final let queue: ContextQueue
    final let lockForLocking = NSRecursiveLock()

    /// Which queue the context works on.
    public let concurrencyType: NSManagedObjectContextConcurrencyType

    /// A name for messages and for the persistent history.
    open var name: String?
    /// Who makes the changes, for the persistent history.
    open var transactionAuthor: String?
    /// Anything the program wants to keep with the context.
    public let userInfo = NSMutableDictionary()
    /// Whether deletions follow the delete rules when pending changes are processed (the default), or at once.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether registered objects stay in memory until the context is reset. Default `false`.
    open var retainsRegisteredObjects: Bool {
        get { isRetaining }
        set {
            isRetaining = newValue
            retained = newValue ? registry.all : []
        }
    }
    /// Whether a fault whose row is gone becomes a deleted object without values (the default) or an error of the
    /// program that stops it.
    open var shouldDeleteInaccessibleFaults = true
    /// How many seconds old a row may be at most that a fault takes; negative for any age. Faults always take the
    /// newest row, which no interval forbids.
    open var stalenessInterval: TimeInterval = -1
    /// Whether `withObservationTracking` sees what is read of this context's objects. By default it does in contexts
    /// of the main queue; reads of other contexts are spared the question.
    ///
    /// - Complexity: setting it is O(n) in the registered objects.
    open var isObservationEnabled: Bool {
        get { registry.registrationFlags.contains(.observable) }
        set { setObservation(newValue) }
    }
    /// The streams of changes that somebody listens to.
    final var changeStreams: ChangeStreams?
    /// What happens when the store's rows are newer than those that changes were based on. Default: an error.
    open var mergePolicy: Any = NSMergePolicy.error
    /// Whether saves of other contexts of the coordinator show up in this one by themselves. Default `false`.
    open var automaticallyMergesChangesFromParent = false {
        didSet { if automaticallyMergesChangesFromParent { coordinator?.observe(self) } }
    }

    /// What records the changes so that they can be undone. Default `nil`: nothing is recorded.
    ///
    /// All changes between two times that pending changes are processed are one operation. The context registers it
    /// with itself as the target when pending changes are processed, which the manager asks for before it opens or
    /// closes a group, and before it undoes something. Saving keeps what can be undone; ``rollback()``, ``reset()`` and
    /// setting another manager give it up.
    open var undoManager: UndoManager? {
        get { undoRecorder?.manager }
        set { setUndoManager(newValue) }
    }

    /// What ``retainsRegisteredObjects`` says, for paths that every object takes.
    @exclusivity(unchecked) final var isRetaining = false
    @exclusivity(unchecked) final var coordinator: NSPersistentStoreCoordinator?
    final var parentContext: NSManagedObjectContext?
    /// Records what can be undone; nil without an undo manager.
    @exclusivity(unchecked) final var undoRecorder: UndoRecorder?

    /// All objects that are or were inserted, updated or deleted since the last save, in that order.
    @exclusivity(unchecked) final var changed: ContiguousArray<NSManagedObject> = []
    /// The objects that changed since pending changes were last processed.
    @exclusivity(unchecked) final var event: ContiguousArray<NSManagedObject> = []
    /// Reported by the next objects-did-change notification.
    final var refreshed: Set<NSManagedObject> = []
    final var retained: [NSManagedObject] = []
    /// Stores that inserted objects were assigned to.
    final var assignments: [ObjectIdentifier: NSPersistentStore] = [:]
    final var readErrors: [NSManagedObjectID: any Error] = [:]
    /// The block that a fault was last fired from; the next fault is often its neighbour.
    final var lastBlock: Block?
    final var isProcessingScheduled = false
    /// Objects that ``detectConflicts(for:)`` was called for.
    final var required: [NSManagedObject] = []
    /// Objects whose rows turned out to be gone in the save that runs.
    final var droppedBySave: ContiguousArray<NSManagedObject> = []
    final var isSaving = false
    /// How many notifications since the last save had inserted objects, and what the first one had.
    final var insertReports = 0
    final var reportedInserts: Set<NSManagedObject>?
    /// The store that an ID was last looked up for. Identities are never freed.
    @exclusivity(unchecked) private final var lastStore: (identity: ObjectIdentifier, generation: Int, index: UInt16)?
    /// The class that an object was last created of, and its shape. Shapes are never freed.
    @exclusivity(unchecked) private final var lastClass: ObjectIdentifier?
    @exclusivity(unchecked) private final unowned(unsafe) var lastShape: EntityShape?

    /// Creates a context without coordinator.
    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        queue = ContextQueue(concurrencyType)
        super.init()
        registry.context = self
        if concurrencyType == .mainQueueConcurrencyType { registry.registrationFlags.insert(.observable) }
    }

    /// Creates a context without coordinator.
    public convenience init(_ concurrencyType: ConcurrencyType) {
        self.init(concurrencyType: concurrencyType.rawValue)
    }

    /// Creates a context for the thread that makes it.
    @available(*, deprecated, message: "Use init(concurrencyType:) instead.")
    public override convenience init() {
        self.init(concurrencyType: .confinementConcurrencyType)
    }

    deinit {
        detachAll()
    }

    /// Where the context gets and saves its objects. Setting another one resets the context.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            if coordinator !== newValue, coordinator != nil { reset() }
            coordinator = newValue
            lastStore = nil
            newValue?.register(self)
            if automaticallyMergesChangesFromParent { newValue?.observe(self) }
        }
    }

    final var modelShapes: ModelShapes? { coordinator?.shapes }

    /// Whether a save would have something to do.
    open var hasChanges: Bool {
        changed.contains { $0.isInserted || $0.isUpdated || ($0.isDeleted && !$0.flags.contains(.inserted)) }
    }

    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> { Set(changed.filter(\.isInserted)) }

    /// The objects that the next save updates.
    open var updatedObjects: Set<NSManagedObject> { Set(changed.filter(\.isUpdated)) }

    /// The objects that the next save deletes.
    open var deletedObjects: Set<NSManagedObject> {
        Set(changed.filter { $0.isDeleted && !$0.flags.contains(.inserted) })
    }

    /// The objects that are in memory.
    ///
    /// - Complexity: O(n).
    open var registeredObjects: Set<NSManagedObject> { Set(registry.all) }

    // MARK: Faults

    /// Whether a fault whose row is gone becomes a deleted object without values; if not, the program stops.
    ///
    /// Override it to decide by object, or to be told.
    /// - Parameter property: the property whose value was wanted, if it is known.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    // MARK: Locking

    /// Takes the lock that ``unlock()`` releases. Contexts are confined by their queues; nothing in Strata uses it.
    public func lock() { lockForLocking.lock() }

    public func unlock() { lockForLocking.unlock() }

    // MARK: Lists

    /// The entity that objects of a class are inserted into, if there is exactly one.
    final func shape(ofClass type: NSManagedObject.Type) -> EntityShape? {
        if lastClass == ObjectIdentifier(type), let lastShape, lastShape.model === coordinator?.shapes {
            return lastShape
        }
        guard let shape = modelShapes?.shape(ofClass: type) else { return nil }
        lastClass = ObjectIdentifier(type)
        lastShape = shape
        return shape
    }

    /// The index of the open store with this identity; nil when the coordinator has none.
    final func storeIndex(of identity: StoreIdentity) -> UInt16? {
        guard let coordinator else { return nil }
        let generation = coordinator.storesGeneration.load(ordering: .acquiring)
        if let lastStore, lastStore.identity == ObjectIdentifier(identity), lastStore.generation == generation {
            return lastStore.index
        }
        guard let handle = coordinator.handle(identity) else { return nil }
        let index = registry.storeIndex(of: handle)
        lastStore = (ObjectIdentifier(identity), generation, index)
        return index
    }

    /// Puts an object into the lists of what has changed.
    ///
    /// Comes before the change itself, so that an undo manager learns what was there.
    final func list(_ object: NSManagedObject) {
        if let undoRecorder, !object.flags.contains(.inEvent) { undoRecorder.capture(object) }
        if !object.flags.contains(.listed) {
            object.flags.insert(.listed)
            changed.append(object)
        }
        if !object.flags.contains(.inEvent) {
            object.flags.insert(.inEvent)
            event.append(object)
            scheduleProcessing()
        }
    }

    /// Lets every object go that is still alive, with its values as they are.
    private func detachAll() {
        registry.context = nil
        for object in registry.all {
            // References to other objects may form circles, which nothing else would break.
            object.overlay?.clearReferences(object.shape)
            object.toMany = []
        }
    }
}
