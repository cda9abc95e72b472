public import Foundation
import StrataSupport

/// One save or batch request, as the history has it.
///
/// May be read from any thread.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: nothing changes after the transaction has been handed out.

    private let summary: TransactionSummary
    /// What it changed; nil if only transactions were asked for.
    public internal(set) var changes: [NSPersistentHistoryChange]?
    /// How many changes there were, of a transaction of which only that is wanted.
    final var changeCount = 0

    init(_ summary: TransactionSummary) {
        self.summary = summary
    }

    /// When it was saved.
    public final var timestamp: Date { summary.timestamp }
    /// Its number in the store: later ones have greater numbers.
    public final var transactionNumber: Int64 { summary.transactionNumber }
    /// The UUID of the store.
    public final var storeID: String { summary.storeID }
    /// The bundle identifier of the program that saved; its process name if it has none.
    public final var bundleID: String { summary.writer.bundle }
    /// The name of the process that saved.
    public final var processID: String { summary.writer.process }
    /// The name of the context that saved.
    public final var contextName: String? { summary.contextName }
    /// The ``NSManagedObjectContext/transactionAuthor`` of the context that saved.
    public final var author: String? { summary.author }

    /// A description of the transactions as an entity, for fetch requests: `author`, `bundleID`, `contextName`,
    /// `processID`, `storeID`, `timestamp`, `token`, `transactionNumber` and `changes` can be named in predicates and
    /// sort descriptors.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

    /// As ``entityDescription``; nil for a context without coordinator.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        context.persistentStoreCoordinator == nil ? nil : HistoryEntities.transaction
    }

    /// A new request for transactions, for ``NSPersistentHistoryChangeRequest/fetchRequest``.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryEntities.request(HistoryEntities.transaction)
    }

    /// The point in the history after this transaction.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([storeID: UInt64(transactionNumber)]) }

    /// The transaction in the form of a did-save notification with object IDs, for
    /// ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    open func objectIDNotification() -> Notification {
        var ids: [NSPersistentHistoryChangeType: Set<NSManagedObjectID>] = [:]
        for change in changes ?? [] { ids[change.changeType, default: []].insert(change.changedObjectID) }
        var info: [AnyHashable: Any] = [:]
        info[NSInsertedObjectIDsKey] = ids[.insert]
        info[NSUpdatedObjectIDsKey] = ids[.update]
        info[NSDeletedObjectIDsKey] = ids[.delete]
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
    }

    /// The same object, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "<\(type(of: self)): \(transactionNumber) of \(storeID) at \(timestamp), author \(author ?? "nil"), context "
            + "\(contextName ?? "nil"), \(changes?.count ?? 0) changes>"
    }
}

extension NSPersistentHistoryTransaction: KeyValueCoding {
    /// The properties that ``entityDescription`` has.
    ///
    /// - Precondition: the key is one of them.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "author": author
        case "bundleID": bundleID
        case "contextName": contextName
        case "processID": processID
        case "storeID": storeID
        case "timestamp": timestamp
        case "token": token
        case "transactionNumber": NSNumber(value: transactionNumber)
        case "changes": changes
        case "self": self
        default:
            programmerError(
                HistoryEntities.transactionName, "keypath \(key) not found",
                "Name a property that the entityDescription has")
        }
    }
}
