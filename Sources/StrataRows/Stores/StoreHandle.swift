import Foundation
import StrataLog
import StrataRuntime
import StrataSupport
import Synchronization
import SystemPackage

/// An open store as contexts use it.
@usableFromInline
package final class StoreHandle: Sendable {
    /// The rows. Of a custom store, a log in memory that holds what the store has handed out so far.
    @usableFromInline package let log: LogStore
    package let map: StoreMap
    package let shapes: ModelShapes
    package let identity: StoreIdentity
    package let path: String
    /// The store itself, as events name it.
    package let eventStores: [EventStore]
    /// Where the rows come from and go to when that is a class of the user's, and not looked into here; nil for a log
    /// store.
    package nonisolated(unsafe) let customStore: AnyObject?
    private let refusesWrites: Atomic<Bool>
    /// What contexts are pinned to.
    package let heldSnapshots = HeldSnapshots()
    /// Parallel to the constraints that the log knows.
    package let constraints: [StoreConstraint]
    private let indexes = AdaptiveMutex<[StoreIndex]>([])
    /// Leads those to the handle who do not keep it alive.
    package let reference = BackReference<StoreHandle>()
    @usableFromInline let detached = Atomic<Bool>(false)
    private let keeper = AdaptiveMutex<RetentionKeeper?>(nil)
    private let hasRetention = Atomic<Bool>(false)

    private let columnChunkCache = AdaptiveMutex<ColumnChunkCache?>(nil)

    /// What scans keep of the columns. Made with the first scan.
    package var columnChunks: ColumnChunkCache {
        columnChunkCache.withLock { cache in
            if let cache { return cache }
            let made = ColumnChunkCache(budgetBytes: ColumnChunkUse.budgetBytes ?? ColumnChunkCache.defaultBudgetBytes)
            cache = made
            return made
        }
    }

    /// What history the store keeps; nil for all of it.
    package var retention: RetentionKeeper? {
        get { hasRetention.load(ordering: .relaxed) ? keeper.withLock { $0 } : nil }
        set {
            keeper.withLock { $0 = newValue }
            hasRetention.store(newValue != nil, ordering: .relaxed)
        }
    }
    /// What brings in other processes' commits, once somebody wants to hear of them.
    package let follower = Mutex<LogFollower?>(nil)
    /// Whether the program is to be stopped when something cannot be read.
    package let stopsOnDamage: Bool
    private let removalTold = Atomic<Bool>(false)
    /// What the store was before it was copied here.
    package let ancestors: [StoreLineage.Ancestor]

    /// Whether the store has been removed from its coordinator: its rows can no longer be had.
    @inlinable package var isDetached: Bool { detached.load(ordering: .acquiring) }

    package func markDetached() { detached.store(true, ordering: .releasing) }

    /// Something of the store was to be read after it was removed. Said once for each store, since what reads it, the
    /// property of an object, cannot throw.
    package func reportReadAfterRemoval() {
        guard !removalTold.exchange(true, ordering: .relaxed) else { return }
        let text = "Strata: error: an object was read whose store was removed from its coordinator (\(path)). "
        StandardDescriptors.writeError(text + "It reads as empty, and its context cannot be saved.\n")
    }

    package init(
        log: LogStore, map: StoreMap, shapes: ModelShapes, isReadOnly: Bool, path: String, stopsOnDamage: Bool = false
    ) {
        self.log = log
        self.stopsOnDamage = stopsOnDamage
        self.map = map
        self.shapes = shapes
        self.path = path
        eventStores = [.at(path)]
        customStore = nil
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

    package init(
        custom: AnyObject, log: LogStore, map: StoreMap, shapes: ModelShapes, identity: StoreIdentity, path: String
    ) {
        self.log = log
        stopsOnDamage = false
        self.map = map
        self.shapes = shapes
        self.path = path
        eventStores = [.at(path)]
        customStore = custom
        self.identity = identity
        // As in Core Data, only stores of rows know what is unique.
        constraints = []
        ancestors = []
        refusesWrites = Atomic(false)
        reference.set(self)
    }

    deinit { reference.clear() }

    /// Whether saves are refused.
    package var isReadOnly: Bool {
        get { refusesWrites.load(ordering: .relaxed) }
        set { refusesWrites.store(newValue || log.isReadOnly, ordering: .relaxed) }
    }

    /// Gives the log up; it stays open while another coordinator has it.
    package func close() throws(StoreError) {
        stopFollowing()
        try SharedLogs.close(log)
    }

    /// As ``close()``, for whoever puts another store in this one's place.
    ///
    /// - Throws: `.locked` while another coordinator has the log.
    package func closeKeepingLock() throws(StoreError) -> StoreLock? {
        stopFollowing()
        return try SharedLogs.closeKeepingLock(log)
    }

    package static func uuid(_ words: StoreUUID) -> UUID {
        UUID(uuid: ByteTuples.bytes((words.high.bigEndian, words.low.bigEndian)))
    }
}
