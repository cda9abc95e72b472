import Foundation
import StrataLog
import StrataRuntime
import StrataSupport
import Synchronization
import SystemPackage

/// An open store as contexts use it.
final class StoreHandle: Sendable {
    /// The rows. Of a custom store, a log in memory that holds what the store has handed out so far.
    let log: LogStore
    let map: StoreMap
    let shapes: ModelShapes
    let identity: StoreIdentity
    let path: String
    /// The store itself, as events name it.
    let eventStores: [EventStore]
    /// Where the rows come from and go to when that is a class of the user's; nil for a log store.
    let custom: CustomStore?
    private let refusesWrites: Atomic<Bool>
    /// What contexts are pinned to.
    let heldSnapshots = HeldSnapshots()
    /// Parallel to the constraints that the log knows.
    let constraints: [StoreConstraint]
    private let indexes = AdaptiveMutex<[StoreIndex]>([])
    /// Leads those to the handle who do not keep it alive.
    let reference = BackReference<StoreHandle>()
    private let detached = Atomic<Bool>(false)
    private let keeper = AdaptiveMutex<RetentionKeeper?>(nil)
    private let hasRetention = Atomic<Bool>(false)

    private let columnChunkCache = AdaptiveMutex<ColumnChunkCache?>(nil)

    /// What scans keep of the columns. Made with the first scan.
    var columnChunks: ColumnChunkCache {
        columnChunkCache.withLock { cache in
            if let cache { return cache }
            let made = ColumnChunkCache(budgetBytes: ColumnChunkUse.budgetBytes ?? ColumnChunkCache.defaultBudgetBytes)
            cache = made
            return made
        }
    }

    /// What history the store keeps; nil for all of it.
    var retention: RetentionKeeper? {
        get { hasRetention.load(ordering: .relaxed) ? keeper.withLock { $0 } : nil }
        set {
            keeper.withLock { $0 = newValue }
            hasRetention.store(newValue != nil, ordering: .relaxed)
        }
    }
    /// What brings in other processes' commits, once somebody wants to hear of them.
    let follower = Mutex<LogFollower?>(nil)
    /// Whether the program is to be stopped when something cannot be read.
    let stopsOnDamage: Bool
    private let removalTold = Atomic<Bool>(false)
    /// What the store was before it was copied here.
    let ancestors: [StoreLineage.Ancestor]

    /// Whether the store has been removed from its coordinator: its rows can no longer be had.
    var isDetached: Bool { detached.load(ordering: .acquiring) }

    func markDetached() { detached.store(true, ordering: .releasing) }

    /// Something of the store was to be read after it was removed. Said once for each store, since what reads it, the
    /// property of an object, cannot throw.
    func reportReadAfterRemoval() {
        guard !removalTold.exchange(true, ordering: .relaxed) else { return }
        let text = "Strata: error: an object was read whose store was removed from its coordinator (\(path)). "
        StandardDescriptors.writeError(text + "It reads as empty, and its context cannot be saved.\n")
    }

    init(
        log: LogStore, map: StoreMap, shapes: ModelShapes, isReadOnly: Bool, path: String, stopsOnDamage: Bool = false
    ) {
        self.log = log
        self.stopsOnDamage = stopsOnDamage
        self.map = map
        self.shapes = shapes
        self.path = path
        eventStores = [.at(path)]
        custom = nil
        refusesWrites = Atomic(isReadOnly)
        constraints = StoreConstraint.all(shapes, map)
        // Of coordinators that share a log the first says what is unique.
        if !isReadOnly, SharedLogs.useCount(log) <= 1 { log.enforce(constraints.map(\.unique)) }
        let lineage = StoreLineage(log)
        identity = StoreIdentity.named(lineage.uuid)
        ancestors = lineage.ancestors
        reference.set(self)
        let found = StoreIndex.all(self)
        indexes.withLock { $0 = found }
        log.damage.listen { [reference] error in
            let handle = reference.target
            handle?.recordDamage(error)
            return handle != nil
        }
        // A store whose disk refuses to be written has no indexes, and says so when it is written.
        if !isReadOnly, SharedLogs.useCount(log) <= 1 {
            try? log.maintain(found.map(\.definition) + StoreIndex.links(self))
        }
    }

    /// The ordered indexes that the model asks for. The log may not have all of them.
    var orderedIndexes: [StoreIndex] { indexes.withLock { $0 } }

    init(custom: CustomStore, log: LogStore, map: StoreMap, shapes: ModelShapes, identity: StoreIdentity, path: String)
    {
        self.log = log
        stopsOnDamage = false
        self.map = map
        self.shapes = shapes
        self.path = path
        eventStores = [.at(path)]
        self.custom = custom
        self.identity = identity
        // As in Core Data, only stores of rows know what is unique.
        constraints = []
        ancestors = []
        refusesWrites = Atomic(false)
        reference.set(self)
    }

    deinit { reference.clear() }

    /// Whether saves are refused.
    var isReadOnly: Bool {
        get { refusesWrites.load(ordering: .relaxed) }
        set { refusesWrites.store(newValue || log.isReadOnly, ordering: .relaxed) }
    }

    /// Gives the log up; it stays open while another coordinator has it.
    func close() throws(StoreError) {
        stopFollowing()
        try SharedLogs.close(log)
    }

    /// As ``close()``, for whoever puts another store in this one's place.
    ///
    /// - Throws: `.locked` while another coordinator has the log.
    func closeKeepingLock() throws(StoreError) -> StoreLock? {
        stopFollowing()
        return try SharedLogs.closeKeepingLock(log)
    }

    /// Where the history of a token stands in this store: also of a token from before it was copied, as far as both
    /// have it. Nil for a token of other stores.
    func sequence(of token: NSPersistentHistoryToken) -> UInt64? {
        if let sequence = token.sequences[identity.uuidString] { return sequence }
        for ancestor in ancestors.reversed() {
            guard let sequence = token.sequences[ancestor.uuid] else { continue }
            // What came later there never was here: a number that no history has.
            return sequence <= ancestor.sequence ? sequence : .max
        }
        return nil
    }

    static func uuid(_ words: StoreUUID) -> UUID {
        UUID(uuid: ByteTuples.bytes((words.high.bigEndian, words.low.bigEndian)))
    }
}

/// Turns the engine's errors into Core Data's.
enum StoreFailure {
    /// What is damaged is noted.
    static func cocoaError(_ error: StoreError, saving handle: StoreHandle) -> any Error {
        if error.code == .corruption { handle.recordDamage(error) }
        return make(error, error.code == .conflict ? .managedObjectMerge : .persistentStoreSave, handle)
    }

    /// What is damaged is noted.
    static func cocoaError(_ error: StoreError, reading handle: StoreHandle) -> any Error {
        if error.code == .corruption { handle.recordDamage(error) }
        return description(error, of: handle)
    }

    /// The error of reading, for what has been noted.
    static func description(_ error: StoreError, of handle: StoreHandle) -> any Error {
        make(error, .persistentStoreOperation, handle)
    }

    /// The store has been removed from its coordinator.
    static func removed(_ path: String) -> any Error {
        DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The store at \(path) has been removed from its coordinator. Add it again and use a new context.",
                NSFilePathErrorKey: path,
            ])
    }

    /// A request names a store of another coordinator, or one that has been removed.
    static func foreignStore(_ store: NSPersistentStore) -> any Error {
        DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(store) is not one of the coordinator's stores. Use one of its persistentStores.",
                NSAffectedStoresErrorKey: [store],
            ])
    }

    /// What Core Data's codes say of a store that cannot be opened: the file-system ones where they apply.
    static func opening(_ error: StoreError, _ path: String) -> any Error {
        let code: CocoaError.Code =
            switch error.code {
            case .corruption, .unsupportedFormat: .fileReadCorruptFile
            case .notFound: .fileReadNoSuchFile
            case .io:
                switch error.errno {
                case .permissionDenied?, .notPermitted?: .fileReadNoPermission
                case .readOnlyFileSystem?: .fileWriteVolumeReadOnly
                case .noSpace?: .fileWriteOutOfSpace
                case .noSuchFileOrDirectory?, .notDirectory?, .fileExists?: .fileWriteUnknown
                default: .persistentStoreOpen
                }
            default: .persistentStoreOpen
            }
        return DescribedError(code, userInfo: info(error, path))
    }

    /// Another process held the store for longer than ``NSPersistentStoreTimeoutOption`` allows.
    static func timeout(_ error: StoreError, _ path: String) -> any Error {
        DescribedError(.persistentStoreTimeout, userInfo: info(error, path))
    }

    static func readOnly(_ handle: StoreHandle) -> any Error {
        DescribedError(
            .fileWriteNoPermission,
            userInfo: [NSLocalizedDescriptionKey: "The store is read-only.", NSFilePathErrorKey: handle.path]
                .merging(stores(handle)) { first, _ in first })
    }

    private static func make(_ error: StoreError, _ code: CocoaError.Code, _ handle: StoreHandle) -> any Error {
        DescribedError(code, userInfo: info(error, handle.path).merging(stores(handle)) { first, _ in first })
    }

    /// The store, for the user info of errors that concern it.
    private static func stores(_ handle: StoreHandle) -> [String: Any] {
        handle.store.map { [NSAffectedStoresErrorKey: [$0]] } ?? [:]
    }

    private static func info(_ error: StoreError, _ path: String) -> [String: Any] {
        var underlying: any Error = error
        if let errno = error.errno {
            underlying = NSError(
                domain: NSPOSIXErrorDomain, code: Int(errno.rawValue),
                userInfo: [
                    NSLocalizedDescriptionKey: error.description,
                    NSLocalizedFailureReasonErrorKey: error.description,
                ])
        }
        return [
            NSLocalizedDescriptionKey: error.description, NSFilePathErrorKey: path, NSUnderlyingErrorKey: underlying,
        ]
    }
}
