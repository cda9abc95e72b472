import Foundation
import StrataLog

/// What tools need of the history's part of a store's metadata.
package enum HistoryMetadata {
    /// The first transaction that the history still shows.
    package static func start(_ metadata: [UInt8]) -> UInt64 { HistoryState(metadata: metadata).start }

    /// The metadata for a store whose history begins anew: what was said about the old one is left out.
    package static func begunAnew(_ metadata: [UInt8]) -> [UInt8] {
        let entries = StoreMetadata.entries(metadata).filter { $0.key != HistoryState.key }
        guard let data = try? PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
        else { return [] }
        return Array(data)
    }
}

extension NSPersistentHistoryToken {
    /// The token after a transaction of a store; nil if the store has no such transaction.
    package func at(transaction number: Int64, of store: NSPersistentStore) -> NSPersistentHistoryToken? {
        guard number >= 0, let uuid = store.identifier, let newest = sequences[uuid], UInt64(number) <= newest else {
            return nil
        }
        return NSPersistentHistoryToken([uuid: UInt64(number)])
    }

    /// The number of the last transaction of a store that the token covers; nil if it is not one of the store's.
    package func transactionNumber(of store: NSPersistentStore) -> Int64? {
        store.identifier.flatMap { sequences[$0] }.map { Int64($0) }
    }
}
