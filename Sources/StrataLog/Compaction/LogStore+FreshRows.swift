internal import Dispatch
internal import StrataSupport
internal import Synchronization

/// Which rows are to be merged, and what has become of it.
struct FreshRowSchedule {
    var rows: FreshRows
    /// Whether the log had transactions when the store was opened: their blocks are looked for with the first commit.
    var needsSurvey: Bool
    var isRunning = false
    var completed = 0
    var failed = 0

    /// - Parameter sequence: number of the newest transaction when the store was opened.
    init(_ options: LogOptions, openedAt sequence: UInt64) {
        rows = FreshRows(dueCount: options.freshBlockDueCount)
        needsSurvey = options.compaction.mergesFreshRows && sequence >= UInt64(options.freshBlockDueCount)
    }

    var isDue: Bool { rows.isDue || needsSurvey }
}

extension LogStore {
    /// Called after each commit: notes its blocks of few rows, and merges those of an entity in the background once
    /// there are enough of them.
    func mergeIfDue(after commit: PreparedTransaction) {
        guard options.compaction.mergesFreshRows else { return }
        func isSmall(_ job: EncodingJob) -> Bool {
            job.role != .tombstone && FreshRows.isSmall(rowCount: job.keys.count, byteCount: job.byteCount)
        }
        guard commit.transaction.jobs.contains(where: isSmall) else { return }
        let isDue = state.withLock { state in
            for job in commit.transaction.jobs where isSmall(job) {
                state.freshRows.rows.add(job.location, of: job.entity)
            }
            // A compaction that is under way moves rows, too, and may take long.
            guard options.compaction.isAutomatic, state.freshRows.isDue, !state.freshRows.isRunning,
                !state.compactionSchedule.isRunning, !state.isClosed
            else { return false }
            state.freshRows.isRunning = true
            return true
        }
        guard isDue else { return }
        // A store that is let go before need not stay for it.
        DispatchQueue.global(qos: .utility).async { [weak self] in self?.mergeInBackground() }
    }

    /// An error costs nothing but time: it is counted, and the blocks stay as they are.
    private func mergeInBackground() {
        do throws(StoreError) {
            try mergeFreshRows()
            state.withLock { $0.freshRows.completed += 1 }
        } catch {
            state.withLock { if !$0.isClosed { $0.freshRows.failed += 1 } }
        }
        state.withLock { $0.freshRows.isRunning = false }
    }

    /// Merges the rows that were written since they were merged last and lie in blocks of few rows; readers and writers
    /// go on meanwhile.
    ///
    /// - Parameter all: whether entities are merged that are not due, too, and the newest rows.
    /// - Throws: errors of reading and writing; `.closed`, `.readOnly`. Nothing is lost.
    func mergeFreshRows(all: Bool = false) throws(StoreError) {
        try compacting.withLock { _ throws(StoreError) in
            try findFreshRows()
            var unfilled: [(entity: UInt16, blocks: [Location])] = []
            // Also of entities that were merged before something failed.
            defer {
                state.withLock { state in
                    for entry in unfilled { state.freshRows.rows.putBack(entry.blocks, of: entry.entity) }
                }
            }
            while let (entity, blocks) = state.withLock({
                all ? $0.freshRows.rows.takeAny() : $0.freshRows.rows.takeDue()
            }) {
                let minimum = all ? 2 : state.withLock { $0.freshRows.rows.worthwhileCount }
                let merger = FreshRowMerger(store: self)
                unfilled.append((entity, try merger.merge(blocks, of: entity, minimum: minimum)))
            }
        }
    }

    /// Once after the store was opened: who wrote it before may have left blocks behind, or been an earlier version.
    private func findFreshRows() throws(StoreError) {
        let isNeeded = state.withLock { state in
            defer { state.freshRows.needsSurvey = false }
            return state.freshRows.needsSurvey
        }
        guard isNeeded else { return }
        let snapshot = snapshot
        let survey = try FreshRowSurvey(snapshot) { self.isClosed }
        state.withLock { state in
            for (entity, blocks) in survey.blocks {
                state.freshRows.rows.add(blocks, of: entity, upTo: snapshot.end)
            }
        }
    }
}
