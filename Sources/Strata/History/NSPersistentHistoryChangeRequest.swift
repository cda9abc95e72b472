public import Foundation

/// Asks for what has been saved.
///
/// The log is the history: every save is in it, whether ``NSPersistentHistoryTrackingKey`` was set or not.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Not API.
    public enum _Start {
        case token(NSPersistentHistoryToken?)
        case date(Date)
    }

    let start: _Start
    /// What the result holds. Default ``NSPersistentHistoryResultType/transactionsAndChanges``.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    /// Not API.
    public required init(_start start: _Start) {
        self.start = start
    }

    /// The transactions after a time.
    open class func fetchHistory(after date: Date) -> Self { Self(_start: .date(date)) }

    /// The transactions after a token; all with nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { Self(_start: .token(token)) }

    /// The transactions after another one; all with nil.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        Self(_start: .token(transaction?.token))
    }

    /// The token that the request starts after.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = start { return token }
        return nil
    }

    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self(_start: start)
        copy.resultType = resultType
        copy.affectedStores = affectedStores
        return copy
    }
}

/// What a history request found.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// As ``resultType`` says: transactions, changes, object IDs, a count, or whether there is anything.
    public let result: Any?
    /// The form of ``result``.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, _ type: NSPersistentHistoryResultType) {
        self.result = result
        resultType = type
        super.init()
    }
}
