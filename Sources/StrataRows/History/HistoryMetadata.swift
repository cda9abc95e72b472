import Foundation
import StrataLog

/// What tools need of the history's part of a store's metadata.
package enum HistoryMetadata {
    /// The first transaction that the history still shows.
    package static func start(_ metadata: [UInt8]) -> UInt64 { HistoryState(metadata: metadata).start }

    /// Those who have acknowledged history of a store, and those that it waits for besides; the furthest behind first.
    package static func consumers(_ log: LogStore, awaited: Set<String> = []) -> [HistoryConsumer] {
        let newest = log.snapshot.sequence
        let state = HistoryState(log)
        let consumers = Set(state.consumers.keys).union(awaited).map { name in
            let acknowledged = state.consumers[name]
            let done = acknowledged ?? state.start - 1
            return HistoryConsumer(
                name: name, acknowledged: acknowledged, behind: newest > done ? Int(clamping: newest - done) : 0)
        }
        return consumers.sorted { ($0.behind, $1.name) > ($1.behind, $0.name) }
    }

    /// The metadata for a store whose history begins anew: what was said about the old one is left out.
    package static func begunAnew(_ metadata: [UInt8]) -> [UInt8] {
        let entries = StoreMetadata.entries(metadata).filter { $0.key != HistoryState.key }
        guard let data = try? PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
        else { return [] }
        return Array(data)
    }
}

/// How far a named consumer of a store's history is.
package struct HistoryConsumer: Sendable, Hashable {
    package var name: String
    /// The last transaction that it has acknowledged; nil where the store waits for its first acknowledgement.
    package var acknowledged: UInt64?
    /// How many transactions it has yet to acknowledge.
    package var behind: Int

    package init(name: String, acknowledged: UInt64?, behind: Int) {
        self.name = name
        self.acknowledged = acknowledged
        self.behind = behind
    }
}
