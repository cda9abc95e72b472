/// The kind of queue that a context's work runs on.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// On the thread that made the context.
    @available(*, deprecated, message: "Use privateQueueConcurrencyType or mainQueueConcurrencyType.")
    case confinementConcurrencyType = 0
    /// On a queue of the context's own.
    case privateQueueConcurrencyType = 1
    /// On the main queue.
    case mainQueueConcurrencyType = 2
}
