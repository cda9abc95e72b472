/// Which of a list of unflushed changes a crash keeps. Drawn anew for each image, so that the whole range between
/// "nothing" and "everything" is met, and not only the middle of it.
enum Retention: Sendable {
    case none
    case all
    case each(probability: Double)
    /// What came before is kept, what comes after is not, the one in the middle perhaps in part.
    case prefix(Int)
    /// The other way round: the device wrote the newest first.
    case suffix(Int)

    init(count: Int, _ generator: inout SeededGenerator) {
        switch generator.below(8) {
        case 0: self = .none
        case 1: self = .all
        case 2, 3: self = .each(probability: 0.5)
        case 4: self = .each(probability: generator.chance(0.5) ? 0.1 : 0.9)
        case 5, 6: self = .prefix(generator.below(count + 1))
        default: self = .suffix(generator.below(count + 1))
        }
    }

    /// Whether all or nothing of a change is kept; nil when each part has its own fate.
    func whole(_ index: Int) -> Bool? {
        switch self {
        case .none: false
        case .all: true
        case .each: nil
        case .prefix(let limit): index == limit ? nil : index < limit
        case .suffix(let limit): index == limit ? nil : index > limit
        }
    }

    /// The fate of one part.
    func part(_ generator: inout SeededGenerator) -> Bool {
        if case .each(let probability) = self { return generator.chance(probability) }
        return generator.chance(0.5)
    }
}

extension SimulatedContent {
    /// What the device holds after a crash.
    ///
    /// Walks through the unflushed changes in order while `cache` follows as the page cache was. A sector that a change
    /// touched and that is kept becomes what it was in the cache right after that change, so any sector may end at any
    /// of its versions. The length is that after any of the changes.
    func crashed(
        _ policy: SimulatedFileSystem.CrashPolicy, _ retention: Retention, _ generator: inout SeededGenerator,
        stale: SparseBytes?
    ) -> SparseBytes {
        guard !pending.isEmpty else { return durable }
        let lengthCount = chooseLengthCount(policy, retention, &generator)
        let filler = Filler(stale, &generator)
        var cache = durable
        var image = durable
        var filledFrom = durable.byteCount
        var cutoff = Int.max
        var written: Set<Int> = []
        for (index, change) in pending.enumerated() {
            let isLengthKept = index < lengthCount
            switch change.kind {
            case .truncate where isLengthKept:
                cache.setByteCount(change.byteCount)
                image.setByteCount(min(image.byteCount, change.byteCount))
                filledFrom = max(filledFrom, change.byteCount)
            case .truncate:
                // Blocks written after a cut that did not become durable belong to nothing.
                cache.setByteCount(change.byteCount)
                cutoff = min(cutoff, change.byteCount)
            case .preallocate, .lostWrite:
                cache.setByteCount(change.byteCount)
                if isLengthKept { filledFrom = max(filledFrom, change.byteCount) }
            case .write(let offset, let bytes):
                bytes.withUnsafeBytes { cache.write($0, at: offset) }
                let range = Self.sectors(of: offset..<offset + bytes.count).clamped(to: 0..<min(cache.byteCount, cutoff))
                let isForced = policy == .ordered && isLengthKept
                if policy != .evil, let isKept = retention.whole(index), isKept || policy == .strict {
                    if isKept { image.copy(range, from: cache) }
                    continue
                }
                for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.sectorByteCount) {
                    let sector = start..<min(start + Self.sectorByteCount, range.upperBound)
                    let isNew = sector.upperBound > durable.byteCount
                    if (isForced && isNew) || (retention.whole(index) ?? retention.part(&generator)) {
                        image.copy(sector, from: cache)
                        written.insert(start)
                    } else if policy == .evil, isLengthKept, start >= filledFrom, !written.contains(start) {
                        filler.fill(sector, of: &image, &generator)
                    }
                }
            }
        }
        image.setByteCount(lengthCount == 0 ? durable.byteCount : pending[lengthCount - 1].byteCount)
        return image
    }

    /// How many of the unflushed changes have given the file their length.
    private func chooseLengthCount(
        _ policy: SimulatedFileSystem.CrashPolicy, _ retention: Retention, _ generator: inout SeededGenerator
    ) -> Int {
        let count = pending.count
        if policy == .evil, generator.chance(0.75) { return count }
        switch (retention, generator.below(4)) {
        case (.all, 1...), (_, 0): return count
        case (.none, 1...): return 0
        case (.prefix(let limit), 1...2): return min(limit + 1, count)
        default: return generator.below(count + 1)
        }
    }
}

/// What is read from blocks that belong to a file but were never written.
private enum Filler {
    case zeros
    case garbage
    case stale(SparseBytes)

    init(_ stale: SparseBytes?, _ generator: inout SeededGenerator) {
        switch generator.below(3) {
        case 0: self = .zeros
        case 1: self = .garbage
        default: self = stale.map { $0.byteCount > 0 ? .stale($0) : .garbage } ?? .garbage
        }
    }

    func fill(_ sector: Range<Int>, of image: inout SparseBytes, _ generator: inout SeededGenerator) {
        switch self {
        case .zeros:
            return
        case .garbage:
            let bytes = sector.map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            bytes.withUnsafeBytes { image.write($0, at: sector.lowerBound) }
        case .stale(let source):
            let sectorByteCount = SimulatedContent.sectorByteCount
            let start = generator.below((source.byteCount + sectorByteCount - 1) / sectorByteCount) * sectorByteCount
            let count = min(sector.count, source.byteCount - start)
            var bytes = [UInt8](repeating: 0, count: count)
            bytes.withUnsafeMutableBytes { source.copy(start..<start + count, to: $0) }
            bytes.withUnsafeBytes { image.write($0, at: sector.lowerBound) }
        }
    }
}
