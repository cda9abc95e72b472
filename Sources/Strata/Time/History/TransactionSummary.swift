import Foundation
import StrataSupport

/// What the history tells of a transaction besides its changes. Its changes hold it, and so can name the transaction
/// when nobody holds that any more.
final class TransactionSummary: Sendable {
    private struct Made {
        weak var transaction: NSPersistentHistoryTransaction?
    }

    let timestamp: Date
    let transactionNumber: Int64
    let storeID: String
    let contextName: String?
    let author: String?
    let writer: HistoryState.Writer
    private let made = AdaptiveMutex(Made())

    init(
        timestamp: Date, transactionNumber: Int64, storeID: String, contextName: String?, author: String?,
        writer: HistoryState.Writer
    ) {
        self.timestamp = timestamp
        self.transactionNumber = transactionNumber
        self.storeID = storeID
        self.contextName = contextName
        self.author = author
        self.writer = writer
    }

    /// The object that stands for the transaction: the one that somebody holds, else a new one, which has no changes.
    var transaction: NSPersistentHistoryTransaction {
        made.withLock { made in
            if let transaction = made.transaction { return transaction }
            let transaction = NSPersistentHistoryTransaction(self)
            made.transaction = transaction
            return transaction
        }
    }
}
