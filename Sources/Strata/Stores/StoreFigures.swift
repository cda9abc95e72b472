import StrataLog

/// What can be said of a store at any time, without reading it: for those who watch over it.
package struct StoreFigures: Sendable {
    /// Whether it is a log on a disk.
    package var isOnDisk: Bool
    /// Places that could not be read; see ``StoreDamage``.
    package var damagedPlaces: Int
    /// Whether a failure of the disk has made it read-only until it is opened again.
    package var refusesWrites: Bool
    /// The consumers of the history.
    package var consumers: [HistoryConsumer]
    /// How many transactions each of them is behind.
    package var consumerLags: [String: Int] {
        Dictionary(uniqueKeysWithValues: consumers.map { ($0.name, $0.behind) })
    }

    init(_ handle: StoreHandle, isInMemory: Bool) {
        isOnDisk = handle.custom == nil && !isInMemory
        damagedPlaces = handle.log.damage.entries.count
        refusesWrites = handle.log.refusesWrites
        consumers =
            handle.custom == nil
            ? HistoryMetadata.consumers(handle.log, awaited: handle.retention?.policy.consumers ?? []) : []
    }
}

extension NSPersistentStore {
    /// Nil for a store that no coordinator has.
    package final var figures: StoreFigures? {
        handle.map { StoreFigures($0, isInMemory: StoreOpening.isInMemory(type, url)) }
    }

    /// The log of a store on a disk; nil for others, and for one that no coordinator has.
    package final var logOnDisk: LogStore? {
        guard let handle, handle.custom == nil, !StoreOpening.isInMemory(type, url) else { return nil }
        return handle.log
    }
}
