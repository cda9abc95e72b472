import StrataLog
import StrataSupport

/// A save that somebody wants to hear of. Belongs to the save.
final class SaveObservation {
    private let began = EventInstant.now
    /// Nil until the changes have been divided by where they go.
    private var event: SaveEvent?

    /// Records what the save writes, as long as its endings are there.
    func record(_ pipeline: SavePipeline) {
        if event != nil || (pipeline.stores.isEmpty && pipeline.parent == nil) { return }
        var tally = Tally()
        var made = SaveEvent(
            work: StoreWork(stores: [], duration: .zero), entity: nil, inserted: 0, updated: 0, deleted: 0,
            sequence: nil, waited: .zero, isToParent: pipeline.parent != nil, retries: 0)
        if let parent = pipeline.parent {
            tally.add(parent.changes)
        } else {
            for ending in pipeline.stores { tally.add(ending.changes) }
        }
        var receipts = 0
        for ending in pipeline.stores {
            made.retries += ending.attempts
            guard let receipt = ending.receipt else { continue }
            receipts += 1
            made.waited += receipt.waited
            made.sequence = receipt.sequence
        }
        if receipts > 1 { made.sequence = nil }
        made.work.stores = Self.stores(pipeline.stores)
        made.entity = tally.entity
        (made.inserted, made.updated, made.deleted) = (tally.inserted, tally.updated, tally.deleted)
        event = made
    }

    /// Each store once, in the order of their paths; mostly there is one.
    private static func stores(_ endings: [StoreEnding]) -> [EventStore] {
        if endings.count == 1 { return endings[0].handle.eventStores }
        return Set(endings.map { $0.handle.eventStores[0] }).sorted { $0.path < $1.path }
    }

    /// Tells of the save, unless there was nothing to write.
    func end(_ pipeline: SavePipeline, _ error: (any Error)?) {
        let duration = Duration.nanoseconds(EventInstant.now.nanoseconds(since: began))
        if event == nil, error == nil { return }
        var told =
            event
            ?? SaveEvent(
                work: StoreWork(stores: [], duration: duration), entity: nil, inserted: 0, updated: 0, deleted: 0,
                sequence: nil, waited: .zero, isToParent: false, retries: 0)
        if told.work.stores.isEmpty { told.work.stores = pipeline.context.coordinator?.eventStores ?? [] }
        (told.work.duration, told.work.error) = (duration, error)
        EventHub.tell(.save(told))
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
