internal import StrataLog
public import StrataObjectStore

/// Removes from a bucket what no state that is kept needs.
///
/// First the head says from where on states are kept, and since when. When the grace is over, what only earlier states
/// need is removed, and the head can say a later place. Interrupted anywhere, it goes on the next time; what is gone
/// already counts as removed. Fences are never removed.
public struct LogCollector: Sendable {
    /// What a collection has done.
    public struct Report: Sendable, Hashable {
        /// Objects that were removed, and their bytes.
        public internal(set) var objects = 0
        public internal(set) var bytes: Int64 = 0
        /// The first transaction that is kept with everything after it; nil for all.
        public internal(set) var floor: UInt64?
        /// Whether the floor was raised: what lies before it goes when the grace is over.
        public internal(set) var isRaised = false
    }

    private let objects: ShipBucket
    private let retention: ShipRetention?
    private let clock: @Sendable () -> Int64

    /// A collector of a bucket.
    ///
    /// - Parameters:
    ///   - retention: nil to remove only pieces of segments that are there whole, too.
    ///   - cipher: What the bucket is encrypted with; nil if it is not.
    ///   - clock: nanoseconds since 1970; that of the machine if there is none.
    public init(
        _ objects: any ObjectStore, retention: ShipRetention?, cipher: (any ObjectCipher)? = nil,
        clock: (@Sendable () -> Int64)? = nil
    ) {
        self.init(ShipBucket(objects, cipher), retention: retention, clock: clock ?? LogOptions().clock)
    }

    init(_ objects: ShipBucket, retention: ShipRetention?, clock: @escaping @Sendable () -> Int64) {
        self.objects = objects
        self.retention = retention
        self.clock = clock
    }

    /// Removes what may go, and raises the floor.
    ///
    /// - Throws: ``ShipError`` `.missing` if there is no log; `.store` for what is refused, such as a missing
    ///   permission to delete.
    public func collect() async throws(ShipError) -> Report {
        guard let log = try await ShippedLog.read(objects) else { throw EpochLead.noLog(objects) }
        try log.requireEnd()
        var report = Report()
        let now = try await now()
        if let floor = log.head.floor, floor.set > now + Self.clockTolerance {
            throw ShipError(
                .invalid,
                "the floor of \(objects.description) was set \((floor.set - now) / 3_600_000_000_000) hours from now: "
                    + "a clock is or was wrong, here or in the bucket. Nothing is collected until that time has come; "
                    + "set the clock",
                key: ShipKey.head)
        }
        let isOver = log.head.floor.map { now - $0.set >= $0.grace * 1_000_000_000 } ?? true
        if let floor = log.head.floor, isOver { try await remove(before: floor, log, &report) }
        try await removeReplaced(log, now, &report)
        report.floor = log.head.floor?.place.sequence
        if isOver, let retention { try await raise(log, now, retention, &report) }
        return report
    }

    // MARK: The time

    /// A floor may be set so much later than now, since clocks differ.
    private static let clockTolerance: Int64 = 86_400_000_000_000

    /// The time, by this machine's clock or by the bucket's, whichever is earlier: a clock that is ahead must take no
    /// state out of the window.
    private func now() async throws(ShipError) -> Int64 {
        let bytes = Array("clock\n".utf8)
        let objects = objects
        let found = try await asking { () async throws(ObjectStoreError) in
            _ = try await objects.put(ShipKey.clock, bytes, digest: ObjectDigest(of: bytes), if: .always)
            return try await objects.head(ShipKey.clock)?.modified
        }
        guard let found, abs(found) < 9e9 else { return clock() }
        // Times are told in whole seconds: this one is not over.
        return min(clock(), Int64((found + 1) * 1e9))
    }

    // MARK: The floor

    private func raise(
        _ log: ShippedLog, _ now: Int64, _ retention: ShipRetention, _ report: inout Report
    ) async throws(ShipError) {
        let time = now - Int64(retention.age / .nanoseconds(1))
        let segments = log.segments.filter { $0.isComplete && !$0.parts.isEmpty }
        // The segment before the last that begins with nothing later than that: the oldest state of the window lies in
        // it or in that one, whose own first records may be later already.
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            guard let key = segments[middle].parts.first?.key,
                let header = try await ShippedLog.header(key, objects)
            else { return }
            if header.previousTime <= time { low = middle + 1 } else { high = middle }
        }
        var first = low >= 2 ? low - 2 : nil
        if let limit = retention.byteMaximum {
            first = try await self.first(keeping: limit, segments, from: first ?? 0, log) ?? first
        }
        guard let first, case let segment = segments[first], segment.number > log.head.floor?.place.segment ?? 0,
            let key = segment.parts.first?.key, let header = try await ShippedLog.header(key, objects)
        else { return }
        var head = log.head
        head.reached = ShipHead.Reached(log.epoch, log.end.position)
        // Epochs of which nothing is left.
        if let first = log.segments.first(where: { !$0.parts.isEmpty })?.number {
            let begun = head.begun
            for (index, entry) in begun.dropLast().enumerated()
            where begun[index + 1].start.position <= LogPosition(segment: first, offset: 0) {
                head.epochs.removeAll { $0.number == entry.epoch.number }
            }
        }
        head.floor = ShipHead.Floor(
            place: ShipHead.Place(
                segment: segment.number, offset: 0, sequence: header.previousSequence,
                time: header.previousTime, checksum: 0),
            set: now, grace: Int64(retention.grace / .seconds(1)))
        guard try await EpochLead.replace(head, .matching(log.headTag), objects) != nil else { return }
        report.isRaised = true
        report.floor = header.previousSequence
    }

    /// The first of some segments from which on states can be kept without keeping more than so many bytes; the last
    /// but one if there is none. Nil if there is nothing to do.
    private func first(
        keeping limit: Int64, _ segments: [ShippedLog.Segment], from lowest: Int, _ log: ShippedLog
    ) async throws(ShipError) -> Int? {
        let sizes = segments.map { segment in
            segment.parts.reduce(Int64(0)) { $0 + Int64(objects.objectByteCount($1.byteCount)) }
        }
        guard segments.count >= 2, sizes.reduce(0, +) > limit else { return nil }
        var (low, high) = (lowest, segments.count - 2)
        while low < high {
            let middle = (low + high) / 2
            // What the log does not need any more when the segment begins goes.
            let preamble = try await RestorePointFinder.firstRecords(segments[middle], log.head.storeUUID, objects)
                .first
            var holes: [ClosedRange<UInt32>] = []
            if case .all(let all)? = preamble?.holes { holes = all }
            var kept = sizes[middle...].reduce(0, +)
            for index in 0..<middle where !holes.contains(where: { $0.contains(segments[index].number) }) {
                kept += sizes[index]
            }
            if kept > limit { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Removing

    /// Removes what only states before the floor need.
    private func remove(
        before floor: ShipHead.Floor, _ log: ShippedLog, _ report: inout Report
    ) async throws(ShipError) {
        guard let segment = log.segment(floor.place.segment), segment.isComplete else { return }
        // The segments that the log did not need any more when the floor's segment began.
        let preamble = try await RestorePointFinder.firstRecords(segment, log.head.storeUUID, objects).first
        guard case .all(let holes)? = preamble?.holes else { return }
        let needed = log.ends.union(log.segments.flatMap { $0.parts.map(\.key) })
        var doomed: [ObjectInfo] = []
        for info in try await ShippedLog.list(ShipKey.logPrefix, objects) {
            switch ShipKey.parse(info.key) {
            case .piece(_, let number, _), .whole(_, let number):
                guard number < floor.place.segment,
                    holes.contains(where: { $0.contains(number) }) || !needed.contains(info.key)
                else { continue }
                if try await isNoFence(info) { doomed.append(info) }
            case .checkpoint, nil: continue
            }
        }
        // The newest checkpoint before the floor serves the oldest states.
        var isServed = false
        for checkpoint in log.checkpoints.reversed() {
            let key = ShipKey.checkpoint(checkpoint.epoch, checkpoint.number)
            if isServed {
                doomed.append(ObjectInfo(key: key, size: checkpoint.byteCount, tag: "", digest: nil, modified: nil))
            } else if let header = try await ShippedLog.header(key, objects) {
                isServed =
                    header.position <= floor.place.position && log.contains(header.position, of: checkpoint.epoch)
            }
        }
        try await delete(doomed, &report)
    }

    /// Removes pieces of segments that lie in the bucket whole, too.
    private func removeReplaced(_ log: ShippedLog, _ now: Int64, _ report: inout Report) async throws(ShipError) {
        var wholes: [UInt32: UInt32] = [:]
        for segment in log.segments where segment.isComplete && segment.parts.count == 1 {
            if let key = segment.parts.first?.key, case .whole(let epoch, _) = ShipKey.parse(key) {
                wholes[segment.number] = epoch
            }
        }
        let grace = Double((retention?.grace ?? ShipRetention.usualGrace) / .seconds(1))
        let listed = try await ShippedLog.list(ShipKey.logPrefix, objects)
        var isOld: Set<UInt32> = []
        for info in listed {
            // The store's clock and this one may differ: that makes the grace longer or shorter.
            if case .whole(let epoch, let number) = ShipKey.parse(info.key), wholes[number] == epoch,
                let modified = info.modified, modified + grace <= Double(now) / 1e9
            {
                isOld.insert(number)
            }
        }
        var doomed: [ObjectInfo] = []
        for info in listed {
            // What an earlier epoch has of a segment in which a later one begins is needed when somebody takes over
            // from before that: then the later one counts no more.
            guard case .piece(let epoch, let number, _) = ShipKey.parse(info.key), isOld.contains(number),
                epoch == wholes[number]
            else { continue }
            if try await isNoFence(info) { doomed.append(info) }
        }
        try await delete(doomed, &report)
    }

    /// Whether an object has bytes, or only says that a segment is over.
    private func isNoFence(_ info: ObjectInfo) async throws(ShipError) -> Bool {
        if info.size > ObjectHeader.byteCount { return true }
        guard let header = try await ShippedLog.header(info.key, objects) else { return false }
        return header.kind != .fence
    }

    private func delete(_ doomed: [ObjectInfo], _ report: inout Report) async throws(ShipError) {
        var index = 0
        while index < doomed.count {
            let batch = Array(doomed[index..<min(index + 1000, doomed.count)])
            try await asking { () async throws(ObjectStoreError) in try await objects.delete(batch.map(\.key)) }
            report.objects += batch.count
            report.bytes += batch.reduce(0) { $0 + $1.size }
            index += batch.count
        }
    }
}
