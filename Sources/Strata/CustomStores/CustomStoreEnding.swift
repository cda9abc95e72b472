import StrataLog

/// The part of a save that goes to a store of the program's own, and then to the log in memory that stands behind it.
final class CustomStoreEnding: StoreEnding {
    private let custom: CustomStore

    init(_ context: NSManagedObjectContext, _ handle: StoreHandle, _ storeIndex: UInt16, _ custom: CustomStore) {
        self.custom = custom
        super.init(context, handle, storeIndex)
    }

    /// The store has its own ways to wait, so that nothing takes the save back.
    override func commit(_ transaction: WriteTransaction, _ control: RequestControl?) throws -> CommitReceipt? {
        try custom.withLock { try custom.saveAndCommit(transaction, self) }
    }

    override var ownsReferences: Bool { custom.keepsAllRows }

    /// The store sees to that itself: its log may not have the object's row.
    override func requireExistence(of object: NSManagedObject, _ transaction: WriteTransaction) {}
}
