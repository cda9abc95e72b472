public import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// A workspace of managed objects: it registers them, tracks their changes and saves these atomically.
///
/// A context and its objects belong to its queue: use them inside ``perform(_:)`` and its variants, or, for a
/// main-queue context, directly on the main thread. A fault that fires or a fetch reads the newest state of the store,
/// or the generation the context is pinned to. A child context reads its parent instead.
///
/// A context may be passed to any thread, which then uses it by way of its queue.
open class NSManagedObjectContext: NSObject, NSCoding, NSLocking, @unchecked Sendable {
    // Unchecked: the queue guards everything else; what other threads may ask for is atomic, or has a lock.

    /// The registered objects.
    final let registry = ObjectRegistry()
    final let queue: ContextQueue
    /// The closing of the coordinator's stores that the context's blocks come too late for; 0 for none.
    @exclusivity(unchecked) final var shutBy = 0
    /// Leads those to the context who do not keep it alive.
    final let reference = ContextReference()
    /// Of ``lock()``; made when somebody asks for it, which contexts of a service never do.
    private final let lazyLock = CompiledReference<NSRecursiveLock>()
    final var lockForLocking: NSRecursiveLock { lazyLock.load() ?? lazyLock.storeIfNil(NSRecursiveLock()) }

    /// Which queue the context works on.
    open var concurrencyType: NSManagedObjectContextConcurrencyType { queueType }
    final let queueType: NSManagedObjectContextConcurrencyType

    /// A name for messages and for the persistent history.
    open var name: String?
    /// Who makes the changes, for the persistent history.
    open var transactionAuthor: String?
    /// Anything the program wants to keep with the context.
    open var userInfo: NSMutableDictionary { info }
    private lazy var info = NSMutableDictionary()
    /// Whether deletions follow the delete rules when pending changes are processed (the default), or when the context
    /// saves.
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
        get { registry.registrationFlags.contains(.tracked) }
        set { setObservation(newValue) }
    }
    /// The streams of changes that somebody listens to.
    final var changeStreams: ChangeStreams?
    /// What happens when the store's rows are newer than those that changes were based on. Default: an error.
    ///
    /// ```swift
    /// context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    /// ```
    open var mergePolicy: Any = NSMergePolicy.error
    /// Whether saves of other contexts of the coordinator show up in this one by themselves. Default `false`.
    ///
    /// ```swift
    /// container.viewContext.automaticallyMergesChangesFromParent = true
    /// ```
    @exclusivity(unchecked) open var automaticallyMergesChangesFromParent = false {
        didSet { if automaticallyMergesChangesFromParent, link == nil { coordinator?.observe(self) } }
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

    /// Whether calls are checked to be made on the queue; see ``ConcurrencyDebugging``.
    @exclusivity(unchecked) final var checksQueue = false
    /// Whether a call from elsewhere has been warned of.
    final let violationWarned = Atomic<Bool>(false)
    /// What ``retainsRegisteredObjects`` says, for paths that every object takes.
    @exclusivity(unchecked) final var isRetaining = false
    @exclusivity(unchecked) final var coordinator: NSPersistentStoreCoordinator? {
        didSet { coordinatorReference = coordinator.map { .passUnretained($0) } }
    }
    /// The coordinator, for what every object that is asked for by its ID asks it.
    @exclusivity(unchecked) final var coordinatorReference: Unmanaged<NSPersistentStoreCoordinator>?
    /// Nil for a context that works on a coordinator.
    @exclusivity(unchecked) final var link: ParentLink?
    /// Made for the first child, which contexts of a service never have; children may be made on any thread.
    private final let knownChildren = CompiledReference<ContextChildren>()
    final var children: ContextChildren? { knownChildren.load() }
    final var madeChildren: ContextChildren { knownChildren.load() ?? knownChildren.storeIfNil(ContextChildren()) }
    /// The children that are alive.
    final var allChildren: [NSManagedObjectContext] { children?.all ?? [] }
    /// Made for the first controller that follows the context, which may begin on any thread.
    private final let knownFollowers = CompiledReference<ContextFollowers>()
    final var followers: ContextFollowers? { knownFollowers.load() }
    final var madeFollowers: ContextFollowers { knownFollowers.load() ?? knownFollowers.storeIfNil(ContextFollowers()) }
    /// By store, which newer rows do not make what children have read before out of date.
    final var knownSequences: [ObjectIdentifier: KnownSequences] = [:]
    /// The generation that the context is pinned to; nil for one that reads what is newest.
    @exclusivity(unchecked) final var generation: PinnedGeneration?
    /// Those who observe what the context says of itself.
    @exclusivity(unchecked) final var stateObservers: ContiguousArray<any StateObserver> = []
    /// Records what can be undone; nil without an undo manager.
    @exclusivity(unchecked) final var undoRecorder: UndoRecorder?
    /// Empty with an undo manager, whose recorder keeps more than this.
    @exclusivity(unchecked) final var earlierValues = EarlierValues()

    /// What has changed, and the save of it.
    final let pipeline = SavePipeline()
    final var retained: [NSManagedObject] = []
    @exclusivity(unchecked) final var readTrouble = ReadTrouble()
    /// Finds the rows of faults.
    final let faults = FaultService()
    /// The results of the fetches of the block that runs.
    @exclusivity(unchecked) final var heldResults = DeferredRelease()
    /// What objects have lately been asked for of what lies outside of their rows.
    @exclusivity(unchecked) final var largeValues = LargeValueCache()
    /// What objects were given by key and have no room for.
    final var numbersOutOfRange = NumbersOutOfRange()
    /// The IDs that fetches have lately handed out.
    @exclusivity(unchecked) final var idCache = IDCache()
    /// What reading objects has cost so far.
    public final var faultStatistics: FaultStatistics { faults.statistics }
    /// How many things run that requests in their middle do not end the event of: see ``undisturbed(_:)``.
    @exclusivity(unchecked) final var underWay = 0
    /// Of contexts that only write what follows from objects that are stored already.
    final var skipsValidation = false
    /// Whether nothing is posted: of a context that a request makes for itself, which no program knows.
    final var isSilent = false
    @exclusivity(unchecked) final var lookups = LookupMemory()

    /// Creates a context without coordinator.
    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        queueType = concurrencyType
        queue = ContextQueue(concurrencyType)
        super.init()
        begin()
    }

    private func begin() {
        registry.context = self
        pipeline.begin(self)
        reference.set(self)
        if queueType == .mainQueueConcurrencyType { registry.registrationFlags.formUnion(.tracking) }
        adoptConcurrencyDebugging()
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
        reference.clear()
        knownChildren.release()
        lazyLock.release()
        if let coordinator { faults.end(coordinator.readSlots) }
        detachAll()
    }

    /// Where the context gets and saves its objects; of a child context that of its line's top. It is set once.
    ///
    /// - Precondition: the context has no parent, and no other coordinator.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            if coordinator === newValue { return }
            guard link == nil else {
                programmerError(
                    "NSManagedObjectContext.persistentStoreCoordinator",
                    "the context has a parent, and with it the parent's coordinator",
                    "Set either the parent or the coordinator")
            }
            guard coordinator == nil else {
                programmerError(
                    "NSManagedObjectContext.persistentStoreCoordinator",
                    "the context already has a coordinator, which cannot be replaced", "Make a new context for it")
            }
            setCoordinator(newValue)
        }
    }

    final var modelShapes: ModelShapes? { coordinator?.shapes }

    /// Whether a save would have something to do.
    open var hasChanges: Bool { onQueue().pipeline.hasChanges }

    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> { Set(onQueue().pipeline.changed.filter(\.isInserted)) }

    /// The objects that the next save updates.
    open var updatedObjects: Set<NSManagedObject> { Set(onQueue().pipeline.changed.filter(\.isUpdated)) }

    /// The objects that the next save deletes.
    open var deletedObjects: Set<NSManagedObject> {
        Set(onQueue().pipeline.changed.filter { $0.isMarkedDeleted && !$0.flags.contains(.inserted) })
    }

    /// The objects that are in memory.
    ///
    /// - Complexity: O(n).
    open var registeredObjects: Set<NSManagedObject> { Set(onQueue().registry.all) }

    /// The context that this one reads through and saves into; nil for one that works on a coordinator.
    ///
    /// A child sees its parent's objects as they are, saved or not. Saving it changes the parent's objects and writes
    /// nothing: that comes when the context at the top of the line is saved. A child keeps its parent alive, and its
    /// coordinator is that of the line's top.
    ///
    /// - Precondition: the context has no coordinator of its own and no registered objects, and the parent does not
    ///   descend from it.
    open var parent: NSManagedObjectContext? {
        get { link?.parent }
        set { setParent(newValue) }
    }

    /// The generation that the context reads: nil for one that is not pinned and for a child, which reads its parent;
    /// ``NSQueryGenerationToken/current`` for one that was pinned and has not read yet.
    open var queryGenerationToken: NSQueryGenerationToken? { shownGeneration }

    // MARK: What subclasses may override

    /// Runs a block on the context's queue, later. Pending changes are processed after it.
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    /// Runs a block on the context's queue and waits for it. May be nested.
    open func performAndWait(_ block: () -> Void) { waitFor(block) }

    /// Writes all changes to their stores, one transaction for each store; a child context gives them to its parent
    /// instead.
    ///
    /// When it returns, the changes are as durable as the store's options say (by default: flushed to the device).
    /// When it throws, nothing has been written to the store that the error is from, and the context has its changes
    /// as before. With several stores, those that were written before the failing one keep what they got, as in Core
    /// Data. When only the metadata that was set for a store could not be written, the changes are saved and
    /// `hasChanges` is false; the next save tries again.
    ///
    /// In a task that has been cancelled and waits for the block with ``perform(schedule:_:)``, it throws
    /// `CancellationError` unless its turn has come; the context keeps its changes.
    ///
    /// ```swift
    /// do {
    ///     try context.save()
    /// } catch let error as CocoaError where error.code == .managedObjectMerge {
    ///     context.rollback()
    ///     throw error
    /// }
    /// ```
    ///
    /// - Throws: `CocoaError` with a validation code, 133020 for conflicts that the merge policy does not resolve, or
    ///   a store's error with the engine's as its underlying one.
    /// - Complexity: O(n) in the changed objects.
    open func save() throws {
        defer { stateMayHaveChanged() }
        try onQueue().pipeline.save()
    }

    /// Inserts an object that was created without context. An object that is here already is inserted again if it was
    /// deleted.
    ///
    /// - Precondition: the object belongs to no other context.
    open func insert(_ object: NSManagedObject) { onQueue().insertObject(object) }

    /// Marks an object as deleted. Its relationships follow the delete rules when pending changes are processed.
    /// Nothing happens to one that is deleted, or in no context any more.
    ///
    /// - Precondition: the object belongs to no other context.
    open func delete(_ object: NSManagedObject) {
        onQueue().deleteObject(object)
        stateMayHaveChanged()
    }

    /// Follows the delete rules of what was deleted and posts
    /// `NSManagedObjectContextObjectsDidChange` for everything that changed since the last time.
    open func processPendingChanges() {
        onQueue().pipeline.processChanges()
        stateMayHaveChanged()
    }

    /// Brings an object up to date with the store, or with the parent.
    ///
    /// - Parameters:
    ///   - object: one of the context's.
    ///   - flag: false discards the object's changes and makes it a fault; true reads the newest row and applies the
    ///     changes to it again. An inserted object has no row: true does nothing, and the fault that false makes fires
    ///     with the default values and without relationships.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        onQueue().refreshObject(object, mergeChanges: flag)
    }

    /// Refreshes all registered objects: those with changes or transient values keep them over the newest rows, as with
    /// ``refresh(_:mergeChanges:)``; all others become faults, which breaks the circles of references among them.
    open func refreshAllObjects() { onQueue().refreshEverything() }

    /// Gives up all changes and everything that could be undone: inserted objects leave the context, all others have
    /// the values again that they were last read or saved with. Nothing is read anew; ``refresh(_:mergeChanges:)`` does
    /// that.
    open func rollback() {
        onQueue().rollBackChanges()
        stateMayHaveChanged()
    }

    /// Forgets every object and every change. Objects that the program still holds belong to no context any more: those
    /// that are stored have no values, and are no faults, as nothing will be read for them; insertions keep theirs.
    open func reset() {
        onQueue().forgetEverything()
        stateMayHaveChanged()
    }

    /// The object with this ID if it is in memory.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        onQueue().findRegisteredObject(for: objectID)
    }

    /// The object with this ID: the one in memory, or a fault, whether its row exists or not.
    ///
    /// - Precondition: a permanent ID names a store of the context's coordinator.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { onQueue().findObject(with: objectID) }

    /// The object with this ID, realized.
    ///
    /// ```swift
    /// let author = try context.existingObject(with: id) as? Author
    /// ```
    ///
    /// - Throws: `CocoaError` 133000 when there is no such object; the store's error when it cannot be read.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try onQueue().findExistingObject(with: objectID)
    }

    /// As the generic form, for results that are cast later. What is fetched in any form comes from here.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        try onQueue().routedResults(of: request)
    }

    /// As the generic form.
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try routedCount(of: request)
    }

    /// Executes a request against the stores.
    ///
    /// - Throws: `CocoaError` 134091 for requests that are not supported, the store's error when it cannot be read.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try onQueue().routedResult(of: request)
    }

    /// Gives inserted objects their permanent IDs before they are saved, also those that only the parent knows.
    ///
    /// - Throws: `CocoaError` when an object has no store to be saved to.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try onQueue().reservePermanentIDs(for: objects)
    }

    /// Sets which store inserted objects are saved to, when more than one has their entity.
    ///
    /// - Precondition: the object is a managed object, its entity is in the store's configuration, and it has no
    ///   permanent
    ///   ID of another store.
    open func assign(_ object: Any, to store: NSPersistentStore) { onQueue().assignObject(object, to: store) }

    /// Whether a fault whose row is gone becomes a deleted object without values; if not, the program stops. What it
    /// returns by itself is ``shouldDeleteInaccessibleFaults``.
    ///
    /// Override it to decide by object, or to be told. By itself it also writes a line to standard error, once for each
    /// property that such a fault was asked for. ``existingObject(with:)`` throws instead of asking.
    ///
    /// - Parameters:
    ///   - fault: the object.
    ///   - objectID: its ID.
    ///   - property: the property whose value was wanted, if it is known.
    /// - Returns: whether the object is to read as deleted.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        guard shouldDeleteInaccessibleFaults else { return false }
        let wanted = [fault.shape.name, property?.name].compactMap(\.self).joined(separator: ".")
        Warnings.once("a fault's row is gone, and the object counts as deleted: \(wanted) was asked for")
        return true
    }

    /// Takes the news that a property of one of the context's objects has changed, from whoever observes it, and marks
    /// the object as changed. Nothing in Strata calls it: objects tell their context themselves.
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [String: Any]?, context: UnsafeMutableRawPointer?
    ) {
        guard let keyPath, let object = object as? NSManagedObject, object.registry === registry else { return }
        object.willChangeValue(forKey: keyPath)
        object.didChangeValue(forKey: keyPath)
    }

    /// Makes the next save fail, or ask the merge policy, if the object's row has been changed or deleted in the store
    /// since this context read it, even if the object has no changes. For changed and deleted objects that is always
    /// so.
    ///
    /// A save that succeeds ends it. Fires the object's fault.
    open func detectConflicts(for object: NSManagedObject) { onQueue().pipeline.require(object) }

    /// Processes pending changes and undoes the last group of the undo manager. Does nothing without an undo manager.
    open func undo() {
        onQueue().processPendingChanges()
        undoManager?.undo()
    }

    /// Processes pending changes and redoes what was undone last. Does nothing without an undo manager.
    open func redo() {
        onQueue().processPendingChanges()
        undoManager?.redo()
    }

    /// Brings objects in memory up to date with what another context has saved; changes of this one are kept.
    ///
    /// - Parameter notification: a did-save notification of another context.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        mergeSaved(notification)
        stateMayHaveChanged()
    }

    /// As ``mergeChanges(fromContextDidSave:)``, for several contexts and for changes from elsewhere.
    ///
    /// - Parameters:
    ///   - changes: under the keys of did-save notifications, objects, IDs or URIs.
    ///   - contexts: whom to tell, on the queue of each.
    open class func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        mergeRemote(changes, into: contexts)
    }

    /// Pins the context to a state of its stores: fetches and faults show that state, whatever is saved meanwhile.
    ///
    /// Objects that have been read stay as they are until they are refreshed. A save of this context and merging what
    /// others have saved move the context to the newest state; resetting it, to the state that is the newest when it
    /// next reads. Saves look for conflicts in the newest state, as always. Stores added later are not seen until the
    /// context moves.
    ///
    /// A context that is pinned to a point of the past (see
    /// ``NSPersistentStoreCoordinator/queryGeneration(at:)-(Date)``) stays there: merging and resetting do not move it,
    /// and it cannot save.
    ///
    /// - Parameter generation: nil to read what is newest whenever something is read;
    ///   ``NSQueryGenerationToken/current`` for the state at the next reading; another context's
    ///   ``queryGenerationToken``; a point of the past.
    /// - Throws: `CocoaError` 134070 for a child context; when a state is held by nobody and not retained by the store
    ///   any more (the context is as before then); when a store that the token names is not one of the coordinator's
    ///   (the context is pinned to what there is of the others then). The store's error when a point of the past cannot
    ///   be read.
    /// - Complexity: O(1) for a state that somebody holds; else reads what was committed to the store since.
    open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(generation) }

    // MARK: Coding

    private static let concurrencyTypeKey = "concurrencyType"

    /// Creates a context without coordinator, as ``encode(with:)`` described one. Nil if that is no description.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: Self.concurrencyTypeKey),
            let type = NSManagedObjectContextConcurrencyType(
                rawValue: UInt(bitPattern: coder.decodeInteger(forKey: Self.concurrencyTypeKey)))
        else { return nil }
        queueType = type
        queue = ContextQueue(type)
        super.init()
        begin()
        name = coder.decodeObject(of: NSString.self, forKey: "name") as String?
        transactionAuthor = coder.decodeObject(of: NSString.self, forKey: "transactionAuthor") as String?
        propagatesDeletesAtEndOfEvent = coder.decodeBool(forKey: "propagatesDeletesAtEndOfEvent")
        retainsRegisteredObjects = coder.decodeBool(forKey: "retainsRegisteredObjects")
        shouldDeleteInaccessibleFaults = coder.decodeBool(forKey: "shouldDeleteInaccessibleFaults")
        stalenessInterval = coder.decodeDouble(forKey: "stalenessInterval")
    }

    /// Writes the context's settings. Objects, changes, coordinator and parent are left out.
    open func encode(with coder: NSCoder) {
        coder.encode(Int(bitPattern: concurrencyType.rawValue), forKey: Self.concurrencyTypeKey)
        coder.encode(name as NSString?, forKey: "name")
        coder.encode(transactionAuthor as NSString?, forKey: "transactionAuthor")
        coder.encode(propagatesDeletesAtEndOfEvent, forKey: "propagatesDeletesAtEndOfEvent")
        coder.encode(retainsRegisteredObjects, forKey: "retainsRegisteredObjects")
        coder.encode(shouldDeleteInaccessibleFaults, forKey: "shouldDeleteInaccessibleFaults")
        coder.encode(stalenessInterval, forKey: "stalenessInterval")
    }

    // MARK: Locking

    /// Takes the lock that ``unlock()`` releases. Contexts are confined by their queues; nothing in Strata uses it.
    open func lock() { lockForLocking.lock() }

    /// Releases the lock that ``lock()`` takes.
    open func unlock() { lockForLocking.unlock() }

    /// Lets every object go that is still alive, with its values as they are.
    private func detachAll() {
        registry.context = nil
        for object in registry.all {
            // References to other objects may form circles, which nothing else would break.
            object.overlay?.clearReferences(object.summary)
            object.toMany = []
            // Nobody is to be told of changes any more.
            object.flags.subtract([.listed, .inEvent])
        }
    }
}
