internal import StrataIO
internal import StrataSupport

/// The time between two retirements of segments: what a snapshot taken in it may read.
///
/// Each epoch holds the next one, so that files of segments stay open until the last snapshot that is older than their
/// retirement has gone, whatever came after it.
final class SegmentEpoch: Sendable {
    /// What had been compacted away when the epoch began.
    let compaction: CompactionState
    private let files: SegmentFiles
    private let ending = AdaptiveMutex(Ending())

    private struct Ending {
        var next: SegmentEpoch?
        /// Retired when this epoch ended.
        var segments: [UInt32] = []
    }

    init(compaction: CompactionState, files: SegmentFiles) {
        self.compaction = compaction
        self.files = files
    }

    /// Ends the epoch with a retirement and returns the next one.
    func end(retiring segments: [UInt32], compaction: CompactionState) -> SegmentEpoch {
        let next = SegmentEpoch(compaction: compaction, files: files)
        files.noteRetirement(of: segments)
        ending.withLock { $0 = Ending(next: next, segments: segments) }
        return next
    }

    private func takeNext() -> SegmentEpoch? {
        ending.withLock { ending in
            defer { ending.next = nil }
            return ending.next
        }
    }

    deinit {
        files.close(ending.withLock { $0.segments })
        // A snapshot that was held for long lets go of many epochs: one after the other, not one inside the other.
        var next = takeNext()
        while isKnownUniquelyReferenced(&next) { next = next?.takeNext() }
    }
}

/// The open segment files.
final class SegmentFiles: Sendable {
    private let files = AdaptiveMutex(NumberTable<any File>())
    /// When segments were retired that are still open, in nanoseconds since 1970. Apart from the files, for which
    /// every reader waits.
    private let retirements = AdaptiveMutex(NumberTable<Int64>())
    /// Numbers of the segments that are open.
    var open: [UInt32] { files.withLock { $0.numbers.map { UInt32($0) } } }

    subscript(segment: UInt32) -> (any File)? { files.withLock { $0[segment] } }

    func set(_ file: any File, segment: UInt32) {
        files.withLock { $0[segment] = file }
    }

    /// The file to use: one that another thread was faster to open.
    func insert(_ file: any File, segment: UInt32) -> any File {
        files.withLock { table in
            if let file = table[segment] { return file }
            table[segment] = file
            return file
        }
    }

    /// Remembers when segments were compacted away, until they are closed.
    func noteRetirement(of segments: [UInt32]) {
        guard !segments.isEmpty else { return }
        let now = WallClock.nanosecondsSince1970()
        retirements.withLock { table in for segment in segments { table[segment] = now } }
    }

    /// The files of segments that were compacted away and that snapshots keep open.
    var retired: [(file: any File, nanosecondsSince1970: Int64)] {
        let retirements = retirements.withLock { Array(zip($0.numbers, $0.values)) }
        return retirements.compactMap { number, time in self[UInt32(number)].map { ($0, time) } }
    }

    /// Lets go of files that nothing refers to any more. Whoever still reads from one has a reference to it.
    func close(_ segments: [UInt32]) {
        guard !segments.isEmpty else { return }
        // Not their cached blocks: this may be called while one is being dropped from the cache. They age out.
        files.withLock { table in for segment in segments { table[segment] = nil } }
        retirements.withLock { table in for segment in segments { table[segment] = nil } }
    }
}
