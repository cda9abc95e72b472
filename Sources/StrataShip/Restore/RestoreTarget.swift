/// Which state of a log is restored.
public enum RestoreTarget: Sendable, Hashable {
    /// The last one that is in the bucket.
    case newest
    /// The one after a transaction.
    case transaction(UInt64)
    /// The longest beginning of the log of which no record has a later time, in nanoseconds since 1970. Clocks that
    /// were set back do not make it jump over what was written before.
    case time(Int64)
}

/// What a restore does, or has done.
public struct RestorePlan: Sendable, Hashable {
    /// A transaction and when it was committed, in nanoseconds since 1970; at the latest, where a compaction moved it
    /// before it was shipped.
    public struct Transaction: Sendable, Hashable {
        public let sequence: UInt64
        public let timestampNanoseconds: Int64
    }

    /// The last transaction of the state; nil if it has none.
    public let transaction: Transaction?
    /// The one after it that is in the bucket, too.
    public let next: Transaction?
    /// Segments of the log that are fetched.
    public let segments: Int
    /// The checkpoint that is fetched, so that less has to be replayed.
    public let checkpoint: UInt32?
    /// Objects that are read, and their bytes.
    public let objects: Int
    public let bytes: Int64
}

/// How a log is restored.
public struct RestoreOptions: Sendable {
    /// Which state.
    public var target = RestoreTarget.newest
    /// Whether the store goes on in the bucket in place of the one that was shipped, whose shipper is fenced; otherwise
    /// it is a fork, which ships elsewhere. With a target that is not the newest, what follows it no longer counts.
    public var takesOver = false
    /// Whether the whole store is checked when it is complete.
    public var verifies = true
    /// So many segments are fetched at once, 1 to 64. Each takes twice its length of memory, 128 MiB as a rule.
    public var concurrency = 4
    /// As ``ShipOptions/onlyWriter``, for taking over.
    public var onlyWriter = false
    /// Called as bytes come in, with how many of how many have come, from any thread.
    public var progress: @Sendable (_ bytes: Int64, _ of: Int64) -> Void = { _, _ in }

    /// The defaults.
    public init() {}
}
