internal import StrataIO
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

extension LogStore {
    /// What each segment of the log holds, ascending by number, with those that were compacted away and that snapshots
    /// keep.
    ///
    /// - Throws: `.io` or `.corruption` when a segment cannot be read.
    /// - Complexity: O(objects in runs); reads a segment the first time that it is asked about, and in a read-only
    ///   store
    ///   the one that the log goes on in each time.
    public func segmentStatistics() throws(StoreError) -> [SegmentStatistics] {
        try segmentStatistics(keepsUnshipped: true)
    }

    /// - Parameter keepsUnshipped: whether segments count as needed that a ``ShipSlot`` keeps.
    func segmentStatistics(keepsUnshipped: Bool) throws(StoreError) -> [SegmentStatistics] {
        let snapshot = snapshot
        let infos = try knownSegments(snapshot)
        let rows = try liveRowCounts(snapshot, infos)
        let retention = retention
        let kept = try replacedRows.withLock { rows throws(StoreError) in
            try rows.segments(after: retention.rowsFloor, snapshot, infos)
        }
        var result: [SegmentStatistics] = []
        for info in infos.values {
            var statistics = try statistics(info, rows[info.segment], snapshot, retention)
            if kept.contains(info.segment) {
                statistics.pinnedByteCount = statistics.deadByteCount
                statistics.isRetained = true
            }
            result.append(statistics)
        }
        if isReadOnly {
            let info = try SegmentScan.scan(
                snapshot.end.segment, limit: snapshot.end.offset, source: source, layout: snapshot.layout)
            var statistics = try statistics(info, rows[info.segment], snapshot, retention)
            statistics.isCurrent = true
            result.append(statistics)
        } else {
            result.append(current(snapshot, liveRows: rows[snapshot.end.segment]))
        }
        if keepsUnshipped {
            let unshipped = segmentsKeptForShipping(result)
            for index in result.indices where unshipped.contains(result[index].segment) && !result[index].isCurrent {
                result[index].pinnedByteCount = result[index].deadByteCount
                result[index].isRetained = true
            }
        }
        for segment in source.segments.open where snapshot.epoch.compaction.holes.contains(segment) {
            guard let file = source.segments[segment], let count = try? file.byteCount() else { continue }
            var statistics = SegmentStatistics(
                segment: segment, byteCount: Int(count), liveByteCount: 0, historyByteCount: 0,
                deadByteCount: Int(count), pinnedByteCount: Int(count), ageSequence: 0, isCurrent: false)
            statistics.isRetained = true
            result.append(statistics)
        }
        return result.sorted { $0.segment < $1.segment }
    }

    /// What snapshots keep of segments that were compacted away: part of ``SegmentStatistics/pinnedByteCount``.
    ///
    /// - Complexity: O(such segments); asks the system for the size of each (fstat(2)) and reads none.
    package var snapshotPins: SnapshotPins {
        var pins = SnapshotPins()
        for (file, time) in source.segments.retired {
            guard let byteCount = try? file.byteCount() else { continue }
            pins.byteCount += Int(byteCount)
            pins.sinceNanoseconds = min(pins.sinceNanoseconds ?? time, time)
        }
        return pins
    }

    private func statistics(
        _ info: SegmentInfo, _ liveRows: Int, _ snapshot: Snapshot, _ retention: LogRetention
    ) throws(StoreError) -> SegmentStatistics {
        let live = try liveByteCount(info, rows: liveRows, snapshot)
        let history = info.lastSequence <= retention.historyFloor ? 0 : info.historyByteCount
        return SegmentStatistics(
            segment: info.segment, byteCount: info.byteCount, liveByteCount: live, historyByteCount: history,
            deadByteCount: max(0, info.byteCount - live - history), pinnedByteCount: 0, ageSequence: info.ageSequence,
            isCurrent: false)
    }

    /// The segment that the log goes on in: estimated, as it is not read. Rows written to it before the store was
    /// opened pass for live.
    private func current(_ snapshot: Snapshot, liveRows: Int) -> SegmentStatistics {
        let end = snapshot.end
        var dead = 0
        if let written = writer.withLock({ $0.map { ($0.end.position.segment, $0.segmentRowCount) } }),
            written.0 == end.segment, written.1 > liveRows
        {
            dead = Int(Double(end.offset) * Double(written.1 - liveRows) / Double(written.1))
        }
        return SegmentStatistics(
            segment: end.segment, byteCount: end.offset, liveByteCount: end.offset - dead, historyByteCount: 0,
            deadByteCount: dead, pinnedByteCount: 0, ageSequence: snapshot.sequence, isCurrent: true)
    }

    /// What is known of the segments that a snapshot's log has left; those not seen before are read.
    func knownSegments(_ snapshot: Snapshot) throws(StoreError) -> [UInt32: SegmentInfo] {
        let last = snapshot.end.segment
        let holes = snapshot.epoch.compaction.holes
        var infos: [UInt32: SegmentInfo] = [:]
        for segment in holes.remaining(1, through: last - 1) {
            if let info = segmentInfos.withLock({ $0[segment] }) {
                infos[segment] = info
                continue
            }
            // Closing waits for whoever looks.
            if !isReadOnly, isClosed { throw refusal }
            let limit: Int
            if let hole = holes.hole(at: segment + 1) {
                limit = hole.previousValidByteCount
            } else {
                let next = try RecordReader(
                    files: files, storeUUID: storeUUID, segment: segment + 1,
                    file: try source.file(segment: segment + 1))
                limit = try next.segmentHeader().previousValidByteCount
            }
            let info = try SegmentScan.scan(segment, limit: limit, source: source, layout: snapshot.layout)
            segmentInfos.withLock { $0[segment] = info }
            infos[segment] = info
        }
        return infos
    }

    private func liveRowCounts(
        _ snapshot: Snapshot, _ infos: [UInt32: SegmentInfo]
    ) throws(StoreError) -> SegmentTally {
        let last = snapshot.end.segment
        var tally = SegmentTally((infos.keys.min() ?? last)...last)
        for index in snapshot.indexes { try index.countRows(into: &tally) }
        return tally
    }

    private func liveByteCount(
        _ info: SegmentInfo, rows: Int, _ snapshot: Snapshot
    ) throws(StoreError) -> Int {
        var byteCount = 0
        if info.rowCount > 0 {
            byteCount = Int(Double(info.rowByteCount) * Double(min(rows, info.rowCount)) / Double(info.rowCount))
        }
        for value in info.largeValues {
            let location = try snapshot.locate(value.ref)
            guard !location.isAbsent else { continue }
            let block = try source.block(at: location)
            guard value.slot < block.slotCount, location.row < block.rowCount else { continue }
            let column = try block.column(value.slot)
            guard !column.isNull(location.row), column.isExternal(location.row) else { continue }
            let external = column.external(location.row)
            if external.segment == info.segment, external.byteOffset == value.byteOffset {
                byteCount += value.byteCount
            }
        }
        return byteCount
    }
}
