/// What the peers' protocol asks of a store beyond what every contestant does.
public protocol BenchStore: Contestant {
    /// Folds what is only in the log's tail into its resting form, where the store has such a step: the size on disk
    /// is looked at afterwards.
    func settle() throws

    /// Changes the score of rows in one transaction that is durable when the call returns.
    func updateScores(_ changes: [(id: UInt64, score: Double)]) throws

    /// Visits the persons of a department; returns how many, with the digest of their names.
    ///
    /// - Parameter decodesAll: read every field of each, as a peer that makes whole records does.
    func traverse(department: Int, decodesAll: Bool) throws -> (count: Int, digest: UInt64)

    /// Makes an ordered index on age and name, and waits until it is there.
    func buildIndex() throws

    /// The first 100 persons of an age by name, a page at a time as a list shows them.
    ///
    /// - Returns: for each page the digest of all fields of its persons, added up; 0 when only their IDs are asked for.
    func readPages(_ count: Int, idsOnly: Bool) throws -> UInt64

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
