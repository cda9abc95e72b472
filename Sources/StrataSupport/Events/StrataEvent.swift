/// Something that the library has done. It is told when it is over, on the thread that did it.
///
/// Not Sendable: what is expensive to say is asked for while the event is told, and not later. What is large is boxed:
/// an event is handed from one to the next, and each would copy it.
package enum StrataEvent {
    case fetch(any FetchEvent)
    case save(SaveEvent)
    indirect case batch(BatchEvent)
    indirect case conflict(ConflictEvent)
    indirect case flush(FlushEvent)
    indirect case fault(FaultEvent)
    indirect case wait(WaitEvent)
    indirect case compaction(CompactionEvent)
    indirect case checkpoint(StoreWork)
    indirect case migration(StoreWork)
    indirect case opening(StoreWork)
    indirect case following(FollowEvent)
    indirect case damage(DamageEvent)
    indirect case shipping(ShippingEvent)

    package var kind: EventKinds {
        switch self {
        case .fetch: .fetch
        case .save: .save
        case .batch: .batch
        case .conflict: .conflict
        case .flush: .flush
        case .fault: .fault
        case .wait: .wait
        case .compaction: .compaction
        case .checkpoint: .checkpoint
        case .migration: .migration
        case .opening: .opening
        case .following: .following
        case .damage: .damage
        case .shipping: .shipping
        }
    }
}

extension StrataEvent {
    /// The stores that it is about.
    package var stores: [EventStore] {
        switch self {
        case .fetch(let event): event.stores
        case .save(let event): event.stores
        case .batch(let event): event.work.stores
        case .conflict(let event): [event.store]
        case .flush(let event): event.work.stores
        case .fault(let event): event.work.stores
        case .wait(let event): event.stores
        case .compaction(let event): event.work.stores
        case .checkpoint(let work), .migration(let work), .opening(let work): work.stores
        case .following(let event): [event.store]
        case .damage(let event): [event.store]
        case .shipping(let event): [event.store]
        }
    }
}

/// Work on a store that took time and may have failed.
package struct StoreWork {
    package var stores: [EventStore]
    /// How long it took. A number: most who hear of it only count it, and a `Duration` is 128 bits wide.
    package var nanoseconds: Int64
    /// When it was over; nil for now. What is part of something else is told with that.
    package var ended: EventInstant?
    /// Why it failed; nil when it did not.
    package var error: (any Error)?

    package var duration: Duration { .nanoseconds(nanoseconds) }

    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The path of the store; nil when there is not just one.
    package var store: String? { stores.count == 1 ? stores[0].path : nil }

    package init(stores: [EventStore], nanoseconds: Int64, error: (any Error)? = nil) {
        self.stores = stores
        self.nanoseconds = nanoseconds
        self.error = error
    }

    /// Work that is over now.
    package init(stores: [EventStore], since began: EventInstant, error: (any Error)? = nil) {
        let ended = EventInstant.now
        self.init(stores: stores, nanoseconds: ended.nanoseconds(since: began), error: error)
        self.ended = ended
    }

    /// How long ago it was over.
    package var age: Duration { ended.map { .nanoseconds(EventInstant.now.nanoseconds(since: $0)) } ?? .zero }
}

/// A fetch or a count.
///
/// A reference to what has been noted of the fetch: this event is told most often, and most who hear of it ask for
/// little of what it knows. Belongs to the fetch's thread.
package protocol FetchEvent: AnyObject {
    var entity: String { get }
    var isCount: Bool { get }
    /// The stores that were asked.
    var stores: [EventStore] { get }
    /// How long it took.
    var nanoseconds: Int64 { get }
    /// Why it failed; nil when it did not.
    var error: (any Error)? { get }
    /// How the rows were found, in the words of `FetchExplanation.Path`; nil when it failed before.
    var path: String? { get }
    /// The index that was used, as "Entity.index".
    var index: String? { get }
    var reusesPlan: Bool { get }
    /// Rows that a compiled predicate or the interpreter was asked about.
    var rowsScanned: Int { get }
    /// Of these, those that were interpreted one by one.
    var rowsInterpreted: Int { get }
    /// Results; of a count, what was counted.
    var results: Int { get }

    /// The request in words, with `?` in the place of every constant, or with the user's values.
    func text(showsValues: Bool) -> String
    /// Some of the results, one a line, by ID. None unless somebody listens for ``EventKinds/results``.
    func resultLines(_ maximum: Int) -> [String]
    /// All that is known of how the rows were found, in lines.
    func explanation() -> String
}

extension FetchEvent {
    package var duration: Duration { .nanoseconds(nanoseconds) }

    package var work: StoreWork { StoreWork(stores: stores, nanoseconds: nanoseconds, error: error) }
}

/// A context's save. One that has nothing to write is none.
///
/// A class, since it is large, told often and handed from one to the next. Nothing of it changes, so that no access is
/// checked for overlaps.
package final class SaveEvent: Sendable {
    /// Those that were written; those of the coordinator for a save to a parent.
    package let stores: [EventStore]
    /// How long it took.
    package let nanoseconds: Int64
    /// Why it failed; nil when it did not.
    package let error: (any Error)?
    package let changes: Changes
    /// The transaction; nil of a save that failed, of one to a parent, and of one to several stores.
    package let sequence: UInt64?
    /// For how long it waited for other saves to be written.
    package let waited: Duration
    /// Whether it went to a parent context, and so not to the disk.
    package let isToParent: Bool
    /// How often it was tried again after a conflict.
    package let retries: Int

    /// What was written.
    package struct Changes: Sendable {
        /// The entity of all objects; nil if they are of several.
        package var entity: String?
        package var inserted = 0
        package var updated = 0
        package var deleted = 0

        /// Objects that were inserted, updated or deleted.
        package var objects: Int { inserted + updated + deleted }

        package init() {}
    }

    package var work: StoreWork { StoreWork(stores: stores, nanoseconds: nanoseconds, error: error) }

    package init(
        stores: [EventStore], nanoseconds: Int64, error: (any Error)? = nil, changes: Changes, sequence: UInt64? = nil,
        waited: Duration = .zero, isToParent: Bool = false, retries: Int = 0
    ) {
        self.stores = stores
        self.nanoseconds = nanoseconds
        self.error = error
        self.changes = changes
        self.sequence = sequence
        self.waited = waited
        self.isToParent = isToParent
        self.retries = retries
    }
}

/// A batch request.
package struct BatchEvent {
    package enum Operation: String {
        case insert, update, delete
    }

    package var work: StoreWork
    package var operation: Operation
    package var entity: String?
    /// Objects that were inserted, updated or deleted.
    package var objects: Int

    package init(work: StoreWork, operation: Operation, entity: String?, objects: Int) {
        self.work = work
        self.operation = operation
        self.entity = entity
        self.objects = objects
    }
}

/// A save met others' changes of the same objects, or values that must be unique.
package struct ConflictEvent {
    package var store: EventStore
    package var objects: Int
    /// Some of the objects, which of their properties others have set and this save sets, and in which transaction; of
    /// values that must be unique, whose they are. No values.
    package var names: [String]
    package var uniqueValues: Int
    /// How often this save has met conflicts, from 1.
    package var attempt: Int
    /// Whether the merge policy has resolved it, so that the save is tried again.
    package var isResolved: Bool

    /// What it is about, in one line.
    package var summary: String {
        let more = objects + uniqueValues - names.count
        return (names + (more > 0 ? ["\(more) more"] : [])).joined(separator: "; ")
    }

    package init(
        store: EventStore, objects: Int, names: [String] = [], uniqueValues: Int, attempt: Int, isResolved: Bool
    ) {
        self.store = store
        self.objects = objects
        self.names = names
        self.uniqueValues = uniqueValues
        self.attempt = attempt
        self.isResolved = isResolved
    }
}

/// The disk was told to keep what had been written.
package struct FlushEvent {
    package var work: StoreWork
    /// Transactions, and the log's other records.
    package var records: Int
    package var bytes: Int

    package init(work: StoreWork, records: Int, bytes: Int) {
        self.work = work
        self.records = records
        self.bytes = bytes
    }
}

/// The rows of many faults were looked up together.
package struct FaultEvent {
    package var work: StoreWork
    package var entity: String?
    package var rows: Int
    /// Whether a request asked for it by `relationshipKeyPathsForPrefetching`.
    package var isPrefetch: Bool

    package init(work: StoreWork, entity: String?, rows: Int, isPrefetch: Bool) {
        self.work = work
        self.entity = entity
        self.rows = rows
        self.isPrefetch = isPrefetch
    }
}

/// Somebody waited for others.
package struct WaitEvent {
    package enum Reason: String {
        /// A long fetch, for others to have had their turn.
        case scan
        /// A save, for those that are being written.
        case commit
    }

    package var reason: Reason
    /// The stores that were waited for.
    package var stores: [EventStore]
    package var duration: Duration

    package init(reason: Reason, stores: [EventStore], duration: Duration) {
        self.reason = reason
        self.stores = stores
        self.duration = duration
    }
}

/// Segments of a log were compacted away.
package struct CompactionEvent {
    package var work: StoreWork
    package var segments: Int
    package var freedBytes: Int
    package var writtenBytes: Int

    package init(work: StoreWork, segments: Int, freedBytes: Int, writtenBytes: Int) {
        self.work = work
        self.segments = segments
        self.freedBytes = freedBytes
        self.writtenBytes = writtenBytes
    }
}

/// A reader has brought in what another process had written.
package struct FollowEvent {
    package var store: EventStore
    package var transactions: Int
    /// From the newest commit that was brought in until now.
    package var lag: Duration

    package init(store: EventStore, transactions: Int, lag: Duration) {
        self.store = store
        self.transactions = transactions
        self.lag = lag
    }
}

/// A shipper has asked something of its bucket, or could not ship what was compacted away.
package struct ShippingEvent {
    package enum Kind {
        /// One request, its retries included: `get`, `head`, `put`, `upload`, `list` or `delete`; and `ok`, or why it
        /// was not answered as asked.
        case request(operation: String, result: String)
        case gap
    }

    package var store: EventStore
    package var kind: Kind

    package init(store: EventStore, kind: Kind) {
        self.store = store
        self.kind = kind
    }
}

/// A place of a store cannot be read. Told once a place.
package struct DamageEvent {
    package var store: EventStore
    package var error: any Error

    package init(store: EventStore, error: any Error) {
        self.store = store
        self.error = error
    }
}
