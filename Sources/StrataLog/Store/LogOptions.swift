/// The options of opening a store.
public struct LogOptions: Sendable {
    /// Whether a store is opened to be written.
    public enum Access: Sendable {
        /// One process (and one open in it) at a time.
        case readWrite
        /// Any number, beside a writer or without. Nothing is written but a word in `TAIL`, which tells a writer that
        /// somebody follows it.
        case readOnly
    }

    /// When a commit returns, in the words of what survives.
    public enum Durability: Sendable, Hashable {
        /// Flushed before the commit returns: survives power loss. The default.
        case full
        /// Survives the process at once. A flush begins at most this many milliseconds after a commit; power loss may
        /// take what was committed before it has ended, newest first, never one from the middle.
        case interval(milliseconds: Int)
        /// Survives the process at once; power loss may take commits that the system (and Strata, every 64 MiB) has
        /// not flushed yet, newest first, never one from the middle.
        case os
    }

    /// Whether the store may be written. Default: it may.
    public var access = Access.readWrite
    /// Whether a missing store is created; otherwise opening it throws `.notFound`.
    public var createsIfMissing = true
    /// What survives when a commit has returned.
    public var durability = Durability.full
    /// Length at which the log goes on in a new file. 64 KiB to 1 GiB; a longer transaction gets a segment of its own.
    public var segmentMaximumBytes = 64 << 20
    /// Budget of the cache of decoded blocks.
    public var cacheMaximumBytes = 256 << 20
    /// How much log may have to be replayed before a checkpoint is written.
    public var checkpointTailBytes = 64 << 20
    /// Whether checkpoints are written on a thread of their own (the default) or by the commit that makes one due.
    public var checkpointsInBackground = true
    /// Smallest step in which disk space is reserved ahead of the log.
    public var preallocationMinimumBytes = 1 << 20
    /// When segments are compacted without being asked.
    public var compaction = Compaction()
    /// What compaction keeps beside the rows that are live.
    public var retention = LogRetention()
    /// How long compaction waits for transactions that refer to large values in the segments it moves; after that it
    /// leaves them for the next time.
    var compactionWaitMilliseconds = 5_000
    /// How many blocks of few rows an entity has before they are merged.
    var freshBlockDueCount = 256
    /// How much of an ordered index is in memory while it is built; the rest is in files without names.
    var indexBuildMaximumBytes = 32 << 20
    /// How much compaction writes at once.
    var compactionStepBytes = 256 << 10
    /// Logs shorter than this keep no space in reserve.
    var reserveLogMinimumBytes = 16 << 20
    /// Nanoseconds since 1970, for the times in the history. Order never depends on it.
    public var clock: @Sendable () -> Int64 = WallClock.nanosecondsSince1970
    /// The identity of a store that this open creates; nil draws one at random.
    public var newStoreUUID: StoreUUID?

    /// The defaults.
    public init() {}
}
