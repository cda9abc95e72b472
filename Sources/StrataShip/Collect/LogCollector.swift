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
        self.objects = ShipBucket(objects, cipher)
        self.retention = retention
        self.clock = clock ?? LogOptions().clock
    }

    /// Removes what may go, and raises the floor.
    ///
    /// - Throws: ``ShipError`` `.missing` if there is no log; `.store` for what is refused, such as a missing
    ///   permission to delete.
    public func collect() async throws(ShipError) -> Report {
        guard let log = try await ShippedLog.read(objects) else { throw EpochLead.noLog(objects) }
        try log.requireEnd()
        var report = Report()
        let now = clock()
        let isOver = log.head.floor.map { now - $0.set >= $0.grace * 1_000_000_000 } ?? true
        if let floor = log.head.floor, isOver { try await remove(before: floor, log, &report) }
        try await removeReplaced(log, now, &report)
        report.floor = log.head.floor?.place.sequence
        if isOver, let retention { try await raise(log, now, retention, &report) }
        return report
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
        guard low >= 2, case let segment = segments[low - 2],
            segment.number > log.head.floor?.place.segment ?? 0,
            let key = segment.parts.first?.key, let header = try await ShippedLog.header(key, objects)
        else { return }
        var head = log.head
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
