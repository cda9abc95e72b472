internal import CStrataSupport
internal import Dispatch
internal import StrataSupport
internal import Synchronization

/// The memory that a process keeps to be faster next time: decoded blocks and columns of all its stores, and threads.
/// Thread-safe.
///
/// A holder takes what is free. When nothing is, one that has less than an equal share takes it all the same, and those
/// that have more give way soon after.
///
/// While something is held or used, the budget looks after its holders at intervals: what was not used for one goes.
/// When little happens any more, the heap gives freed memory back to the system, once, and ``QuietListener``s are told,
/// at each interval. In a process that does nothing and has no store open for writing, nothing is looked after.
package final class MemoryBudget: Sendable {
    /// That of the process.
    package static let shared = MemoryBudget(limitBytes: defaultLimitBytes)

    /// About a twenty-fifth of the machine's memory, 320 MiB at least and 1.25 GiB at most.
    package static let defaultLimitBytes: Int = {
        let share = Int(clamping: strata_machine_memory() / 128 * 5)
        return min(max(share, 320 << 20), 1_280 << 20)
    }()

    /// What a thread takes that is kept: the part of its stack that was used, and what the heap keeps for it.
    package static let bytesOfThread = 128 << 10

    package static let defaultIntervalMilliseconds = 15_000
    /// With fewer uses a second, little happens.
    private static let fewUsesPerSecond = 100
    /// Little happens, too, once it is so much less than it was.
    private static let fallOfUses = 8

    private struct WeakHolder {
        let id: ObjectIdentifier
        weak var holder: (any MemoryHolder)?
    }

    private struct WeakListener {
        let id: ObjectIdentifier
        weak var listener: (any QuietListener)?
    }

    private struct Rounds {
        var intervalMilliseconds: Int
        /// Tells the round that is due from those that were scheduled with another interval.
        var generation = 0
        /// The most uses in an interval since the heap was last trimmed.
        var mostUses = 0
        /// Whether nothing has been used since the heap was last trimmed.
        var isTrimmed = false
    }

    private let limit: Atomic<Int>
    private let held = Atomic<Int>(0)
    private let uses = Atomic<Int>(0)
    /// Not by their identifiers: there are few, and the first dictionary of a kind costs what opening a file does.
    private let holders = AdaptiveMutex<[WeakHolder]>([])
    private let holderCount = Atomic<Int>(0)
    private let listeners = AdaptiveMutex<[WeakListener]>([])
    private let isScheduled = Atomic<Bool>(false)
    private let isRelieving = Atomic<Bool>(false)
    private let rounds: AdaptiveMutex<Rounds>
    private let trimCount = Atomic<Int>(0)

    package init(limitBytes: Int, intervalMilliseconds: Int = defaultIntervalMilliseconds) {
        limit = Atomic(limitBytes)
        rounds = AdaptiveMutex(Rounds(intervalMilliseconds: intervalMilliseconds))
    }

    // MARK: Settings and figures

    /// What all holders may keep together. A smaller limit than before holds when this returns.
    package var limitBytes: Int {
        get { limit.load(ordering: .relaxed) }
        set {
            limit.store(newValue, ordering: .relaxed)
            relieve()
        }
    }

    /// How long something must not have been used to go; it goes after twice that at the latest.
    package var intervalMilliseconds: Int {
        get { rounds.withLock { $0.intervalMilliseconds } }
        set {
            rounds.withLock { $0.intervalMilliseconds = newValue }
            isScheduled.store(true, ordering: .relaxed)
            schedule()
        }
    }

    /// What the holders keep.
    package var heldBytes: Int { held.load(ordering: .relaxed) }

    /// How often the heap was asked to give memory back.
    package var trims: Int { trimCount.load(ordering: .relaxed) }

    /// Whether it looks after the holders.
    package var isLookingAfter: Bool { isScheduled.load(ordering: .relaxed) }

    // MARK: For holders

    package func register(_ holder: some MemoryHolder) {
        let reference = WeakHolder(id: ObjectIdentifier(holder), holder: holder)
        holders.withLock { $0.append(reference) }
        holderCount.add(1, ordering: .relaxed)
    }

    /// The holder goes, and with it what it has told of.
    package func unregister(_ id: ObjectIdentifier, heldBytes: Int) {
        holders.withLock { holders in
            if let index = holders.firstIndex(where: { $0.id == id }) { holders.remove(at: index) }
        }
        holderCount.subtract(1, ordering: .relaxed)
        held.subtract(heldBytes, ordering: .relaxed)
    }

    /// Tells a listener at each interval in which little happens, until ``ignore(_:)`` or its end.
    package func listen(_ listener: some QuietListener) {
        let reference = WeakListener(id: ObjectIdentifier(listener), listener: listener)
        listeners.withLock { $0.append(reference) }
        recordUse()
    }

    /// The end of ``listen(_:)``.
    package func ignore(_ id: ObjectIdentifier) {
        listeners.withLock { $0.removeAll { $0.id == id } }
    }

    /// A holder keeps so much more than before, or less.
    package func record(_ change: Int) {
        if change == 0 { return }
        held.add(change, ordering: .relaxed)
        if change > 0 { recordUse() }
    }

    /// Something has happened that takes memory for a while.
    @inline(__always)
    package func recordUse() {
        // The order of this and the next is what ``lookAfterHolders(_:)`` relies on when it ends.
        uses.add(1, ordering: .sequentiallyConsistent)
        if isScheduled.load(ordering: .sequentiallyConsistent) { return }
        if !isScheduled.exchange(true, ordering: .relaxed) { schedule() }
    }

    /// What a holder may keep that takes so much more: nil for as much as it likes. Others are about to give way.
    package func allowance(adding byteCount: Int) -> Int? {
        guard held.load(ordering: .relaxed) + byteCount > limitBytes else { return nil }
        if !isRelieving.exchange(true, ordering: .acquiring) {
            HelperPool.shared.async { [self] in
                relieve()
                isRelieving.store(false, ordering: .releasing)
            }
        }
        return share
    }

    private var share: Int { limitBytes / max(holderCount.load(ordering: .relaxed), 1) }

    // MARK: Giving back

    /// Has those that hold more than their share give way, in proportion to what they have beyond it, until a little of
    /// the limit is free.
    private func relieve() {
        let sizes = all.map { (holder: $0, byteCount: $0.heldBytes) }
        let total = sizes.reduce(0) { $0 + $1.byteCount }
        guard total > limitBytes else { return }
        let share = share
        let beyond = sizes.reduce(0) { $0 + max(0, $1.byteCount - share) }
        guard beyond > 0 else { return }
        let part = min(1, Double(total - (limitBytes - limitBytes / 16)) / Double(beyond))
        for (holder, byteCount) in sizes where byteCount > share {
            holder.shrink(to: byteCount - Int((Double(byteCount - share) * part).rounded(.up)))
        }
    }

    private var all: [any MemoryHolder] { holders.withLock { $0.compactMap(\.holder) } }

    /// Gives back all that can be, at once.
    package func giveBackEverything() {
        for holder in all { holder.shrink(to: 0) }
        trim()
    }

    private func schedule() {
        let (milliseconds, generation) = rounds.withLock { rounds in
            rounds.generation += 1
            return (rounds.intervalMilliseconds, rounds.generation)
        }
        // One timer of Dispatch's: no thread waits for it.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.lookAfterHolders(generation)
        }
    }

    private func lookAfterHolders(_ generation: Int) {
        guard rounds.withLock({ $0.generation == generation }) else { return }
        var used = uses.exchange(0, ordering: .relaxed)
        for holder in all { used += holder.giveBackUnused() }
        let (isQuiet, trims) = rounds.withLock { rounds in
            rounds.mostUses = max(rounds.mostUses, used)
            let few = max(1, Self.fewUsesPerSecond * rounds.intervalMilliseconds / 1_000)
            let isQuiet = used <= few || used * Self.fallOfUses <= rounds.mostUses
            if isQuiet { rounds.mostUses = used }
            let trims = isQuiet && !(rounds.isTrimmed && used == 0)
            rounds.isTrimmed = isQuiet && used == 0
            return (isQuiet, trims)
        }
        let listening = listeners.withLock { $0.compactMap(\.listener) }
        if isQuiet {
            // Before the heap is trimmed: what they let go goes along.
            for listener in listening { listener.quietPassed() }
            if trims { trim() }
        }
        if used == 0, heldBytes <= 0, listening.isEmpty {
            isScheduled.store(false, ordering: .sequentiallyConsistent)
            // Somebody may have seen the flag just before.
            guard uses.load(ordering: .sequentiallyConsistent) != 0,
                !isScheduled.exchange(true, ordering: .relaxed)
            else { return }
        }
        schedule()
    }

    private func trim() {
        trimCount.add(1, ordering: .relaxed)
        strata_heap_trim()
    }
}
