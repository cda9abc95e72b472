public import Foundation
import StrataSupport

/// One object's change in a transaction. May be read from any thread.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: nothing changes after the change has been handed out.

    /// Its number: greater for later changes.
    public let changeID: Int64
    /// The object.
    public let changedObjectID: NSManagedObjectID
    /// What happened to it.
    public let changeType: NSPersistentHistoryChangeType
    /// Of a deleted object, the values of attributes that are preserved in the history.
    public let tombstone: [AnyHashable: Any]?
    /// Of an updated object, the properties that were written.
    public let updatedProperties: Set<NSPropertyDescription>?
    private let summary: TransactionSummary

    init(
        changeID: Int64, changedObjectID: NSManagedObjectID, changeType: NSPersistentHistoryChangeType,
        tombstone: [AnyHashable: Any]?, updatedProperties: Set<NSPropertyDescription>?, of summary: TransactionSummary
    ) {
        self.summary = summary
        self.changeID = changeID
        self.changedObjectID = changedObjectID
        self.changeType = changeType
        self.tombstone = tombstone
        self.updatedProperties = updatedProperties
    }

    /// The transaction it belongs to.
    ///
    /// A change does not keep its transaction alive, only what it says of itself: where nobody holds the transaction,
    /// as with the result type ``NSPersistentHistoryResultType/changesOnly``, this is one whose
    /// ``NSPersistentHistoryTransaction/changes`` are nil.
    public final var transaction: NSPersistentHistoryTransaction? { summary.transaction }

    /// A description of the changes as an entity, for fetch requests: `changeID`, `changedObjectID`, `changedEntity`,
    /// `changeType`, `tombstone`, `updatedProperties` and `transaction` can be named in predicates and sort
    /// descriptors.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// As ``entityDescription``; nil for a context without coordinator.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        context.persistentStoreCoordinator == nil ? nil : HistoryEntities.change
    }

    /// A new request for changes, for ``NSPersistentHistoryChangeRequest/fetchRequest``.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryEntities.request(HistoryEntities.change)
    }

    /// The same object, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "<\(type(of: self)): \(changeID) \(changeType) of \(changedObjectID)>"
    }
}

extension NSPersistentHistoryChange: KeyValueCoding {
    /// The properties that ``entityDescription`` has.
    ///
    /// - Precondition: the key is one of them.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "changeID": NSNumber(value: changeID)
        case "changedObjectID": changedObjectID
        case "changedEntity": changedObjectID.entity
        case "changeType": NSNumber(value: changeType.rawValue)
        case "tombstone": tombstone
        case "updatedProperties": updatedProperties
        case "transaction": transaction
        case "self": self
        default:
            programmerError(
                HistoryEntities.changeName, "keypath \(key) not found", "Name a property that the entityDescription has"
            )
        }
    }
}
