/// How commits keep step with the compaction that goes on beside them: how much garbage there is too much, and what a
/// commit that adds to it owes for that.
///
/// A debt meter rather than a barrier, see docs/compaction.md. What a commit owes is the time in which compaction frees
/// as many bytes as the commit has replaced, and of that the share which the excess asks for: nothing up to ``grace``,
/// all of it from ``full`` on. So each commit waits a little, in proportion to what it does to the store, and none
/// waits for what others have done: a commit that deletes or inserts replaces no bytes and goes on at once. Where all
/// is paid, compaction frees at least what is written.
struct CompactionPace: Sendable {
    /// Used over needed, above what compaction aims at, up to which nobody waits: what is moved lies on the disk twice
    /// for a while, and whoever writes meanwhile is not to feel it.
    static let grace = 0.17
    /// The same, from which on commits wait for all that they owe.
    static let full = 0.33
    /// A commit never waits longer than this, unless it took longer itself.
    static let maximumNanoseconds = 10_000_000.0
    /// Until it is known: 50 MB a second.
    private static let assumedNanosecondsPerByte = 20.0
    /// What counts of the past with each batch.
    private static let memory = 0.75

    private var nanoseconds = 0.0
    private var byteCount = 0.0

    /// Nanoseconds that compaction has lately taken to free a byte, those not counted that it wrote itself.
    var nanosecondsPerByte: Double {
        byteCount > 0 ? nanoseconds / byteCount : Self.assumedNanosecondsPerByte
    }

    /// A batch of segments was compacted away.
    ///
    /// - Parameters:
    ///   - freed: bytes of the segments.
    ///   - written: bytes that were appended to the log for it.
    mutating func record(freed: Int, written: Int, nanoseconds taken: Double) {
        nanoseconds = nanoseconds * Self.memory + taken
        byteCount = byteCount * Self.memory + Double(max(0, freed - written))
    }

    /// What of its debt a commit pays now, 0 to 1.
    ///
    /// - Parameter target: what is needed over what is used, at which compaction aims.
    static func share(used: Int, needed: Int, target: Double) -> Double {
        guard needed > 0 else { return 0 }
        let excess = Double(used) / Double(needed) - 1 / target
        return min(max((excess - grace) / (full - grace), 0), 1)
    }

    /// How long a commit waits.
    ///
    /// - Parameters:
    ///   - replaced: bytes of the rows it has written in place of others.
    ///   - taken: nanoseconds that it took.
    func delay(replaced: Int, share: Double, after taken: Double) -> Double {
        min(Double(replaced) * nanosecondsPerByte * share, max(taken, Self.maximumNanoseconds))
    }
}
