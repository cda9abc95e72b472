/// What one simulated file holds: as programs see it, as the device has it, and what lies between.
struct SimulatedContent: Sendable {
    /// What the device writes as a whole or not at all.
    static let sectorByteCount = 512

    /// A change that no flush has made durable yet.
    struct Pending: Sendable {
        enum Kind: Sendable {
            case write(offset: Int, bytes: [UInt8])
            /// A write whose data a failed flush dropped. The length it gave the file still waits for a flush.
            case lostWrite
            case truncate
            case preallocate
        }

        var kind: Kind
        /// The file's length after the change.
        var byteCount: Int
    }

    private(set) var volatile = SparseBytes()
    private(set) var durable = SparseBytes()
    private(set) var pending: [Pending] = []

    /// An empty file that has never been flushed.
    init() {}

    /// A file at rest.
    init(durable content: SparseBytes) {
        volatile = content
        durable = content
    }

    mutating func write(_ bytes: [UInt8], at offset: Int) {
        bytes.withUnsafeBytes { volatile.write($0, at: offset) }
        pending.append(Pending(kind: .write(offset: offset, bytes: bytes), byteCount: volatile.byteCount))
    }

    mutating func truncate(to byteCount: Int) {
        volatile.setByteCount(byteCount)
        pending.append(Pending(kind: .truncate, byteCount: byteCount))
    }

    mutating func preallocate(to end: Int) {
        volatile.setByteCount(max(volatile.byteCount, end))
        pending.append(Pending(kind: .preallocate, byteCount: volatile.byteCount))
    }

    /// A flush that succeeds. Whole sectors reach the device, with what the page cache holds of them now.
    mutating func sync() {
        for change in pending {
            switch change.kind {
            case .write(let offset, let bytes):
                let range = Self.sectors(of: offset..<offset + bytes.count).clamped(to: 0..<volatile.byteCount)
                durable.copy(range, from: volatile)
            case .truncate:
                durable.setByteCount(min(durable.byteCount, change.byteCount))
            case .lostWrite, .preallocate:
                break
            }
        }
        durable.setByteCount(volatile.byteCount)
        pending.removeAll()
    }

    /// A flush that fails: what it should have written is not dirty any more, so that no later flush will write it,
    /// yet it is still read from the page cache.
    mutating func failSync(_ loss: SimulatedFileSystem.Fault.FlushLoss) {
        switch loss {
        case .nothing:
            return
        case .everything:
            break
        case .some(let seed):
            var generator = SeededGenerator(seed: seed)
            let retention = Retention(count: pending.count, &generator)
            durable = crashed(.strict, retention, &generator, stale: nil)
        }
        for index in pending.indices {
            if case .write = pending[index].kind {
                pending[index].kind = .lostWrite
            }
        }
    }

    /// Damages both images.
    mutating func corrupt(_ corruption: SimulatedFileSystem.Corruption) {
        corruption.apply(to: &volatile)
        corruption.apply(to: &durable)
    }

    /// The range widened to whole sectors.
    static func sectors(of range: Range<Int>) -> Range<Int> {
        let first = range.lowerBound / sectorByteCount * sectorByteCount
        let end = (range.upperBound + sectorByteCount - 1) / sectorByteCount * sectorByteCount
        return first..<max(first, end)
    }
}
