internal import StrataSupport
internal import Synchronization
internal import SystemPackage

// Stores that are open for reading and follow their writer.
extension LogStore {
    /// Whether somebody else may write the store: it is open for reading, and does not stay at a point of the past.
    public var hasTail: Bool { tail != nil }

    /// What is kept from one refresh to the next; held while one runs.
    struct FollowState {
        /// Bytes of log laid over the checkpoint in use since it was opened.
        var replayedBytes = 0
        /// Why the store cannot be followed any further.
        var failure: StoreError?
    }

    /// Moves ``snapshot`` forward to what the store's writer has committed by now, if the store was opened read-only;
    /// otherwise it is always the newest.
    ///
    /// What has been shown is never taken back: of a living writer only transactions are seen that it acknowledges,
    /// and of a dead one those that the next will keep. Snapshots taken before stay as they are.
    ///
    /// - Returns: whether there was something new.
    /// - Throws: `.io` (with `ESTALE` when the path leads to another directory by now) or `.corruption`; the snapshot
    ///   stays where it was then, and a later call may succeed.
    ///   `.corruption`
    ///   for good when the log no longer has what was shown (somebody put an older one in its place).
    /// - Complexity: O(1) when there is nothing new, otherwise in proportion to what was committed.
    @discardableResult
    public func refresh() throws(StoreError) -> Bool {
        guard let tail else { return false }
        if let announcement = tail.page?.announcement, announcement.end == snapshot.end { return false }
        return try following.withLock { follow throws(StoreError) in try refreshAlone(tail, &follow) }
    }

    /// How often a refresh looks again before it gives up.
    private static let refreshAttempts = 8

    private func refreshAlone(_ tail: LogTail, _ follow: inout FollowState) throws(StoreError) -> Bool {
        if let failure = follow.failure { throw failure }
        guard !state.withLock({ $0.isClosed }) else { return false }
        try checkIsInPlace()
        var attempt = 0
        while true {
            attempt += 1
            do throws(StoreError) {
                let now = try tail.state()
                if case .announced(let announcement) = now, announcement.end == snapshot.end { return false }
                // After a failure the way from where the snapshot ends may be gone: then from the newest checkpoint.
                var step = attempt == 1 ? try advanced(now) : nil
                if step == nil { step = try reopened(now) }
                if let step, try tail.isStill(now) { return try adopt(step, &follow) }
                guard attempt < Self.refreshAttempts * 10 else { return false }
            } catch {
                if let failure = follow.failure { throw failure }
                guard error.mayPass, attempt < Self.refreshAttempts else { throw error }
            }
            if attempt > 2 { pause(milliseconds: 1) }
        }
    }

    /// What is shown goes on being readable. Of what is at the path now nothing is shown: it may be another store.
    func checkIsInPlace() throws(StoreError) {
        guard !files.isElsewhere else { throw StoreError.displaced("could not follow the store", files.directory) }
    }

    /// What a refresh found.
    private struct Step {
        var snapshot: Snapshot
        var storeState: StoreState
        /// Bytes of log read for it.
        var byteCount: Int
        /// Whether it was read from a checkpoint on, and not from the snapshot before.
        var isReopened: Bool
    }

    private func adopt(_ step: Step, _ follow: inout FollowState) throws(StoreError) -> Bool {
        let shown = snapshot
        try checkSchema(step.storeState, &follow)
        if step.isReopened { try checkContinues(shown, step.snapshot, &follow) }
        guard step.isReopened || step.snapshot.end != shown.end else { return false }
        follow.replayedBytes = step.isReopened ? step.byteCount : follow.replayedBytes + step.byteCount
        state.withLock { $0.storeState = step.storeState }
        publish(step.snapshot)
        if EventHub.wants(.following) { tellFollowed(from: shown, to: step.snapshot) }
        if follow.replayedBytes > 2 * options.checkpointTailBytes, !step.isReopened {
            try rebaseOnCheckpoint(&follow)
        }
        return step.snapshot.sequence > shown.sequence || step.snapshot.end != shown.end
    }

    private func tellFollowed(from shown: Snapshot, to snapshot: Snapshot) {
        guard snapshot.sequence > shown.sequence else { return }
        let lag = max(0, options.clock() - snapshot.timestampNanoseconds)
        EventHub.tell(
            .following(
                FollowEvent(
                    store: eventStores[0], transactions: Int(clamping: snapshot.sequence - shown.sequence),
                    lag: .nanoseconds(lag))))
    }

    /// Whoever reads by an older schema is not shown rows of a newer one.
    private func checkSchema(_ storeState: StoreState, _ follow: inout FollowState) throws(StoreError) {
        let version = schemaVersion
        guard storeState.schemas.contains(where: { $0.version > version && $0.schema.isMigration }) else { return }
        follow.failure = SchemaVersions.tooNew
        throw SchemaVersions.tooNew
    }

    /// Goes on from the newest checkpoint, so that memory holds only what came after it.
    private func rebaseOnCheckpoint(_ follow: inout FollowState) throws(StoreError) {
        follow.replayedBytes = 0
        // Where it does not work the snapshot is as good as before.
        var opener = StoreOpener(files: files, options: options)
        guard let opened = try? opener.read(source, .announced(snapshot.end)), opened.snapshot.end == snapshot.end
        else { return }
        publish(opened.snapshot)
    }

    /// The way on from where the snapshot ends; nil when there is none.
    private func advanced(_ now: LogTail.State) throws(StoreError) -> Step? {
        let start = snapshot.end
        let opener = StoreOpener(files: files, options: options)
        var limit: LogPosition?
        if case .announced(let announcement) = now {
            guard announcement.end >= start else { return nil }
            limit = announcement.end
        }
        var chain: [SegmentHeader] = []
        if limit?.segment != start.segment {
            guard let found = try laterSegments(opener, from: start, to: limit?.segment) else { return nil }
            chain = found
        }
        if case .unannounced = now {
            limit = try opener.proven(
                chain.isEmpty ? [try opener.header(of: start.segment)] : chain, from: start, source)
        }
        var replayer = LogReplayer(base: snapshot, storeState: state.withLock { $0.storeState }, durable: start)
        let ends = chain.map(\.previousValidByteCount) + [limit?.offset]
        for (segment, end) in zip([start.segment] + chain.map(\.segment), ends) {
            if segment > start.segment, let header = chain.first(where: { $0.segment == segment }) {
                try replayer.enter(header)
            }
            if let end {
                try opener.replayWhole(segment, to: end, source, &replayer)
            } else {
                // Nobody writes: up to the last complete record. What follows is not there yet.
                _ = try replayer.replay(try opener.reader(segment, source))
            }
        }
        return Step(
            snapshot: try replayer.finish(), storeState: replayer.storeState, byteCount: replayer.byteCount,
            isReopened: false)
    }

    /// The headers of the segments behind a position; nil when they do not follow it.
    private func laterSegments(
        _ opener: StoreOpener, from start: LogPosition, to last: UInt32?
    ) throws(StoreError) -> [SegmentHeader]? {
        let numbers = try files.list().segments.filter { $0 > start.segment && $0 <= last ?? .max }
        if let last, numbers.last != last { return nil }
        source.hold(numbers)
        var chain: [SegmentHeader] = []
        for number in numbers {
            if last == nil, number == numbers.last, try opener.damage(of: number, source) != nil {
                // Being made.
                break
            }
            let header = try opener.header(of: number)
            guard header.storeUUID == storeUUID, header.previousSegment == chain.last?.segment ?? start.segment else {
                return nil
            }
            chain.append(header)
        }
        // A flush failed, and what was shown has been written again in the next segment.
        if let first = chain.first, first.previousValidByteCount < start.offset { return nil }
        return chain
    }

    private func reopened(_ now: LogTail.State) throws(StoreError) -> Step {
        var opener = StoreOpener(files: files, options: options)
        let opened = try opener.read(source, StoreOpener.Bound(now))
        return Step(
            snapshot: opened.snapshot, storeState: opened.storeState, byteCount: opened.report.replayedByteCount,
            isReopened: true)
    }

    /// The log must still have what was shown.
    private func checkContinues(
        _ shown: Snapshot, _ found: Snapshot, _ follow: inout FollowState
    ) throws(StoreError) {
        guard !Self.continues(found, shown) else { return }
        let failure = StoreError(
            .corruption,
            "the log ends with transaction \(found.sequence) or has another transaction \(shown.sequence) than the one that was "
                + "shown: it was replaced, or acknowledged transactions are lost. Open the store again",
            path: files.directory.string)
        follow.failure = failure
        throw failure
    }

    /// Whether a snapshot still has the newest transaction of another one.
    ///
    /// A snapshot that was opened behind a compaction that moved its last transaction, and without a checkpoint, does
    /// not know when that was: its time is 0, against which nothing speaks.
    private static func continues(_ found: Snapshot, _ shown: Snapshot) -> Bool {
        guard found.sequence > shown.sequence else {
            let times = [found.timestampNanoseconds, shown.timestampNanoseconds]
            return found.sequence == shown.sequence && (times[0] == times[1] || times.contains(0))
        }
        guard shown.sequence > 0, shown.timestampNanoseconds != 0 else { return true }
        // Where the history does not go back so far, nothing speaks against it.
        guard var history = try? HistoryReader(snapshot: found, after: shown.sequence - 1),
            let transaction = try? history.next(), transaction.sequence == shown.sequence
        else { return true }
        return transaction.timestampNanoseconds == shown.timestampNanoseconds
    }

    /// Follows the store on a thread of its own: ``refresh()`` as soon as its writer commits.
    ///
    /// - Parameter notify: called on that thread with each snapshot that is newer than the one before, and with an
    ///   error when the store cannot be read; following goes on then.
    /// - Returns: what stops following when it is told to or let go. It does not keep the store open.
    /// - Precondition: the store was opened read-only.
    public func follow(_ notify: @escaping @Sendable (Result<Snapshot, StoreError>) -> Void) -> LogFollower {
        guard let tail else {
            programmerError("LogStore", "a store that is open for writing has nobody to follow", "Open it read-only")
        }
        return LogFollower(self, tail, notify)
    }
}
