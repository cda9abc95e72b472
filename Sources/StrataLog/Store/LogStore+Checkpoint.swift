internal import StrataSupport
internal import Synchronization
internal import SystemPackage

extension LogStore {
    /// Writes a checkpoint of the newest state, names it in the manifest and removes those it replaces (but for one).
    ///
    /// Only the flush holds the writer up; the index is written from a snapshot while commits go on. One at a time:
    /// whoever comes while another is being written waits for it.
    ///
    /// - Parameter letsPagesGo: whether memory gives up the pages of the index that the checkpoint has, too. Reading
    ///   takes them from there again.
    func writeCheckpoint(letsPagesGo: Bool = false) throws(StoreError) {
        // What could not be built before: a row could not be read, or a transaction was begun before the index.
        buildMissingIndexes()
        try checkpointing.withLock { _ throws(StoreError) in
            try writeCheckpointAlone(isClosing: false, letsPagesGo: letsPagesGo)
        }
    }

    /// Writes the last checkpoint and lets go of the writer: no checkpoint is written any more when this returns or
    /// throws, so the lock can be given back.
    func writeLastCheckpoint() throws(StoreError) {
        try checkpointing.withLock { _ throws(StoreError) in try writeCheckpointAlone(isClosing: true) }
    }

    /// Makes a file for a moment. The store is not closed before the body is done: then its directory may be another's.
    ///
    /// - Throws: `.closed`; what the body throws.
    func makingFiles<Result>(_ body: () throws(StoreError) -> sending Result) throws(StoreError) -> sending Result {
        try checkpointing.withLock { _ throws(StoreError) in
            if isClosed { throw refusal }
            return try body()
        }
    }

    private func writeCheckpointAlone(isClosing: Bool, letsPagesGo: Bool = false) throws(StoreError) {
        let flushed = try flushed(isClosing: isClosing)
        do throws(StoreError) {
            try writeCaches(flushed, isClosing: isClosing, letsPagesGo)
        } catch {
            // Everything is in the log. Where there is no room for its caches, or they would land in somebody else's
            // directory, the next opening reads more of it.
            guard isClosing, error.code == .io else { throw error }
        }
    }

    /// What was flushed, see ``flushed(isClosing:)``.
    private typealias Flushed = (sealed: Snapshot, storeState: StoreState, durable: LogPosition)

    private func writeCaches(_ flushed: Flushed, isClosing: Bool, _ letsPagesGo: Bool) throws(StoreError) {
        let (sealed, storeState, durable) = flushed
        try io("write the store's caches", files.directory) { () throws(Errno) in try files.checkIsInPlace() }
        let indexes = sealed.ordered.readyLineages
        let isCurrent = state.withLock { state in
            state.checkpoint > 0 && state.checkpointEnd == sealed.end
                && indexes.allSatisfy { index in state.checkpointIndexes.contains { $0 === index } }
        }
        if !isCurrent {
            let number = state.withLock { $0.checkpoint } + 1
            try EventHub.telling(.checkpoint, of: eventStores, as: { .checkpoint($0) }) {
                () throws(StoreError) in
                try Checkpoint.write(number: number, snapshot: sealed, storeState: storeState)
            }
            state.withLock { state in
                state.checkpoint = number
                state.previousCheckpointEnd = state.checkpointEnd
                state.checkpointEnd = sealed.end
                state.checkpointIndexes = indexes
                state.bytesSinceCheckpoint = 0
            }
            if !isClosing { try rebase(onto: number, from: sealed, letsPagesGo) }
        }
        try writeManifest(durable: durable)
        removeOldCheckpoints()
    }

    /// Lets the newest snapshot read what is in the checkpoint from there: memory holds only what came after it, and
    /// the file of the checkpoint before is let go.
    private func rebase(onto number: UInt32, from sealed: Snapshot, _ letsPagesGo: Bool) throws(StoreError) {
        let reopened = try Checkpoint.open(number: number, source: source, removesDamaged: true).snapshot
        try withWriter { _ throws(StoreError) in
            let rebased = self.snapshot.rebased(onto: reopened, from: sealed, letsPagesGo: letsPagesGo)
            published.withLock { $0 = rebased }
        }
    }

    /// The state that is durable now, with what is in it kept apart from what comes later. Closing lets go of the
    /// writer with the same lock: no commit is acknowledged behind this flush.
    private func flushed(isClosing: Bool) throws(StoreError) -> Flushed {
        try writer.withLock { writer throws(StoreError) in
            guard let open = writer else { throw refusal }
            defer {
                recordProgress(of: open)
                if isClosing { writer = nil }
            }
            try GroupCommit.flush(open, base: self.snapshot) { snapshot in published.withLock { $0 = snapshot } }
            if isClosing {
                do throws(StoreError) {
                    try open.putEndInOrder()
                } catch {
                    // Where the store was moved or removed no segment can be made.
                    guard error.isDisplaced else { throw error }
                }
                open.trim()
            }
            let sealed = try self.snapshot.sealed()
            published.withLock { $0 = sealed }
            return (sealed, open.storeState, open.durable.position)
        }
    }

    private func writeManifest(durable: LogPosition) throws(StoreError) {
        let manifest = state.withLock { state in
            state.manifestNumber += 1
            return Manifest(
                number: state.manifestNumber, storeUUID: storeUUID, segment: durable.segment,
                checkpoint: state.checkpoint, durable: durable)
        }
        try manifest.write(files)
    }

    /// Removes the older checkpoint when it is older than a hole: it would not be used any more.
    ///
    /// - Parameter segments: those that are gone.
    func removeUselessCheckpoint(_ segments: Set<UInt32>) {
        let isUseless = state.withLock { state in
            guard let end = state.previousCheckpointEnd, let last = segments.max(), last >= end.segment else {
                return false
            }
            state.previousCheckpointEnd = nil
            return true
        }
        if isUseless { removeOlderCheckpoint() }
    }

    /// Leaves the newest alone.
    func removeOlderCheckpoint() {
        checkpointing.withLock { _ in removeOldCheckpoints(keeping: 1) }
    }

    /// Keeps the newest two: the older one serves if the newer turns out damaged. What cannot be removed only takes
    /// space.
    private func removeOldCheckpoints(keeping count: Int = 2) {
        guard let listing = try? files.list() else { return }
        for number in listing.checkpoints.dropLast(count) {
            try? files.remove(files.checkpoint(number))
        }
    }
}
