public import Foundation

/// Asks for what has been saved, or deletes the record of it.
///
/// The log is the history: every save is in it, whether ``NSPersistentHistoryTrackingKey`` was set or not.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
/// for change in transactions.flatMap({ $0.changes ?? [] }) {
///     print("\(change.changeType) \(change.changedObjectID)")
/// }
/// return transactions.last?.token ?? token
/// ```
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Not API.
    public enum _Bound {
        case token(NSPersistentHistoryToken?)
        case date(Date)
    }

    let bound: _Bound
    /// Whether the history before the bound is deleted, instead of that after it being fetched.
    let deletes: Bool
    /// What the result holds. Default ``NSPersistentHistoryResultType/transactionsAndChanges`` for a request that
    /// fetches, ``NSPersistentHistoryResultType/statusOnly`` for one that deletes.
    open var resultType: NSPersistentHistoryResultType
    /// Narrows down what is fetched: a request for ``NSPersistentHistoryTransaction/entityDescription`` or
    /// ``NSPersistentHistoryChange/entityDescription``. Its predicate, order, offset and limit count. Of a
    /// request that deletes the predicate counts: history is deleted up to the first transaction that it leaves out.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// Not API.
    public required init(_bound bound: _Bound, deletes: Bool) {
        self.bound = bound
        self.deletes = deletes
        resultType = deletes ? .statusOnly : .transactionsAndChanges
    }

    /// The transactions after a time.
    open class func fetchHistory(after date: Date) -> Self { Self(_bound: .date(date), deletes: false) }

    /// The transactions after a token; all with nil.
    ///
    /// Executing it throws `CocoaError` 134301 when what came after the token has been deleted, or the token is of
    /// another store.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        Self(_bound: .token(token), deletes: false)
    }

    /// The transactions after another one; all with nil.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        Self(_bound: .token(transaction?.token), deletes: false)
    }

    /// The transactions, or changes, that a fetch request describes; see ``fetchRequest``.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = Self(_bound: .token(nil), deletes: false)
        request.fetchRequest = fetchRequest
        return request
    }

    /// Deletes the transactions that were made before a time.
    ///
    /// They are gone for every request from then on, also after the store has been opened again. Their space in the log
    /// is not given back yet.
    open class func deleteHistory(before date: Date) -> Self { Self(_bound: .date(date), deletes: true) }

    /// Deletes the transactions before the one that the token names, which stays; all with nil.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        Self(_bound: .token(token), deletes: true)
    }

    /// Deletes the transactions before another one, which stays; all with nil.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        Self(_bound: .token(transaction?.token), deletes: true)
    }

    /// The token that the request starts after or deletes before.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { return token }
        return nil
    }

    /// A copy with the same settings.
    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self(_bound: bound, deletes: deletes)
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest
        copy.affectedStores = affectedStores
        copy.timeLimit = timeLimit
        return copy
    }
}

/// What a history request found.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// As ``resultType`` says: transactions, changes, object IDs, or the number of changes; true for the status, and
    /// for a request that deletes.
    open var result: Any? { held }
    private let held: Any?
    /// The form of ``result``.
    open var resultType: NSPersistentHistoryResultType { type }
    private let type: NSPersistentHistoryResultType

    /// A result of nothing, for subclasses that stand in for one.
    override public init() {
        (held, type) = (nil, .statusOnly)
        super.init()
    }

    init(_ result: Any?, _ type: NSPersistentHistoryResultType) {
        held = result
        self.type = type
        super.init()
    }
}
