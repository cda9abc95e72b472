import DataSet

/// What an update storm needs of a store.
public protocol StormStore: ShrinkingStore, UpdatingStore {}

/// W7: a million changes of one field, 1,000 a durable transaction, over 100,000 rows, while the store cleans up as it
/// does by itself.
public struct UpdateStorm {
    /// Which rows are changed.
    public enum Skew: String, CaseIterable, Sendable {
        /// Each as often as any other.
        case uniform
        /// Nine changes of ten go to a tenth of the rows.
        case skewed
    }

    public private(set) var updatesPerSecond = 0.0
    /// Bytes handed to write(2) over the packed bytes of the rows that were changed, each as often as it was.
    public private(set) var writeAmplification = 0.0
    /// Milliseconds of a transaction.
    public private(set) var median = 0.0
    public private(set) var percentile99 = 0.0
    public private(set) var slowest = 0.0
    /// What the disk alone takes for each transaction, just before the storm and just after it.
    public private(set) var floor = DiskFloor()
    /// Bytes allocated in the folder: the most that was seen, and of the store in its smallest form.
    public private(set) var largestBytes: UInt64 = 0
    public private(set) var liveBytes: UInt64 = 0
    /// Sum over all scores at the end.
    public private(set) var check: UInt64 = 0

    /// Space is looked at after so many transactions, off the clock.
    private static let sampling = 5

    /// Fills the store and lets the storm loose.
    ///
    /// - Parameter updates: how many; 1,000,000 in the workload's own size.
    public init(
        _ skew: Skew, on store: any StormStore, in folder: Folder, rows rowCount: Int = Workload.stormRows,
        updates: Int = Workload.stormUpdates
    ) throws {
        let rows = PersonRow.all(rowCount)
        let packed = PackedPeople(rows)
        for batch in Workload.batches(rows.count) { try store.insert(rows[batch], packed: packed) }
        try store.prepareKeys(rows.count)
        try store.shrink()
        settleDisks()
        let floorByteCount = Workload.stormUpdatesPerCommit * (packed.rows(1, UInt64(rowCount)).count / rowCount)
        try floor.measure(beside: folder, byteCount: floorByteCount)
        let before = WriteCounters(devicesOf: folder.path)
        var random = SplitMix64(21)
        var latencies: [Double] = []
        var payload = 0
        for number in 0..<(updates / Workload.stormUpdatesPerCommit) {
            var seen: Set<UInt64> = []
            let changes = (0..<Workload.stormUpdatesPerCommit).map { _ in
                let bits = random.next()
                return (id: skew.id(bits, random.next(), of: rowCount), score: newScore(bits))
            }
            for change in changes where seen.insert(change.id).inserted {
                payload += PackedPeople.packedByteCount(rows[Int(change.id) - 1])
            }
            let (seconds, _) = try timed { try store.updateScores(changes) }
            latencies.append(seconds)
            if number % Self.sampling == 0 { largestBytes = max(largestBytes, folder.allocatedBytes) }
        }
        let after = WriteCounters(devicesOf: folder.path)
        writeAmplification = Double(after.systemCallBytes - before.systemCallBytes) / Double(payload)
        updatesPerSecond = Double(updates) / latencies.reduce(0, +)
        latencies.sort()
        median = percentile(latencies, 0.5) * 1e3
        percentile99 = percentile(latencies, 0.99) * 1e3
        slowest = (latencies.last ?? 0) * 1e3
        try floor.measure(beside: folder, byteCount: floorByteCount)
        check = try store.read((1...UInt64(rowCount)).map { $0 }, .twoFields) ?? 0
        try store.shrink()
        liveBytes = folder.allocatedBytes
    }
}

extension UpdateStorm.Skew {
    fileprivate func id(_ bits: UInt64, _ more: UInt64, of count: Int) -> UInt64 {
        let hot = UInt64(count / 10)
        switch self {
        case .uniform: return updatedID(bits, of: count)
        case .skewed where more % 10 < 9: return (bits >> 20) % hot + 1
        case .skewed: return (bits >> 20) % (UInt64(count) - hot) + hot + 1
        }
    }
}
