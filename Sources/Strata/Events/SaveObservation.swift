import StrataLog
import StrataSupport

/// A save that somebody wants to hear of. Belongs to the save.
struct SaveObservation {
    private let began = EventInstant.now
    /// Nil until the changes have been divided by where they go.
    private var noted: Noted?

    /// What is known before the save is over.
    private struct Noted {
        var stores: [EventStore]
        var tally = Tally()
        var sequence: UInt64?
        var waited: Duration = .zero
        var isToParent: Bool
        var retries = 0
    }

    /// Records what the save writes, as long as its endings are there.
    mutating func record(_ pipeline: SavePipeline) {
        if noted != nil { return }
        if let parent = pipeline.parent {
            var tally = Tally()
            tally.add(parent.changes)
            noted = Noted(stores: [], tally: tally, isToParent: true)
            return
        }
        let endings = pipeline.stores
        if endings.isEmpty { return }
        var made = Noted(stores: Self.stores(endings), isToParent: false)
        var receipts = 0
        for ending in endings {
            made.tally.add(ending.changes)
            made.retries += ending.attempts
            guard let receipt = ending.receipt else { continue }
            receipts += 1
            made.waited += receipt.waited
            made.sequence = receipt.sequence
        }
        if receipts > 1 { made.sequence = nil }
        noted = made
    }

    /// Each store once, in the order of their paths; mostly there is one.
    private static func stores(_ endings: [StoreEnding]) -> [EventStore] {
        if endings.count == 1 { return endings[0].handle.eventStores }
        return Set(endings.map { $0.handle.eventStores[0] }).sorted { $0.path < $1.path }
    }

    /// Tells of the save, unless there was nothing to write.
    func end(_ pipeline: SavePipeline, _ error: (any Error)?) {
        let nanoseconds = EventInstant.now.nanoseconds(since: began)
        if noted == nil, error == nil { return }
        var noted = noted ?? Noted(stores: [], isToParent: false)
        if noted.stores.isEmpty { noted.stores = pipeline.context.coordinator?.eventStores ?? [] }
        let tally = noted.tally
        EventHub.tell(
            .save(
                SaveEvent(
                    work: StoreWork(stores: noted.stores, nanoseconds: nanoseconds, error: error), entity: tally.entity,
                    inserted: tally.inserted, updated: tally.updated, deleted: tally.deleted,
                    sequence: noted.sequence, waited: noted.waited, isToParent: noted.isToParent,
                    retries: noted.retries)))
    }

    /// Counts objects, and tells whether they are of one entity.
    private struct Tally {
        var inserted = 0
        var updated = 0
        var deleted = 0
        private var shape: EntityShape?
        private var isMixed = false

        var entity: String? { isMixed ? nil : shape?.name }

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
