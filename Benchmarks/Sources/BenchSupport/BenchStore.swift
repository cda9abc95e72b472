/// What the peers' protocol asks of a store beyond what every contestant does.
public protocol BenchStore: IndexedReads, UpdatingStore {
    /// Folds what is only in the log's tail into its resting form, where the store has such a step: the size on disk
    /// is looked at afterwards.
    func settle() throws

    /// What the store's caches did so far, for people to read; empty when the store does not tell.
    var statisticsText: String { get }
}

/// When a commit returns.
public enum Flushing: String, CaseIterable, Sendable {
    /// After its bytes are on the disk.
    case full = "FULL"
    /// After they were written; they are flushed at most 100 ms later.
    case interval = "INTERVAL"
    /// After they were written; the system flushes when it likes.
    case system = "OS"
}
