/// Sizes that the peers' protocol fixes.
public enum Workload {
    /// Rows of one transaction in bulk inserts and deletes.
    public static let rowsPerBatch = 10_000
    /// Durable one-row commits.
    public static let singleCommits = 2_000
    /// One-row commits that wait for no disk, and of how many rows.
    public static let unflushedCommits = 50_000
    public static let overwrittenRows = 100_000
    /// Ordered pages that are read.
    public static let pages = 2_000
    public static let pageAge: Int16 = 42
    public static let pageCount = 100
    /// Random reads by key.
    public static let randomReads = 1_000_000
    /// Rows of the update storm, its updates, and the updates of one transaction.
    public static let stormRows = 100_000
    public static let stormUpdates = 1_000_000
    public static let stormUpdatesPerCommit = 1_000

    /// Cuts 0..<count into ranges of at most `size`.
    public static func batches(_ count: Int, of size: Int = rowsPerBatch) -> [Range<Int>] {
        stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
    }
}
