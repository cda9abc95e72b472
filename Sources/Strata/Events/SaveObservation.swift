import StrataLog
import StrataSupport

/// A save that somebody wants to hear of. Belongs to the save.
struct SaveObservation {
    private let began = EventInstant.now
    /// What the save writes, and where; empty until the changes have been divided by where they go.
    private var changes = SaveEvent.Changes()
    private var stores: [EventStore] = []
    private var sequence: UInt64?
    private var waited = Duration.zero
    private var isToParent = false
    private var retries = 0
    private var isRecorded = false
    /// That of all objects, as long as they are of one.
    private var shape: EntityShape?
    private var isMixed = false

    /// Records what the save writes, as long as its endings are there.
    mutating func record(_ pipeline: SavePipeline) {
        if isRecorded { return }
        if let parent = pipeline.parent {
            isToParent = true
            add(parent.changes)
        } else {
            let count = pipeline.stores.count
            if count == 0 { return }
            for index in 0..<count { add(pipeline.stores[index]) }
            if count > 1 {
                stores = Set(pipeline.stores.map { $0.handle.eventStores[0] }).sorted { $0.path < $1.path }
                let receipts = pipeline.stores.compactMap(\.receipt)
                sequence = receipts.count == 1 ? receipts[0].sequence : nil
            }
        }
        if !isMixed { changes.entity = shape?.name }
        isRecorded = true
    }

    private mutating func add(_ ending: StoreEnding) {
        add(ending.changes)
        stores = ending.handle.eventStores
        retries += ending.attempts
        // One by one: a receipt holds a snapshot, which a copy would count.
        if let waited = ending.receipt?.waited { self.waited += waited }
        sequence = ending.receipt?.sequence
    }

    /// Inlined: the lists are counted where they are.
    @inline(__always)
    private mutating func add(_ changes: @autoclosure () -> ObjectChanges) {
        self.changes.inserted += add(changes().inserted)
        self.changes.updated += add(changes().updated)
        self.changes.deleted += add(changes().deleted)
    }

    private mutating func add(_ objects: ContiguousArray<NSManagedObject>) -> Int {
        objects.forEachUnretained { object in
            if isMixed { return }
            if shape == nil { shape = object.shape }
            isMixed = shape !== object.shape
        }
        return objects.count
    }

    /// Tells of the save, unless there was nothing to write.
    ///
    /// - Parameter parts: what was part of it.
    mutating func end(_ pipeline: SavePipeline, _ error: (any Error)?, with parts: EventParts) {
        let nanoseconds = EventInstant.now.nanoseconds(since: began)
        if error != nil {
            record(pipeline)
        } else if !isRecorded {
            return EventHub.tell(parts)
        }
        let event = SaveEvent(
            stores: stores.isEmpty ? pipeline.context.coordinator?.eventStores ?? [] : stores, nanoseconds: nanoseconds,
            error: error, changes: changes, sequence: sequence, waited: waited, isToParent: isToParent,
            retries: retries)
        EventHub.tell(.save(event), with: parts)
    }
}
