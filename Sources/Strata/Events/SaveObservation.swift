import StrataLog
import StrataSupport

/// A save that somebody wants to hear of. Belongs to the save.
struct SaveObservation {
    private let began = EventInstant.now
    /// Nil until the changes have been divided by where they go. How long the save took and why it failed is added at
    /// its end.
    private var event: SaveEvent?

    /// Records what the save writes, as long as its endings are there.
    mutating func record(_ pipeline: SavePipeline) {
        if event != nil { return }
        if let parent = pipeline.parent {
            event = Self.event([], Tally(parent.changes), isToParent: true)
            return
        }
        let endings = pipeline.stores
        if endings.isEmpty { return }
        var tally = Tally()
        var (sequence, waited, receipts, retries) = (UInt64?.none, Duration.zero, 0, 0)
        for ending in endings {
            tally.add(ending.changes)
            retries += ending.attempts
            guard let receipt = ending.receipt else { continue }
            receipts += 1
            waited += receipt.waited
            sequence = receipt.sequence
        }
        event = Self.event(
            Self.stores(endings), tally, sequence: receipts > 1 ? nil : sequence, waited: waited, retries: retries)
    }

    /// Each store once, in the order of their paths; mostly there is one.
    private static func stores(_ endings: [StoreEnding]) -> [EventStore] {
        if endings.count == 1 { return endings[0].handle.eventStores }
        return Set(endings.map { $0.handle.eventStores[0] }).sorted { $0.path < $1.path }
    }

    private static func event(
        _ stores: [EventStore], _ tally: Tally, sequence: UInt64? = nil, waited: Duration = .zero,
        isToParent: Bool = false, retries: Int = 0
    ) -> SaveEvent {
        SaveEvent(
            work: StoreWork(stores: stores, nanoseconds: 0), entity: tally.entity, inserted: tally.inserted,
            updated: tally.updated, deleted: tally.deleted, sequence: sequence, waited: waited, isToParent: isToParent,
            retries: retries)
    }

    /// Tells of the save, unless there was nothing to write.
    ///
    /// - Parameter parts: what was part of it.
    mutating func end(_ pipeline: SavePipeline, _ error: (any Error)?, with parts: EventParts) {
        let nanoseconds = EventInstant.now.nanoseconds(since: began)
        if error != nil { record(pipeline) }
        guard let event = event ?? (error == nil ? nil : Self.event([], Tally())) else { return EventHub.tell(parts) }
        event.end(nanoseconds, error)
        if event.work.stores.isEmpty { event.work.stores = pipeline.context.coordinator?.eventStores ?? [] }
        EventHub.tell(.save(event), with: parts)
    }

    /// Counts objects, and tells whether they are of one entity.
    private struct Tally {
        var inserted = 0
        var updated = 0
        var deleted = 0
        private var shape: EntityShape?
        private var isMixed = false

        var entity: String? { isMixed ? nil : shape?.name }

        init() {}

        init(_ changes: ObjectChanges) { add(changes) }

        mutating func add(_ changes: ObjectChanges) {
            inserted += add(changes.inserted)
            updated += add(changes.updated)
            deleted += add(changes.deleted)
        }

        private mutating func add(_ objects: ContiguousArray<NSManagedObject>) -> Int {
            objects.forEachUnretained { object in
                if isMixed { return }
                if shape == nil { shape = object.shape }
                isMixed = shape !== object.shape
            }
            return objects.count
        }
    }
}
