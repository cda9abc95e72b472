/// Which slots a program reads of the objects whose faults fire, found out from one object in sixteen: those are what
/// is worth having in the processor's caches before the next fault fires.
struct ReadSampling {
    private static let interval = 16

    /// The slots that were read lately, as bits; slots from 64 on are left out.
    private(set) var wanted: UInt64 = 0
    private var gathering: UInt64 = 0
    private var previous: UInt64 = 0
    private var fired = 0

    /// A fault fires. Whether its object is one to learn from.
    @inline(__always)
    mutating func isSample() -> Bool {
        fired &+= 1
        guard fired % Self.interval == 1 else { return false }
        // What was read of either of the last two.
        wanted = gathering | previous
        previous = gathering
        gathering = 0
        return true
    }

    /// A slot of a sample is read. Whether that was known: the sample has been read once, then.
    mutating func learn(_ slot: Int) -> Bool {
        guard slot < 64 else { return true }
        let bit = 1 << UInt64(slot) as UInt64
        if gathering & bit != 0 { return true }
        gathering |= bit
        return false
    }
}
