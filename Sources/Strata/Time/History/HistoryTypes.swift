/// What a history entry says about an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// It was inserted.
    case insert = 0
    /// It was changed.
    case update = 1
    /// It was deleted.
    case delete = 2
}

/// What a history request returns.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether it succeeded.
    case statusOnly = 0
    /// The identifiers of the changed objects.
    case objectIDs = 1
    /// How many changes there are.
    case count = 2
    /// Transactions without their changes.
    case transactionsOnly = 3
    /// Changes without their transactions.
    case changesOnly = 4
    /// Transactions with their changes.
    case transactionsAndChanges = 5
}
