internal import StrataIO
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

extension LogStore {
    /// Reads the whole log, checks every checksum, rebuilds the index from it and compares that with the one in use;
    /// and checks manifest and checkpoints.
    ///
    /// Names every damaged place. Where the log is damaged, the index is not compared: there is nothing to compare it
    /// with.
    ///
    /// Works on the newest snapshot beside readers and writers; changes nothing.
    ///
    /// - Parameter progress: called after each segment with the bytes done and all bytes.
    /// - Throws: `.io` when a file cannot be read. Damage is not thrown but reported.
    /// - Complexity: reads every byte of the log once.
    public func verify(progress: (Int, Int) -> Void = { _, _ in }) throws(StoreError) -> VerifyReport {
        var report = VerifyReport()
        let snapshot = snapshot
        do throws(StoreError) {
            let rebuilt = try rebuild(upTo: snapshot, &report, progress)
            try compare(snapshot, rebuilt, &report)
        } catch {
            guard error.code != .io else { throw error }
            report = try scrub(upTo: snapshot)
            // What no record shows by itself: one that does not follow the one before.
            if report.problems.isEmpty { report.record(error) }
        }
        try report.checkCaches(source)
        return report
    }

    /// Goes through the log once more, record by record, to name all that is damaged.
    private func scrub(upTo snapshot: Snapshot) throws(StoreError) -> VerifyReport {
        let last = snapshot.end.segment
        let holes = snapshot.epoch.compaction.holes
        let fresh = BlockSource(files: files, storeUUID: storeUUID, cacheMaximumBytes: 0)
        var scrubber = LogScrubber(fresh, schemas: state.withLock { $0.storeState.schemas })
        for number in holes.remaining(1, through: last) {
            let file = try source.file(segment: number)
            try scrubber.scrub(
                try RecordReader(
                    files: files, storeUUID: storeUUID, segment: number, file: file,
                    limit: try validByteCount(of: number, snapshot)))
        }
        return scrubber.report
    }

    /// Where a segment's records end; nil when the header that says so is damaged.
    private func validByteCount(of number: UInt32, _ snapshot: Snapshot) throws(StoreError) -> Int? {
        if number == snapshot.end.segment { return snapshot.end.offset }
        if let hole = snapshot.epoch.compaction.holes.hole(at: number + 1) { return hole.previousValidByteCount }
        let next = try RecordReader(
            files: files, storeUUID: storeUUID, segment: number + 1, file: try source.file(segment: number + 1))
        do throws(StoreError) {
            return try next.segmentHeader().previousValidByteCount
        } catch {
            guard error.code != .io else { throw error }
            return nil
        }
    }

    private func rebuild(
        upTo snapshot: Snapshot, _ report: inout VerifyReport, _ progress: (Int, Int) -> Void
    ) throws(StoreError) -> Snapshot {
        let last = snapshot.end.segment
        let holes = snapshot.epoch.compaction.holes
        // A source of its own: blocks come from the disk, not from the cache, and schemas from the log.
        let source = BlockSource(files: files, storeUUID: storeUUID, cacheMaximumBytes: 0)
        _ = source.enterEpoch(snapshot.epoch.compaction)
        var segments: [(header: SegmentHeader, file: any File)] = []
        for number in holes.remaining(1, through: last) {
            // The snapshot keeps files open that compaction has removed.
            let file = try self.source.file(segment: number)
            source.register(file, segment: number)
            let reader = try RecordReader(files: files, storeUUID: storeUUID, segment: number, file: file)
            segments.append((try reader.segmentHeader(), file))
        }
        guard let first = segments.first?.header else {
            throw StoreError(.corruption, "the store has no segments", path: files.directory.string)
        }
        let start = LogWriter.End(
            position: LogPosition(segment: first.segment, offset: SegmentHeader.byteCount),
            sequence: first.previousSequence, checksum: first.previousChecksum)
        var replayer = LogReplayer(
            base: .empty(layout: StoreLayout([]), source: source, end: start), storeState: StoreState(),
            durable: start.position, isPartial: !holes.isEmpty)
        let limits = segments.indices.map { index in
            let number = segments[index].header.segment
            if number == last { return snapshot.end.offset }
            return holes.hole(at: number + 1)?.previousValidByteCount
                ?? segments[index + 1].header.previousValidByteCount
        }
        let total = limits.reduce(0, +)
        var done = 0
        for (index, entry) in segments.enumerated() {
            let number = entry.header.segment
            if index > 0 { try replayer.goOn(to: entry.header, after: segments[index - 1].header) }
            let limit = limits[index]
            defer {
                done += limit
                progress(done, total)
            }
            let reader = try RecordReader(
                files: files, storeUUID: storeUUID, segment: number, file: entry.file, limit: limit)
            try replayer.replayWhole(reader, to: limit)
        }
        report.segments = segments.count
        report.records = replayer.recordCount
        report.transactions = replayer.transactionCount
        report.blocks = replayer.blockCount
        report.rows = replayer.rowCount
        report.byteCount = replayer.byteCount
        let rebuilt = try replayer.finish()
        return holes.isEmpty ? rebuilt : try LogCensus.complete(rebuilt)
    }

    private func compare(_ snapshot: Snapshot, _ rebuilt: Snapshot, _ report: inout VerifyReport) throws(StoreError) {
        func problem(_ what: String) {
            report.record(StoreError(.corruption, what, path: files.directory.string))
        }
        /// What cannot be read of one part of the index says nothing of the others.
        func part(_ compare: () throws(StoreError) -> Void) throws(StoreError) {
            do throws(StoreError) {
                try compare()
            } catch {
                guard error.code != .io else { throw error }
                report.record(error)
            }
        }
        if snapshot.sequence != rebuilt.sequence {
            problem("the store shows transaction \(snapshot.sequence), the log ends with \(rebuilt.sequence)")
        }
        for root in snapshot.layout.roots {
            try part { () throws(StoreError) in
                if try !Self.haveEqualRuns(snapshot, rebuilt, root: root) {
                    problem("the index of root entity \(root) is not the one that the log gives")
                }
            }
        }
        let entities = max(snapshot.counts.count, rebuilt.counts.count)
        for entity in 0..<entities
        where snapshot.count(entity: UInt16(entity)) != rebuilt.count(entity: UInt16(entity)) {
            problem("the count of entity \(entity) is not the one that the log gives")
        }
        let targets = try Self.targets(rebuilt)
        for id in Set(snapshot.postings.numbers + rebuilt.postings.numbers).sorted().map({ UInt16($0) }) {
            let ours = snapshot.postings[id]?.pairCount ?? 0
            let theirs = rebuilt.postings[id]?.pairCount ?? 0
            if ours != theirs { problem("relationship \(id) has \(ours) pairs, the log gives \(theirs)") }
            var wrong: [ObjectRef] = []
            try part { () throws(StoreError) in
                for target in targets {
                    let listed = try rebuilt.referrers(postings: id, to: target)
                    let shown = try snapshot.referrers(postings: id, to: target)
                    let count = try snapshot.referrerCount(postings: id, to: target)
                    if shown != listed || count != listed.count { wrong.append(target) }
                }
            }
            if let first = wrong.first {
                problem("relationship \(id) of \(wrong.count) objects, \(first) the first, is not what the log gives")
            }
        }
        for (number, index) in snapshot.ordered.list.enumerated() where index.isReady {
            try part { () throws(StoreError) in
                // A check writes nothing, no files without names either.
                let sorter = OrderedSorter(maximumByteCount: .max, scratch: nil)
                let built = try OrderedIndexBuilder(index.definition, rebuilt).build(with: sorter) { true }
                if try !Self.isEqual(index, to: built) {
                    problem("ordered index \(number) is not what the rows give")
                }
            }
        }
    }

    private static func isEqual(_ index: OrderedIndex, to built: OrderedList?) throws(StoreError) -> Bool {
        guard let built else { return false }
        var expected = try OrderedMerge([built])
        let isEqual = try index.forEachEntry(in: .all) { entry throws(StoreError) in
            guard let (other, _) = try expected.next() else { return false }
            return OrderedBytes.compare(entry, other) == 0
        }
        guard isEqual else { return false }
        return try expected.next() == nil
    }

    /// Every object that a relationship may refer to.
    private static func targets(_ snapshot: Snapshot) throws(StoreError) -> [ObjectRef] {
        var refs: [ObjectRef] = []
        for root in snapshot.layout.roots {
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                let block = try snapshot.source.block(at: run.location)
                for row in run.location.row..<run.location.row + run.count { refs.append(block.ref(row)) }
                return true
            }
        }
        return refs
    }

    /// Whether both snapshots have the same keys at the same locations.
    private static func haveEqualRuns(_ a: Snapshot, _ b: Snapshot, root: UInt16) throws(StoreError) -> Bool {
        // Runs may be cut at other places, so both are compared key by key through the second's index.
        var keys = 0
        var isEqual = true
        try a.forEachRun(root: root) { run throws(StoreError) in
            for index in 0..<run.count {
                let ref = ObjectRef(entity: root, key: run.firstKey + UInt64(index))
                let expected = Location(rawValue: run.location.rawValue + UInt64(index))
                if try b.locate(ref) != expected {
                    isEqual = false
                    return false
                }
            }
            keys += run.count
            return true
        }
        guard isEqual else { return false }
        var others = 0
        try b.forEachRun(root: root) { run in
            others += run.count
            return true
        }
        return keys == others
    }
}
