import Foundation
import StrataLog
import Synchronization

/// What the store's metadata keeps about its history: where it begins, and which programs wrote it.
package struct HistoryState {
    /// A program that has written to the store.
    package struct Writer: Equatable {
        /// The first transaction that may be its own.
        package var first: UInt64
        package var process: String
        package var bundle: String
    }

    /// The first transaction that has not been deleted.
    package var start: UInt64 = 1
    /// Ascending. Only one program writes to a store at a time, so each wrote everything up to the next.
    package var writers: [Writer] = []
    /// The last transaction that each named consumer has acknowledged.
    package var consumers: [String: UInt64] = [:]

    /// More programs than these that took turns are forgotten, oldest first: metadata has to stay small.
    static let maximumWriters = 256
    package static let key = StoreMetadata.privatePrefix + "History"

    package init(_ log: LogStore) {
        self.init(metadata: log.metadata)
        // What compaction has dropped is gone, whatever the metadata says.
        start = max(start, log.historyFloor + 1)
    }

    package init(metadata: [UInt8]) {
        let state = StoreMetadata.entries(metadata)[Self.key] as? [String: Any] ?? [:]
        start = (state["start"] as? NSNumber)?.uint64Value ?? 1
        consumers = (state["consumers"] as? [String: NSNumber] ?? [:]).mapValues(\.uint64Value)
        writers = (state["writers"] as? [[String: Any]] ?? []).compactMap { entry in
            guard let first = entry["first"] as? NSNumber, let process = entry["process"] as? String,
                let bundle = entry["bundle"] as? String
            else { return nil }
            return Writer(first: first.uint64Value, process: process, bundle: bundle)
        }
    }

    private var plist: [String: Any] {
        [
            "start": NSNumber(value: start), "consumers": consumers.mapValues { NSNumber(value: $0) },
            "writers": writers.map { writer -> [String: Any] in
                ["first": NSNumber(value: writer.first), "process": writer.process, "bundle": writer.bundle]
            },
        ]
    }

    /// Changes what is stored. Durable when it returns; nothing is written if nothing changed.
    package static func update(_ log: LogStore, _ change: (inout HistoryState) -> Bool) throws {
        try StoreMetadata.update(log) { entries in
            var state = HistoryState(log)
            guard change(&state) else { return false }
            entries[key] = state.plist
            return true
        }
        // Compaction may drop what nobody can ask for any more.
        var retention = log.retention
        retention.historyFloor = HistoryState(log).start - 1
        log.setRetention(retention)
    }

    /// Remembers that from now on this program writes.
    package static func recordWriter(_ handle: StoreHandle) throws {
        if handle.isReadOnly { return }
        do {
            try update(handle.log) { state in
                let new = current(from: handle.log.snapshot.sequence + 1)
                if let last = state.writers.last, last.process == new.process, last.bundle == new.bundle {
                    return false
                }
                state.writers = (state.writers + [new]).suffix(maximumWriters)
                return true
            }
        } catch let error as StoreError {
            throw StoreFailure.opening(error, handle.path)
        }
    }

    private static func current(from sequence: UInt64) -> Writer {
        let process = ProcessInfo.processInfo.processName
        return Writer(first: sequence, process: process, bundle: Bundle.main.bundleIdentifier ?? process)
    }

    /// Who wrote a transaction: this program if nothing is known.
    package func writer(of sequence: UInt64) -> Writer {
        writers.last { $0.first <= sequence } ?? Self.current(from: 0)
    }

    package static func expired(_ text: String) -> any Error {
        DescribedError(
            CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError),
            userInfo: [NSLocalizedDescriptionKey: text])
    }
}
