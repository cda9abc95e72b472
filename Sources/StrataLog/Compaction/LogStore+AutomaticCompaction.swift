internal import CStrataSupport
internal import Dispatch
internal import StrataSupport
internal import Synchronization

extension LogStore {
    /// What is needed over what is used, at which compaction aims.
    private var targetUtilization: Double { min(max(options.compaction.targetUtilization, 0.5), 0.8) }

    /// With two processors, three threads that work wait for each other: the one that would help to encode small
    /// transactions is left out while another compacts.
    private static let hasFewProcessors = strata_processor_count() <= 2

    /// Called after each commit where the background compacts: it does when enough has been written since the last
    /// look. Waits while there is too much garbage.
    ///
    /// - Parameter nanoseconds: how long the commit took.
    func compactIfDue(after commit: PreparedTransaction, took nanoseconds: Double) {
        let replaced = commit.replacingByteCount
        let (isDue, delay) = state.withLock { state -> (Bool, Double) in
            // What replaces nothing is needed.
            state.compactionSchedule.neededByteCount += commit.byteCount - replaced
            let delay = state.compactionSchedule.delay(
                replaced: replaced, target: targetUtilization, after: nanoseconds)
            guard state.compactionSchedule.isDue, !state.isClosed else { return (false, delay) }
            state.compactionSchedule.isRunning = true
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
                state.withLock { $0.compactionSchedule.completed += 1 }
            } catch {
                state.withLock { state in
                    guard !state.isClosed else { return }
                    state.compactionSchedule.failed += 1
                    state.compactionSchedule.newByteCount = 0
                    state.compactionSchedule.dueByteCount = min(state.compactionSchedule.dueByteCount * 2, 1 << 30)
                }
            }
        }
        // Before the next one can begin.
        source.isCrowded.store(false, ordering: .relaxed)
        state.withLock { $0.compactionSchedule.isRunning = false }
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
        let due = max(CompactionSchedule.minimumByteCount, room, used / 32)
        state.withLock { $0.compactionSchedule.dueByteCount = due }
    }

    /// Counts what the segments hold, and begins to count anew what is written.
    private func look() throws(StoreError) -> [SegmentStatistics] {
        let written = state.withLock { $0.counters.writtenBytes }
        let segments = try segmentStatistics()
        state.withLock { state in
            state.compactionSchedule.usedByteCount = segments.reduce(0) { $0 + $1.byteCount }
            state.compactionSchedule.neededByteCount = segments.reduce(0) { $0 + $1.keptByteCount }
            state.compactionSchedule.newByteCount = state.counters.writtenBytes - written
        }
        return segments
    }
}
