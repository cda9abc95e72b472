internal import StrataSupport
internal import Synchronization
internal import SystemPackage

extension LogStore {
    /// Copies what is still needed out of all segments that hold much else and removes them from the disk. Readers and
    /// writers go on meanwhile.
    ///
    /// Stopped by an error, by `progress` or by the death of the process, it leaves a store as good as before; the
    /// next compaction goes on with what is left to do. What snapshots need stays on the disk until they are gone.
    ///
    /// - Parameter progress: called after each step; false stops. It must not close the store.
    /// - Throws: `.cancelled` when `progress` returned false; `.io`, `.corruption`, `.readOnly`, `.closed`.
    /// - Complexity: reads and writes what is live in the segments it removes, half a MiB at a time.
    @discardableResult
    public func compact(
        progress: @escaping (CompactionProgress) -> Bool = { _ in true }
    ) throws(StoreError) -> CompactionReport {
        try compacting.withLock { _ throws(StoreError) in
            try leaveSegment { _ in true }
            return try compactAlone(target: CompactionPolicy.worthwhile, progress)
        }
    }

    /// Goes on in a new segment, so that the current one can be compacted; not where the disk has no room for one.
    func leaveSegment(if isWanted: (LogWriter) -> Bool) throws(StoreError) {
        try withWriter { writer throws(StoreError) in
            guard isWanted(writer) else { return }
            do throws(StoreError) {
                try writer.leaveSegment()
            } catch {
                guard error.errno == .noSpace, writer.failure == nil else { throw error }
            }
            try GroupCommit.publishRelocated(writer, base: snapshot) { publish($0) }
            try publishEnd(writer)
        }
    }

    /// The newest schema that has an entity: later ones may lack it, but its rows are there.
    func newestSchema(with entity: UInt16) -> NumberedSchema? {
        state.withLock { $0.storeState.schemas.last { $0.schema.entity(entity) != nil } }
    }

    /// The newest snapshot with the log's end as it is now.
    func publishEnd(_ writer: LogWriter) throws(StoreError) {
        let edit = SnapshotEdit(base: snapshot)
        publish(
            try edit.finish(end: writer.end.position, checksum: writer.end.checksum, epoch: source.epoch))
    }

    /// So much live data is moved before its segments are retired, so that they do not all wait for the last one (what
    /// was moved lies on the disk twice until then): a sixteenth of the store, within these bounds.
    private static let batchByteCounts = 512 << 10...32 << 20

    func compactAlone(
        target: Double, _ report: (CompactionProgress) -> Bool
    ) throws(StoreError) -> CompactionReport {
        var result = CompactionReport()
        return try EventHub.telling(.compaction, of: eventStores) { work in
            if work.error == nil, result.segments == 0 { return nil }
            return .compaction(
                CompactionEvent(
                    work: work, segments: result.segments, freedBytes: result.freedByteCount,
                    writtenBytes: result.writtenByteCount))
        } _: { () throws(StoreError) in
            try compactAlone(target: target, into: &result, report)
            return result
        }
    }

    private func compactAlone(
        target: Double, into result: inout CompactionReport, _ report: (CompactionProgress) -> Bool
    ) throws(StoreError) {
        do throws(StoreError) {
            try compact(target: target, isFull: false, into: &result, report)
        } catch {
            guard error.errno == .noSpace else { throw error }
            do throws(StoreError) {
                try compact(target: target, isFull: true, into: &result, report)
            } catch let second {
                // What was freed helps whoever waits for space, and the next compaction.
                guard second.errno == .noSpace, result.segments > 0 else { throw second }
            }
        }
    }

    /// - Parameter isFull: the disk has no room for what this would write. Then the reserve is given up, and segments
    ///   go one by one, those first that cost least: each gives the next ones room.
    private func compact(
        target: Double, isFull: Bool, into total: inout CompactionReport, _ report: (CompactionProgress) -> Bool
    ) throws(StoreError) {
        var result = total
        defer { total = result }
        if isFull { giveUpReserve() }
        // A shipper that lags behind must not keep a full disk full.
        let segments = try segmentStatistics(keepsUnshipped: !isFull)
        let policy = CompactionPolicy(
            target: isFull ? CompactionPolicy.worthwhile : target, sequence: snapshot.sequence)
        var victims = policy.victims(segments, before: state.withLock { $0.checkpointEnd.segment })
        if isFull { victims.sort { $0.neededByteCount < $1.neededByteCount } }
        var progress = CompactionProgress(
            segments: victims.count, completedSegments: 0,
            byteCount: victims.reduce(0) { $0 + $1.neededByteCount }, completedByteCount: 0)
        let needed = segments.reduce(0) { $0 + $1.neededByteCount }
        let limit =
            isFull ? 0 : min(max(needed / 16, Self.batchByteCounts.lowerBound), Self.batchByteCounts.upperBound)
        var began = ContinuousClock.now
        for batch in Self.batches(victims, limit) {
            let before = (freed: result.freedByteCount, written: result.writtenByteCount)
            let gone = try withoutActuallyEscaping(report) { report throws(StoreError) in
                try compact(Set(batch.map(\.segment))) { byteCount throws(StoreError) in
                    result.writtenByteCount += byteCount
                    progress.completedByteCount += byteCount
                    if self.state.withLock({ $0.isClosed }) { throw self.refusal }
                    guard report(progress) else {
                        throw StoreError(.cancelled, "the compaction was stopped", path: self.files.directory.string)
                    }
                }
            }
            result.segments += gone.count
            for segment in batch where gone.contains(segment.segment) { result.freedByteCount += segment.byteCount }
            let now = ContinuousClock.now
            recordPace(
                freed: result.freedByteCount - before.freed, written: result.writtenByteCount - before.written,
                took: now - began)
            began = now
            progress.completedSegments += batch.count
            guard report(progress) else {
                throw StoreError(.cancelled, "the compaction was stopped", path: self.files.directory.string)
            }
        }
    }

    /// How fast segments are freed, for commits that wait for it: by hand, segments are moved that hold little garbage.
    private func recordPace(freed: Int, written: Int, took time: Duration) {
        state.withLock { state in
            guard state.compactionSchedule.isRunning else { return }
            state.compactionSchedule.pace.record(freed: freed, written: written, nanoseconds: time / .nanoseconds(1))
        }
    }

    /// Segments that hold nothing first, for they cost nothing; then in the order given.
    private static func batches(_ victims: [SegmentStatistics], _ limit: Int) -> [[SegmentStatistics]] {
        let empty = victims.filter { $0.neededByteCount == 0 }
        var batches = empty.isEmpty ? [] : [empty]
        var batch: [SegmentStatistics] = []
        var byteCount = 0
        for segment in victims where segment.neededByteCount > 0 {
            if byteCount + segment.neededByteCount > limit, !batch.isEmpty {
                batches.append(batch)
                batch = []
                byteCount = 0
            }
            batch.append(segment)
            byteCount += segment.neededByteCount
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }

    /// Compacts segments away that the log has left.
    private func compact(
        _ victims: Set<UInt32>, onStep: @escaping (Int) throws(StoreError) -> Void
    ) throws(StoreError) -> Set<UInt32> {
        let infos = try knownSegments(snapshot)
        let compactor = Compactor(
            store: self, victims: victims.intersection(infos.keys), infos: infos, retention: retention)
        return try compactor.run(onStep: onStep)
    }

    // MARK: What the compactor writes

    /// Appends a compaction record: rows that are no longer where they were copied from are excluded (rule 1).
    func commit(_ record: PreparedCompaction) throws(StoreError) {
        let byteCount = record.byteCountMaximum()
        try withWriter { writer throws(StoreError) in
            let publish = { (snapshot: Snapshot) in self.publish(snapshot) }
            try writer.makeRoom(for: byteCount)
            try GroupCommit.publishRelocated(writer, base: snapshot, publish: publish)
            var edit = SnapshotEdit(base: snapshot)
            try edit.exclude(from: record)
            record.finish()
            var end = writer.end
            let placed = writer.place(.compaction(record), at: &end)
            try edit.apply(record)
            // Before anything is written, as for a commit.
            let next = try edit.finish(end: end.position, checksum: end.checksum)
            try writer.write([placed], newEnd: end)
            writer.beginFlushing(placed.image.bytes.count)
            writer.recordArchive(of: record)
            writer.countRelocated(rows: record.rows.reduce(0) { $0 + $1.keys.count })
            publish(next)
            for block in record.rows {
                guard let rows = block.rows else { continue }
                source.cache.insert(
                    Block(rows, shape: BlockShape(block.layout), sequence: next.sequence, location: block.location))
            }
            if writer.mustFlushSoon { try GroupCommit.flush(writer, base: next, publish: publish) }
        }
    }

    /// Declares segments to be no longer needed, durably. Snapshots from now on do not keep them.
    func retire(_ retirement: Retirement) throws(StoreError) {
        let body = retirement.encoded()
        for entry in retirement.segments { _ = try source.file(segment: entry.segment) }
        try withWriter { writer throws(StoreError) in
            let publish = { (snapshot: Snapshot) in self.publish(snapshot) }
            // What the record goes by first: whoever reads the log from its beginning looks for retirements before
            // anything else, and after a power loss this one could be there without the rows that were moved.
            try writer.flush()
            try writer.makeRoom(for: RecordImage.byteCount(body: body.count, pieces: 0))
            try GroupCommit.publishRelocated(writer, base: snapshot, publish: publish)
            try writer.append(.retirement, body: body) { $0.compaction.apply(retirement) }
            try GroupCommit.publishRelocated(writer, base: snapshot, publish: publish)
            source.retire(retirement.segments.map(\.segment), compaction: writer.storeState.compaction)
            try publishEnd(writer)
        }
        let freed = segmentInfos.withLock { infos in
            retirement.segments.reduce(0) { $0 + (infos.removeValue(forKey: $1.segment)?.byteCount ?? 0) }
        }
        state.withLock { $0.compactionSchedule.usedByteCount -= freed }
    }
}
