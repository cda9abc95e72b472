import Foundation
import StrataLog

extension StoreReader {
    /// A transaction of the persistent history.
    package struct Transaction {
        package let number: UInt64
        package let date: Date
        package let author: String?
        package let contextName: String?
        /// The program that wrote it; nil where that is not known.
        package let process: String?
        package let bundle: String?
        package let groups: [ChangeGroup]
        /// Objects of which nothing has changed but relationships that are to-many at both ends, or have no inverse:
        /// their rows do not have them.
        package let linked: [ObjectRef]
    }

    /// Hands out what the history has, in order.
    ///
    /// - Throws: what `body` throws; `CocoaError` when something cannot be read.
    package func forEachTransaction(_ body: (Transaction) throws -> Void) throws {
        let state = HistoryState(log)
        do {
            var reader = try log.history(after: state.start - 1)
            let links = LinkHistory(map, log)
            while let entry = try reader.next() {
                let writer = state.writers.last { $0.first <= entry.sequence }
                var linked = Set(try links.changed(by: entry).keys)
                if !linked.isEmpty {
                    for group in entry.groups {
                        for key in group.keys { linked.remove(ObjectRef(entity: group.entity, key: key)) }
                    }
                }
                try body(
                    Transaction(
                        number: entry.sequence, date: HistoryDates.date(entry), author: entry.author,
                        contextName: entry.contextName, process: writer?.process, bundle: writer?.bundle,
                        groups: entry.groups, linked: linked.sorted()))
            }
        } catch let error as StoreError {
            throw StoreFailure.opening(error, path)
        }
    }
}
