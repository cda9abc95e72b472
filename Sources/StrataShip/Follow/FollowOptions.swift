public import StrataObjectStore

/// How a log in a bucket is followed.
public struct FollowOptions: Sendable {
    /// What the bucket is encrypted with; nil if it is not. The cache on this machine is not encrypted.
    public var cipher: (any ObjectCipher)?
    /// The most bytes that the cache takes on disk. If all of the log fits, it is fetched in the background, and the
    /// store is read without the bucket from then on.
    public var cacheMaximumBytes = 4 << 30
    /// How long after a change the next one is asked for.
    public var shortestPoll: Duration = .seconds(1)
    /// While nothing changes, polls become rarer up to this.
    public var longestPoll: Duration = .seconds(5)
    /// Whether a log that fits into the cache is fetched in the background.
    public var fetchesAhead = true

    /// Objects up to this are read whole; of others, the frames that are needed.
    var wholeObjectBytes = 2 << 20

    /// Follows a bucket at a poll a second, at least one in five, with a cache of 4 GiB.
    public init() {}
}
