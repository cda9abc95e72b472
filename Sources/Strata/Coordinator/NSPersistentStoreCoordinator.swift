public import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// Connects a model with the stores that hold its objects. Safe to use from any thread.
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    // Unchecked: what changes is in the mutex.

    struct State {
        var stores: [NSPersistentStore] = []
        var observers = SweptList<ContextReference>()
        /// Every context that works on the coordinator.
        var contexts: [ContextReference] = []
        /// With so many, those that are dead are looked for.
        var contextsToSweep = 16
        var name: String?
        /// The stores that were removed last, by their UUIDs, and where they are.
        var removed: [(uuid: String, path: String)] = []
        /// What the stores are for events, as of a generation of theirs.
        var eventStores: (generation: Int, stores: [EventStore])?
        /// How often the stores have begun to be closed, and how many calls of ``close()`` run.
        var closings = (begun: 0, running: 0)
    }

    /// How many removed stores are remembered for messages.
    private static let removedMaximum = 16

    /// The model, which can no longer be changed.
    open var managedObjectModel: NSManagedObjectModel { model }
    private let model: NSManagedObjectModel
    let shapes: ModelShapes
    let state = AdaptiveMutex<State>(State())
    /// Grows whenever stores are added or removed, so that contexts may keep what they have looked up.
    let storesGeneration = Atomic<Int>(0)
    /// Which slots contexts have read lately; see ``ReadSampling``.
    let readSlots = Atomic<UInt64>(0)
    /// What contexts have planned.
    let plans = PlanCache()
    /// Where long searches wait for their turn.
    let scanGate = ScanGate()
    /// Those who follow the history of the stores.
    let historyWaiters = HistoryWaiters()
    /// Whether a store of the user's own class has ever been added: asked by every save.
    let customStores = Atomic<Bool>(false)
    let queue = ContextQueue(.privateQueueConcurrencyType)
    private let lockForLocking = NSRecursiveLock()
    /// The saves, batch requests and asynchronous fetches that are running.
    let writing = DispatchGroup()
    /// The stores that are being added asynchronously.
    let opening = DispatchGroup()
    /// Whether the stores have been closed by ``close()``, and none has been added since.
    let isClosed = Atomic<Bool>(false)
    /// The number of the closing that runs, or that came last when no store has been added since; else 0.
    let closing = Atomic<Int>(0)
    /// Where stores are closed, one after the other.
    let closingQueue = DispatchQueue(label: "strata.closing", qos: .userInitiated)

    /// Creates a coordinator without stores; the model becomes immutable.
    public init(managedObjectModel model: NSManagedObjectModel) {
        DebugOutput.startIfAsked()
        self.model = model
        shapes = ModelShapes.of(model)
        super.init()
        scanGate.eventStores = { [weak self] in self?.eventStores ?? [] }
        DynamicInitialization.require()
    }

    /// Creates a coordinator of a model without entities, for what is asked of a coordinator but not of its stores:
    /// replacing and destroying.
    public override convenience init() { self.init(managedObjectModel: NSManagedObjectModel()) }

    deinit {
        for store in state.withLock({ $0.stores }) { try? store.detach()?.close() }
    }

    /// A name for messages.
    open var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { state.withLock { $0.stores } }

    // MARK: Queue

    /// Runs a block on the coordinator's queue, later.
    open func perform(_ block: @escaping () -> Void) {
        queue.async(for: nil, block)
    }

    /// Runs a block on the coordinator's queue and waits for it. May be nested, also with blocks of contexts.
    open func performAndWait(_ block: () -> Void) { waitFor(block) }

    /// Takes the lock that ``unlock()`` releases. Nothing in Strata uses it.
    public func lock() { lockForLocking.lock() }

    /// Releases the lock that ``lock()`` takes.
    public func unlock() { lockForLocking.unlock() }

    /// Takes the lock that ``unlock()`` releases if nobody has it.
    @available(*, deprecated, message: "Use performAndWait instead.")
    public func tryLock() -> Bool { lockForLocking.try() }

    // MARK: Stores

    /// The store at a URL, however that is spelled: links, `..` and slashes at the end lead to the same store.
    open func persistentStore(for url: URL) -> NSPersistentStore? { findStore(at: url) }

    /// Where a store is; /dev/null for one in memory.
    open func url(for store: NSPersistentStore) -> URL {
        store.url ?? URL(fileURLWithPath: "/dev/null")
    }

    /// A store's metadata, with its type, UUID and version hashes.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Sets a store's metadata, which is written with the next save. Values are property-list values.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

    /// Executes a request for a context, on the calling thread. Contexts come here with their fetches, saves, batches
    /// and history requests if the coordinator is of a subclass.
    ///
    /// - Returns: an array for a fetch request, a subclass of ``NSPersistentStoreResult`` for batch and history
    ///   requests.
    /// - Throws: `CocoaError` 134091 for a request of another kind, otherwise as
    ///   ``NSManagedObjectContext/execute(_:)``.
    /// - Precondition: the context is one of this coordinator, and the caller is on its queue.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        try executeRequest(request, with: context)
    }

    /// Opens a store, creating it if nothing is there, and adds it.
    ///
    /// - Parameters:
    ///   - storeType: ``NSSQLiteStoreType``, which names the log store here, ``NSInMemoryStoreType``,
    ///     ``NSBinaryStoreType``, ``NSXMLStoreType``, or a type that a class has been registered for.
    ///   - configuration: the part of the model that the store holds; nil for all entities.
    ///   - storeURL: the directory (or file) of the store; /dev/null and every path below it make a store in memory.
    ///   - options: by the keys of Core Data and of Strata; `docs/guide.md` lists them.
    /// - Throws: `CocoaError` 134000 for an unknown type; 134080 for an unknown configuration, and when another process
    ///   has the store; 134081 when the coordinator already has a store at the URL, or of the same UUID; 134090 when
    ///   another process still has it after ``NSPersistentStoreTimeoutOption`` seconds; 134100 with its metadata when
    ///   the store was written with another model; 259 when the URL leads to something other than a store, or to a
    ///   damaged one; 260 when a store to be opened read-only does not exist; 512 when it cannot be created.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try openStore(storeType, configuration, storeURL, options)
    }

    /// Adds a store by its description, on a thread of its own if that says so, and calls the block with the outcome.
    ///
    /// A block for a store that is added asynchronously is called on that thread.
    open func addPersistentStore(
        with description: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        openStore(description, block)
    }

    /// Moves everything in a store to a new store, which takes the old one's place in the coordinator.
    ///
    /// The new store has a UUID of its own, so the IDs of its objects differ from those in the old one, which stays as
    /// it is on disk. Objects in contexts of the coordinator become objects of the new store; those of contexts whose
    /// queue is busy do so when it is free. The metadata of the user go along; the history begins anew.
    ///
    /// - Parameters:
    ///   - store: a store of the coordinator.
    ///   - url: where the new store is made. What is there already is replaced.
    ///   - options: of the new store.
    ///   - storeType: of the new store.
    /// - Returns: the new store.
    /// - Throws: as ``addPersistentStore(ofType:configurationName:at:options:)``, and the old store's error when it
    ///   cannot be read. The old store is still there then.
    /// - Complexity: O(n) in the store's objects.
    @discardableResult
    open func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        try moveStore(store, to: url, options, storeType)
    }

    /// Says where a store is from now on.
    ///
    /// A log store is closed, and the one at the URL, which must exist and be of the same model, is opened in its
    /// place. An atomic store is written to the URL by its next save. Objects that contexts have in memory stay those
    /// of the store that they were read from.
    ///
    /// - Returns: whether it could be done; the store is as before if not.
    @discardableResult
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { changeURL(url, for: store) }

    /// Puts a copy of the store at one URL in the place of the one at another, as it was at some moment during the
    /// call.
    ///
    /// The copy has the UUID of its source, so object IDs stay valid. Once it is complete, the store at
    /// `destinationURL` is removed from all coordinators of this process; add it again afterwards. The source may be
    /// open, also in another process.
    ///
    /// Atomic: after a crash the store at `destinationURL` is the old or the new one, whole. Durable when it returns.
    ///
    /// - Parameters:
    ///   - destinationURL: what is there is given up; it need not exist.
    ///   - destinationOptions: as for opening the store; the timeout counts, or else that of the source's options.
    ///   - sourceURL: a store of the same type.
    ///   - sourceOptions: as for opening the source. No option changes what is copied.
    ///   - storeType: the type of both.
    /// - Throws: `CocoaError` 260 when there is no source, 259 when it cannot be read, 134080 when another process has
    ///   the destination, 134000 for stores in memory. The destination is as before then.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try replaceStore(at: destinationURL, destinationOptions, with: sourceURL, sourceOptions, storeType)
    }

    /// Deletes a store and everything in it.
    ///
    /// Of a log store an empty directory is left, as an empty file is in Core Data; it is made where there was no
    /// store, so that programs can remove it afterwards. Binary and XML stores leave nothing. The store is removed from
    /// all coordinators of this process first.
    ///
    /// - Warning: The data is gone when this returns.
    /// - Throws: `CocoaError` 134000 for an unknown type, 4 for a store of SQLite's type at or below /dev/null or in a
    ///   directory that does not exist, 134080 when another process has the store, 259 when what is there is no store
    ///   or is damaged; the option ``NSPersistentStoreForceDestroyOption`` removes a damaged store, too.
    open func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        try destroyStore(at: url, storeType, options)
    }

    /// The metadata of a store that no coordinator need have opened.
    ///
    /// - Parameters:
    ///   - storeType: as for opening the store.
    ///   - url: where the store is.
    ///   - options: of a log store ``NSPersistentStoreTimeoutOption`` counts; a store of another class is not told of
    ///     them.
    /// - Throws: `CocoaError` 134000 for an unknown type, 260 when there is no store, 259 when what is there is none.
    open class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try readMetadata(storeType, at: url, options)
    }

    /// Sets the metadata of a store. Durable when it returns.
    ///
    /// - Throws: `CocoaError` 134000 for an unknown type, 260 when there is no store, 259 when what is there is none,
    ///   134080 when another process has it.
    open class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try writeMetadata(metadata, storeType, at: url, options)
    }

    /// The class of each type of store that there is, wrapped in a value whose `storeClass` hands it out.
    open class var registeredStoreTypes: [String: NSValue] {
        StoreClasses.all.mapValues { NSValue(storeClass: $0) }
    }

    /// Makes stores of a type instances of a class; nil makes the type unknown.
    ///
    /// - Precondition: the class inherits from ``NSAtomicStore`` or ``NSIncrementalStore``.
    open class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        register(storeClass, storeType)
    }

    /// Puts a store into the list; nobody is told.
    func install(_ store: NSPersistentStore) {
        state.withLock { state in
            state.stores.append(store)
            if state.closings.running == 0 { reopen() }
        }
        recordStoresChanged()
    }

    /// From now on, contexts shut themselves; see ``NSManagedObjectContext/shut(for:)``.
    func beginClosing() {
        state.withLock { state in
            state.closings.running += 1
            guard closing.load(ordering: .relaxed) == 0 else { return }
            state.closings.begun += 1
            closing.store(state.closings.begun, ordering: .releasing)
        }
    }

    /// The calling ``close()`` is done; what was added too late for it stays open.
    func endClosing() {
        state.withLock { state in
            state.closings.running -= 1
            if state.stores.isEmpty {
                isClosed.store(true, ordering: .releasing)
            } else if state.closings.running == 0 {
                reopen()
            }
        }
    }

    private func reopen() {
        isClosed.store(false, ordering: .releasing)
        closing.store(0, ordering: .releasing)
    }

    /// Takes a store out of the list; nobody is told.
    func withdraw(_ store: NSPersistentStore) {
        state.withLock { $0.stores.removeAll { $0 === store } }
        recordStoresChanged()
    }

    func add(_ store: NSPersistentStore) {
        install(store)
        store.didAdd(to: self)
        postStoresDidChange([NSAddedPersistentStoresKey: [store]])
    }

    /// Closes a store. Objects of it that are still in contexts can no longer be read.
    ///
    /// - Throws: `CocoaError` when the store is not one of the coordinator's, or its log cannot be closed in order.
    open func remove(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(where: { $0 === store }) else {
            throw DescribedError(
                .persistentStoreOperation,
                userInfo: [NSLocalizedDescriptionKey: "The store is not one of the coordinator's."])
        }
        do {
            try store.savePendingMetadata()
        } catch {
            // Where a store is no longer at its path there is nothing to write them to, and it has to be closed.
            let isElsewhere = (try? (store as? PropertyListStore)?.isElsewhere) ?? false
            guard isElsewhere || store.handle?.log.isAtItsPath == false else { throw error }
            store.forgetMetadataChange()
        }
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        store.willRemove(from: self)
        withdraw(store)
        let detached = store.detach()
        if let detached { recordRemoved(detached) }
        if let handle = detached {
            do {
                try handle.close()
            } catch {
                throw StoreFailure.cocoaError(error, saving: handle)
            }
        }
        postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
    }

    /// The ID that a URI names; nil when no store of the coordinator has that UUID or the URI is not an object's.
    ///
    /// The object need not exist. If it does, the ID has its entity, whichever entity of the hierarchy the URI names.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard url.scheme == "x-coredata", let host = url.host(percentEncoded: true) else { return nil }
        return managedObjectID(ofURIParts: [host[...]] + url.path(percentEncoded: true).split(separator: "/"))
    }

    /// As ``managedObjectID(forURIRepresentation:)``, without the cost of a URL.
    ///
    /// - Parameter parts: the store's UUID, the entity's name and the key behind a "p", all percent-encoded.
    package final func managedObjectID(ofURIParts parts: [Substring]) -> NSManagedObjectID? {
        let parts = parts.map { part in
            part.utf8.contains(UInt8(ascii: "%")) ? part.removingPercentEncoding ?? "" : String(part)
        }
        guard parts.count == 3, !parts[0].isEmpty, parts[2].hasPrefix("p"), let shape = shapes.byName[parts[1]] else {
            return nil
        }
        let host = parts[0]
        let handles = persistentStores.compactMap(\.handle)
        func isHost(_ uuid: String) -> Bool { uuid == host || uuid.caseInsensitiveCompare(host) == .orderedSame }
        // Of a store that was copied here also the IDs that it had before, unless the original is here, too.
        let handle =
            handles.first { isHost($0.identity.uuidString) }
            ?? handles.first { $0.ancestors.contains { isHost($0.uuid) } }
        guard let handle, handle.map.holds(shape) else { return nil }
        let text = String(parts[2].dropFirst())
        let key: UInt64
        if handle.custom != nil {
            guard !text.isEmpty else { return nil }
            key = handle.identity.ensuredReferences.key(root: handle.map.root(shape), text: text)
        } else {
            guard let number = UInt64(text), number > 0, number <= ObjectRef.maximumKey else { return nil }
            key = number
        }
        let ref = handle.named(ObjectRef(entity: handle.map.numbers[shape.index], key: key), in: handle.log.snapshot)
        return NSManagedObjectID(ref: ref, identity: handle.identity, shape: handle.map.shape(ref.entity) ?? shape)
    }

    /// The ID that an object URI's text names; nil as for ``managedObjectID(forURIRepresentation:)``.
    open func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }

    /// As ``managedObjectID(for:)``, from a text in UTF-8.
    ///
    /// - Precondition: the text names an object of one of the stores.
    public final func __managedObjectID(fromUTF8String string: UnsafePointer<CChar>, length: Int) -> NSManagedObjectID {
        let bytes = UnsafeRawBufferPointer(start: string, count: length)
        let text = String(decoding: bytes, as: UTF8.self)
        guard let id = managedObjectID(for: text) else {
            programmerError(
                "NSPersistentStoreCoordinator.managedObjectID(fromUTF8String:length:)",
                "the text names no object of a store of the coordinator", "Use managedObjectID(for:), which returns nil"
            )
        }
        return id
    }

    /// Where the history of the stores stands: the token of their newest transactions.
    ///
    /// - Parameter stores: the stores asked about; nil, or none, for all.
    open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let named = stores?.compactMap { $0 as? NSPersistentStore } ?? []
        let wanted = named.isEmpty ? persistentStores : named
        var sequences: [String: UInt64] = [:]
        for handle in wanted.compactMap(\.handle) where handle.custom == nil {
            // A store that cannot be read now is where it was when it could be.
            try? handle.catchUp()
            sequences[handle.identity.uuidString] = handle.log.snapshot.sequence
        }
        return sequences.isEmpty ? nil : NSPersistentHistoryToken(sequences)
    }

    // MARK: Stores that were removed

    private func recordRemoved(_ handle: StoreHandle) {
        state.withLock { state in
            state.removed.removeAll { $0.uuid == handle.identity.uuidString }
            state.removed.append((handle.identity.uuidString, handle.path))
            if state.removed.count > Self.removedMaximum { state.removed.removeFirst() }
        }
    }

    /// Where the stores are that were removed.
    var removedPaths: [String] { state.withLock { $0.removed.map(\.path) } }

    /// Where a store is that was removed; nil for one that was not.
    func removedPath(_ identity: StoreIdentity) -> String? {
        state.withLock { state in state.removed.first { $0.uuid == identity.uuidString }?.path }
    }
}
