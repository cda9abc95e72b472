internal import StrataLog
public import StrataObjectStore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How a log is shipped.
public struct ShipOptions: Sendable {
    /// How often the store is looked at for something new. Nothing is asked of the bucket when there is nothing.
    public var interval = Duration.seconds(1)
    /// For how long what is left is shipped when a shipper is stopped, or its task cancelled.
    public var stopMaximum = Duration.seconds(30)
    /// The most bytes of log in one piece, but for a single record that is longer. Not more than 32 MiB, as
    /// which more counts.
    public var pieceMaximumBytes = 8 << 20
    /// A checkpoint is shipped when the newest one in the bucket lies so many bytes of log behind.
    public var checkpointLogBytes = 64 << 20
    /// Sealed segments up to this length are shipped whole, too, so that a restore reads one object.
    public var wholeMaximumBytes = 256 << 20
    /// Compaction leaves so many bytes of log alone that have not been shipped yet, and beyond that the segment that
    /// the bucket ends in; 0 for neither.
    public var slotMaximumBytes: Int64 = 1 << 30
    /// What the bucket is encrypted with, from its first object on; nil if it is not.
    public var cipher: (any ObjectCipher)?
    /// Ships to a bucket without conditional writes. Two shippers at once then destroy what is in it.
    public var onlyWriter = false
    /// Ships to a bucket in place of another store that has shipped there, or after the file beside this one was lost
    /// that says that it has. The other one's shipper is fenced. The logs have to fit together all the same.
    public var takesOver = false
    /// What is kept in the bucket; nil for every state. Pieces of segments that are there whole, too, go in any case.
    public var retention: ShipRetention?
    /// Who ships, for people who read the head: by default the host's name and the process number.
    public var name = Self.processName
    /// Nanoseconds since 1970, for what the head and gauges say, and for when the head is looked at and the bucket
    /// collected. What is shipped does not depend on it.
    public var clock: @Sendable () -> Int64 = LogOptions().clock

    /// The defaults.
    public init() {}

    private static var processName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "process \(getpid())" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(String(decoding: bytes, as: UTF8.self)), process \(getpid())"
    }
}

/// What is kept in a bucket.
public struct ShipRetention: Sendable, Hashable {
    /// States of at least so long can be restored, if ``byteMaximum`` allows it.
    public var age: Duration
    /// Older states go, however young they are, when segments of the log hold more bytes in the bucket; nil for no
    /// limit. What the newest states need stays in any case, and what goes stays for ``grace``.
    public var byteMaximum: Int64?
    /// What nothing needs any more stays for so long, for restores and followers that are reading it.
    public var grace = Self.usualGrace

    static let usualGrace = Duration.seconds(86_400)

    /// A hundred years.
    public static let unlimitedAge = Duration.seconds(36_500 * 86_400)

    /// Keeps what is needed for every state of the last `age`, if that is no more than `byteMaximum`.
    public init(age: Duration = unlimitedAge, byteMaximum: Int64? = nil) {
        self.age = age
        self.byteMaximum = byteMaximum
    }
}

/// How far a log has been shipped.
public struct ShipStatus: Sendable, Hashable {
    /// The last transaction in the bucket.
    public internal(set) var sequence: UInt64 = 0
    /// Bytes of log that count and are not in the bucket.
    public internal(set) var unshippedBytes: Int64 = 0
    /// For how long the oldest of these has been there, by the clocks of writer and shipper.
    public internal(set) var unshippedSeconds: Double = 0
    /// The epoch that this shipper writes; 0 before it has one.
    public internal(set) var epoch: UInt32 = 0
    /// Requests that wrote pieces of log, and the bytes in them.
    public internal(set) var pieces = 0
    public internal(set) var pieceBytes: Int64 = 0
    /// Segments, or ends of segments, that were compacted away before they were shipped.
    public internal(set) var gaps = 0
    /// The last thing that went wrong, and whether it has been got over since.
    public internal(set) var lastProblem: String?
    public internal(set) var isFailing = false
}
