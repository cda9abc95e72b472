internal import CStrataSupport
internal import Dispatch
internal import StrataIO
internal import Synchronization

extension LogOptions {
    /// When segments are compacted without being asked.
    public struct Compaction: Sendable, Hashable {
        /// Whether a thread of the store compacts in the background while transactions are committed.
        public var isAutomatic = true
        /// What is needed over what is used, under which segments are compacted. 0.5 to 0.8: beyond that the price
        /// doubles.
        public var targetUtilization = 0.7
        /// Whether rows that were written a few at a time are merged into full blocks, by key, soon after: scans go over
        /// them as fast as over rows that were written at once. In the background, and only where ``isAutomatic`` is set.
        public var mergesFreshRows = true

        /// Compaction in the background, with the defaults.
        public init() {}
    }
}

/// When to look at the segments again, and how full they are.
struct CompactionSchedule {
    /// Less log than this is not worth looking at.
    static let minimumByteCount = 256 << 10
    /// Compaction begins so far below the target: segments that wait longer have less left in them to move,
    static let lag = 0.02
    /// and goes so much further that it is not due again at once: looking costs time in proportion to the objects.
    static let slack = 0.03

    var isRunning = false
    /// Bytes written to the log since somebody looked.
    var newByteCount = 0
    /// How many there have to be.
    var dueByteCount = 2 << 20
    /// Of all segments, when somebody last looked, and what of it was needed.
    var usedByteCount = 0
    var neededByteCount = 0
    var completed = 0
    var failed = 0

    /// How fast the one that runs is, or the last one was.
    var pace = CompactionPace()

    /// How many nanoseconds a commit should wait, so that garbage does not come faster than it is removed.
    func delay(replaced: Int, target: Double, after nanoseconds: Double) -> Double {
        // Nobody has looked yet: what is needed is not known.
        guard isRunning, usedByteCount > 0 else { return 0 }
        let share = CompactionPace.share(used: usedByteCount + newByteCount, needed: neededByteCount, target: target)
        return pace.delay(replaced: replaced, share: share, after: nanoseconds)
    }
}

extension LogStore {
    /// What is needed over what is used, at which compaction aims.
    private var targetUtilization: Double { min(max(options.compaction.targetUtilization, 0.5), 0.8) }

    /// With two processors, three threads that work wait for each other: the one that would help to encode small
    /// transactions is left out while another compacts.
    private static let hasFewProcessors = strata_processor_count() <= 2

    /// Called after each commit where the background compacts: it does when enough has been written since the last look.
    /// Waits while there is too much garbage.
    ///
    /// - Parameter nanoseconds: how long the commit took.
    func compactIfDue(after commit: PreparedTransaction, took nanoseconds: Double) {
        let replaced = commit.replacingByteCount
        let (isDue, delay) = state.withLock { state -> (Bool, Double) in
            // What replaces nothing is needed.
            state.compaction.neededByteCount += commit.byteCount - replaced
            let delay = state.compaction.delay(replaced: replaced, target: targetUtilization, after: nanoseconds)
            guard state.compaction.newByteCount >= state.compaction.dueByteCount, !state.compaction.isRunning,
                !state.isClosed
            else { return (false, delay) }
            state.compaction.isRunning = true
            return (true, delay)
        }
        if isDue {
            source.isCrowded.store(Self.hasFewProcessors, ordering: .relaxed)
            DispatchQueue.global(qos: .utility).async { [self] in compactInBackground() }
        }
        if delay >= 1_000 { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(Int(delay))) }
    }

    /// Compacts until the segments are used well enough. An error costs nothing but space; it is counted, and the next
    /// attempt is made after twice as much log.
    private func compactInBackground() {
        compacting.withLock { _ in
            do throws(StoreError) {
                try compactToTarget()
                state.withLock { $0.compaction.completed += 1 }
            } catch {
                state.withLock { state in
                    guard !state.isClosed else { return }
                    state.compaction.failed += 1
                    state.compaction.newByteCount = 0
                    state.compaction.dueByteCount = min(state.compaction.dueByteCount * 2, 1 << 30)
                }
            }
        }
        // Before the next one can begin.
        source.isCrowded.store(false, ordering: .relaxed)
        state.withLock { $0.compaction.isRunning = false }
    }

    private func compactToTarget() throws(StoreError) {
        let target = targetUtilization - CompactionSchedule.lag
        var segments = try look()
        var used = segments.reduce(0) { $0 + $1.byteCount }
        let needed = segments.reduce(0) { $0 + $1.keptByteCount }
        if Double(needed) < target * Double(used) {
            try leaveSegment { writer in
                writer.segmentLength.compact(needed)
                return writer.end.position.offset >= writer.segmentLimit
            }
            _ = try compactAlone(target: target + CompactionSchedule.slack) { _ in true }
            segments = try look()
            used = segments.reduce(0) { $0 + $1.byteCount }
        }
        keepReserve(for: used)
        // If all that comes replaces something, the target is missed after so many bytes. Where snapshots keep it from
        // being met, looking again all the time would not help.
        let room = Int(Double(needed) / target) - used
        state.withLock { $0.compaction.dueByteCount = max(CompactionSchedule.minimumByteCount, room, used / 32) }
    }

    /// Counts what the segments hold, and begins to count anew what is written.
    private func look() throws(StoreError) -> [SegmentStatistics] {
        let written = state.withLock { $0.counters.writtenBytes }
        let segments = try segmentStatistics()
        state.withLock { state in
            state.compaction.usedByteCount = segments.reduce(0) { $0 + $1.byteCount }
            state.compaction.neededByteCount = segments.reduce(0) { $0 + $1.keptByteCount }
            state.compaction.newByteCount = state.counters.writtenBytes - written
        }
        return segments
    }
}
