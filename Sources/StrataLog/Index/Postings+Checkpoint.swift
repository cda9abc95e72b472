// In the checkpoint file postings are their blocks (see PostingsBlock), one after the other, and then their directory.
// All integers are little-endian.
//
//     directory    magic 4 | version 2 | 0 2 | pairs 8 | blocks 4 | 0 4
//                  file offset of the first block 8
//                  each block: first target 8 | first referrer 8 | length 2 | pairs 2 | CRC-32C 4
//                  CRC-32C of the directory so far 4
//
// A block's checksum covers its first target and referrer (8 bytes each) and then its bytes.

private let directoryMagic: UInt32 = 0x5453_4F50
private let directoryVersion: UInt16 = 1

extension Postings {
    /// This version with its runs kept apart from later ones, so that they can be dropped when they are in a
    /// checkpoint. Publish the result in place of the newest version, write it with ``encode(into:)``, open it with
    /// ``load(_:from:)`` and exchange the base of what is the newest version then with ``rebased(onto:from:)``.
    package func sealed() -> Postings { Postings(base, runs.sealed()) }

    /// This version with a new base that holds what its base and its runs up to `sealed` held.
    ///
    /// - Parameters:
    ///   - reopened: opened from what ``encode(into:)`` wrote of `sealed`.
    ///   - sealed: the version that ``sealed()`` returned last in this version's past.
    package func rebased(onto reopened: Postings, from sealed: Postings) -> Postings {
        precondition(
            runs.border == sealed.runs.border && sealed.runs.generation == runs.border,
            "not the version that was sealed last")
        return Postings(reopened.base, runs.afterSealing())
    }

    /// Writes this version: base and runs merged into new blocks, then the directory.
    ///
    /// Streams: holds one block at a time, and copies blocks in which nothing changed as they are.
    ///
    /// - Returns: what ``load(_:from:)`` needs.
    /// - Throws: the sink's and the source's errors; `.corruption` when a block of the old checkpoint is damaged.
    package func encode(into sink: any CheckpointSink) throws(StoreError) -> CheckpointSection {
        var writer = PostingsWriter(sink)
        var changes = PostingsChanges(runs)
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: PostingsBlock.maximumByteCount + PostingsBlock.slackByteCount, alignment: 8)
        defer { bytes.deallocate() }
        for (index, entry) in base.entries.enumerated() {
            try base.read(
                index,
                into: UnsafeMutableRawBufferPointer(
                    rebasing: bytes[..<(Int(entry.byteCount) + PostingsBlock.slackByteCount)]))
            let limit = index + 1 < base.entries.count ? base.entries[index + 1].first : nil
            let isUnchanged = changes.next.map { next in limit.map { next.pair >= $0 } ?? false } ?? true
            if isUnchanged, try writer.copy(entry, UnsafeRawBufferPointer(bytes)) { continue }
            guard let start = bytes.baseAddress else { preconditionFailure("the buffer has bytes") }
            let block = PostingsBlock(start)
            for position in 0..<block.count {
                let pair = block[position]
                try changes.drain(below: pair, into: &writer)
                var count = 1
                if let next = changes.next, next.pair == pair {
                    count += next.net
                    changes.advance()
                }
                if count > 0 { try writer.append(pair) }
            }
            if let limit { try changes.drain(below: limit, into: &writer) }
        }
        try changes.drain(below: nil, into: &writer)
        return try writer.finish()
    }

    /// Opens the postings whose directory lies at `section`, which the caller has checked to lie in the file.
    ///
    /// Reads the directory only: 56 bytes for each 512 pairs stay in memory, and a block comes with its first touch.
    ///
    /// - Throws: `.io` or `.corruption`.
    package static func load(
        _ section: CheckpointSection, from source: any PageSource
    ) throws(StoreError) -> Postings {
        var reader = try SectionReader(section, from: source, of: "postings")
        guard try reader.next(UInt32.self) == directoryMagic else { throw reader.damaged("not postings") }
        guard try reader.next(UInt16.self) == directoryVersion else { throw reader.damaged("unknown version") }
        _ = try reader.next(UInt16.self)
        let pairCount = try reader.next(UInt64.self)
        let blockCount = Int(try reader.next(UInt32.self))
        _ = try reader.next(UInt32.self)
        let offset = try reader.next(Int64.self)
        guard reader.remainingByteCount == blockCount * PostingsWriter.entryByteCount, offset >= 0 else {
            throw reader.damaged("the number of blocks or their place")
        }

        guard let entries = reader.rest({ entries($0, blocksAt: offset, end: section.offset) }) else {
            throw reader.damaged("a block's entry")
        }
        let pairsBefore = entries.last.map { $0.pairsBefore + Int($0.pairCount) } ?? 0
        guard UInt64(pairsBefore) == pairCount else { throw reader.damaged("the number of pairs") }
        let base = PostingsBase(entries, pairCount: pairsBefore, source: source)
        return Postings(base, SortedRuns())
    }

    /// The entries of a directory, or nil when one of them cannot be. In one pass over the bytes: a store of ten
    /// million references has twenty thousand of them, and opening waits for all.
    private static func entries(
        _ bytes: UnsafeRawBufferPointer, blocksAt start: Int64, end: Int64
    ) -> [PostingsBase.Entry]? {
        let count = bytes.count / PostingsWriter.entryByteCount
        var offset = start
        var pairsBefore = 0
        var isValid = true
        let entries = [PostingsBase.Entry](unsafeUninitializedCapacity: count) { entries, initialized in
            var last = PostingPair(0, 0)
            for index in 0..<count {
                let at = index * PostingsWriter.entryByteCount
                func load<T: FixedWidthInteger>(_ field: Int, _ type: T.Type = T.self) -> T {
                    T(littleEndian: bytes.loadUnaligned(fromByteOffset: at + field, as: T.self))
                }
                let entry = PostingsBase.Entry(
                    first: PostingPair(load(0), load(8)), offset: offset, byteCount: load(16), pairCount: load(18),
                    checksum: load(20), pairsBefore: pairsBefore)
                guard index == 0 || last < entry.first, entry.pairCount > 0,
                    Int(entry.pairCount) <= PostingsBlock.maximumPairs,
                    Int(entry.byteCount) <= PostingsBlock.maximumByteCount,
                    Int(entry.byteCount) >= PostingsBlock.headerByteCount,
                    Int64(entry.byteCount) <= end - offset
                else {
                    isValid = false
                    return
                }
                entries.initializeElement(at: index, to: entry)
                initialized = index + 1
                last = entry.first
                offset += Int64(entry.byteCount)
                pairsBefore += Int(entry.pairCount)
            }
        }
        return isValid ? entries : nil
    }
}

/// Writes sorted pairs as blocks and their directory.
private struct PostingsWriter: ~Copyable {
    static let entryByteCount = 24
    /// Fewer pairs than this are not closed to a block for the sake of copying the next one as it is.
    private static let shortBlockMinimum = 128

    private let writer: SectionWriter
    private let start: Int64
    private var directory = DirectoryBytes()
    private var blockCount: UInt32 = 0
    private var pairCount: UInt64 = 0
    private var pending: [PostingPair] = []
    private let packed = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PostingsBlock.maximumByteCount + PostingsBlock.slackByteCount, alignment: 8)

    init(_ sink: any CheckpointSink) {
        writer = SectionWriter(sink)
        start = writer.position
        pending.reserveCapacity(PostingsBlock.maximumPairs)
    }

    deinit {
        packed.deallocate()
    }

    mutating func append(_ pair: PostingPair) throws(StoreError) {
        pending.append(pair)
        if pending.count == PostingsBlock.maximumPairs { try closeBlock() }
    }

    /// Copies a packed block as it is; false when that would leave a very short block before it.
    mutating func copy(_ entry: PostingsBase.Entry, _ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        if !pending.isEmpty {
            guard pending.count >= Self.shortBlockMinimum else { return false }
            try closeBlock()
        }
        try add(
            entry.first, UnsafeRawBufferPointer(rebasing: bytes[..<Int(entry.byteCount)]),
            pairCount: entry.pairCount, checksum: entry.checksum)
        return true
    }

    private mutating func closeBlock() throws(StoreError) {
        guard let first = pending.first else { return }
        let byteCount = PostingsBlock.pack(pending[...], into: packed)
        let bytes = UnsafeRawBufferPointer(rebasing: packed[..<byteCount])
        try add(
            first, bytes, pairCount: UInt16(pending.count),
            checksum: PageChecksum.of(bytes, key: first.target, first.referrer))
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func add(
        _ first: PostingPair, _ bytes: UnsafeRawBufferPointer, pairCount: UInt16, checksum: UInt32
    ) throws(StoreError) {
        try writer.write(bytes)
        directory.append(first.target)
        directory.append(first.referrer)
        directory.append(UInt16(bytes.count))
        directory.append(pairCount)
        directory.append(checksum)
        blockCount += 1
        self.pairCount += UInt64(pairCount)
    }

    mutating func finish() throws(StoreError) -> CheckpointSection {
        try closeBlock()
        var head = DirectoryBytes()
        head.append(directoryMagic)
        head.append(directoryVersion)
        head.append(UInt16(0))
        head.append(pairCount)
        head.append(blockCount)
        head.append(UInt32(0))
        head.append(start)
        head.bytes += directory.bytes
        return try writer.finish(directory: head)
    }
}

/// All runs' pairs in order, each with its additions less its removals.
private struct PostingsChanges {
    private struct Cursor {
        let pairs: [PostingPair]
        let sign: Int
        var position = 0
    }

    private var cursors: [Cursor]
    private(set) var next: (pair: PostingPair, net: Int)?

    init(_ runs: SortedRuns<PostingsRun>) {
        cursors = runs.list.flatMap { [Cursor(pairs: $0.adds, sign: 1), Cursor(pairs: $0.removals, sign: -1)] }
        cursors.removeAll { $0.pairs.isEmpty }
        advance()
    }

    mutating func advance() {
        var lowest: PostingPair?
        for cursor in cursors where cursor.position < cursor.pairs.count {
            let pair = cursor.pairs[cursor.position]
            lowest = lowest.map { pair < $0 ? pair : $0 } ?? pair
        }
        guard let lowest else {
            next = nil
            return
        }
        var net = 0
        for index in cursors.indices
        where cursors[index].position < cursors[index].pairs.count
            && cursors[index].pairs[cursors[index].position] == lowest
        {
            net += cursors[index].sign
            cursors[index].position += 1
        }
        next = (lowest, net)
    }

    /// Writes what was added below `limit`, or all when there is no limit.
    mutating func drain(below limit: PostingPair?, into writer: inout PostingsWriter) throws(StoreError) {
        while let change = next {
            if let limit, change.pair >= limit { return }
            if change.net > 0 { try writer.append(change.pair) }
            advance()
        }
    }
}
