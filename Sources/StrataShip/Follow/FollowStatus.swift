/// How far a follower has come.
public struct FollowStatus: Sendable {
    /// The last transaction that can be read.
    public internal(set) var sequence: UInt64
    /// The latest time of any record up to it, by the writer's clock, in nanoseconds since 1970.
    public internal(set) var time: Int64
    /// How long ago the bucket last said that there is nothing newer, or gave what is newer: so old is what is read, at
    /// most. Nil if it has not been reached since the start.
    public internal(set) var age: Duration?
    /// Why the bucket cannot be read at the moment; nil if the last request was answered.
    public internal(set) var error: ShipError?
    /// Bytes of the cache.
    public internal(set) var cachedBytes: Int
    /// Bytes of the log and its checkpoints in the bucket.
    public internal(set) var shippedBytes: Int
    /// Whether all of them are in the cache, so that reads need no bucket.
    public internal(set) var isWhollyCached: Bool
}
