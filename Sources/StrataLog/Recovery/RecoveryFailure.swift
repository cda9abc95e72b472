/// What an error means while a store is recovered.
enum RecoveryFailure: Error {
    /// The log is damaged or cannot be read: opening ends with this error.
    case fatal(StoreError)
    /// A checkpoint is of no use: recovery goes on without it.
    case checkpoint(StoreError)

    init(_ error: StoreError) {
        self = error.isOfCheckpoint ? .checkpoint(error) : .fatal(error)
    }
}
