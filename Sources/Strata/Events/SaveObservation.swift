import StrataLog
import StrataSupport

/// A save that somebody wants to hear of. Belongs to the save.
final class SaveObservation {
    private let began = ContinuousClock.now
    /// Nil until the changes have been divided by where they go.
    private var event: SaveEvent?

    /// Records what the save writes, as long as its endings are there.
    func record(_ pipeline: SavePipeline) {
        var lists = pipeline.stores.map(\.changes)
        if let parent = pipeline.parent { lists = [parent.changes] }
        if event != nil || lists.isEmpty { return }
        var tally = Tally()
        for changes in lists {
            tally.inserted += tally.add(changes.inserted)
            tally.updated += tally.add(changes.updated)
            tally.deleted += tally.add(changes.deleted)
        }
        let receipts = pipeline.stores.compactMap(\.receipt)
        let paths = Set(pipeline.stores.map(\.handle.path))
        event = SaveEvent(
            work: StoreWork(stores: paths.sorted(), duration: .zero), entity: tally.entity,
            inserted: tally.inserted, updated: tally.updated, deleted: tally.deleted,
            sequence: receipts.count == 1 ? receipts[0].sequence : nil,
            waited: receipts.reduce(.zero) { $0 + $1.waited }, isToParent: pipeline.parent != nil,
            retries: pipeline.stores.reduce(0) { $0 + $1.attempts })
    }

    /// Tells of the save, unless there was nothing to write.
    func end(_ pipeline: SavePipeline, _ error: (any Error)?) {
        let duration = ContinuousClock.now - began
        if event == nil, error == nil { return }
        var told =
            event
            ?? SaveEvent(
                work: StoreWork(stores: [], duration: duration), entity: nil, inserted: 0, updated: 0, deleted: 0,
                sequence: nil, waited: .zero, isToParent: false, retries: 0)
        if told.work.stores.isEmpty { told.work.stores = pipeline.context.coordinator?.storePaths ?? [] }
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

        mutating func add(_ objects: ContiguousArray<NSManagedObject>) -> Int {
            objects.forEachUnretained { object in
                if isMixed { return }
                if shape == nil { shape = object.shape }
                isMixed = shape !== object.shape
            }
            return objects.count
        }
    }
}
