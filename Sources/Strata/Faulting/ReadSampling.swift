import Synchronization

/// Which slots a program reads of the objects whose faults fire, found out from one object in sixteen: those are what
/// is worth having in the processor's caches before the next fault fires.
struct ReadSampling {
    private static let interval = 16
    /// A context that has learned from so many objects knows better than those before it.
    private static let experience = 8

    /// The slots that were read lately, as bits; slots from 64 on are left out.
    private(set) var wanted: UInt64 = 0
    private var gathering: UInt64 = 0
    private var previous: UInt64 = 0
    /// What earlier contexts have learned.
    private var inherited: UInt64 = 0
    private var fired = 0
    private var sampleCount = 0

    /// Begins with what earlier contexts have learned: one that serves a request ends before it has learned much.
    ///
    /// - Parameter turn: counts contexts, so that not each of them learns from its first object.
    mutating func begin(with known: borrowing Atomic<UInt64>, turn: Int) {
        let slots = known.load(ordering: .relaxed)
        if slots == 0 { return }
        (wanted, inherited) = (slots, slots)
        fired = turn % Self.interval
    }

    /// Leaves to later contexts what has been learned.
    func end(_ known: borrowing Atomic<UInt64>) {
        let learned = gathering | previous
        let slots = known.load(ordering: .relaxed)
        let all = sampleCount < Self.experience ? slots | learned : learned
        // Mostly nothing is new, and a word that is written is fetched anew by every core.
        if all != slots { known.store(all, ordering: .relaxed) }
    }

    /// A fault fires. Whether its object is one to learn from.
    @inline(__always)
    mutating func isSample() -> Bool {
        fired &+= 1
        guard fired % Self.interval == 1 else { return false }
        sampleCount &+= 1
        if sampleCount == Self.experience { inherited = 0 }
        // What was read of either of the last two.
        wanted = gathering | previous | inherited
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
