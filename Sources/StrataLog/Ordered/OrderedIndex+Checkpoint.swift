// In the checkpoint file an index is its blocks, one after the other, and then its directory. All integers are
// little-endian.
//
//     block        entries 2 | 0 2 | bytes of all entries 4
//                  each entry: bytes shared with the one before, bytes that follow, those bytes; counts are LEB128
//     directory    magic 4 | version 2 | flags 2 (1: some values are longer than the index looks at)
//                  length of the definition 4 | blocks 4 | file offset of the first block 8 | definition
//                  each block: length 4 | entries 2 | CRC-32C 4 | length of the first entry 4 | first entry
//                  length of the last entry 4 | last entry
//                  CRC-32C of the directory so far 4
//
// A block's checksum covers the digest of the definition and the checksum of its first entry (8 bytes each) and then
// its bytes.

private let directoryMagic: UInt32 = 0x5844_494F
private let directoryVersion: UInt16 = 1
private let inexactFlag: UInt16 = 1

extension OrderedIndex {
    /// Writes this version: base and runs merged into new blocks, then the directory. Blocks in which nothing changed
    /// are copied as they are.
    ///
    /// - Precondition: ``isReady``
    /// - Returns: what ``load(_:from:)`` needs.
    /// - Throws: the sink's and the source's errors; `.corruption` when a block of the old checkpoint is damaged.
    func encode(into sink: any CheckpointSink) throws(StoreError) -> CheckpointSection {
        guard let base else { preconditionFailure("an index that is being built is in no checkpoint") }
        let writer = OrderedSectionWriter(sink, definition, isInexact: !isExact)
        guard base.directory != nil else {
            try writer.append(contentsOf: OrderedMerge(lists))
            return try writer.finish()
        }
        let changes = try OrderedMerge.merged(runs.list.map(\.list))
        for index in 0..<base.blockCount {
            var range = OrderedRange.all
            if index > 0 { range.lower = base.firstKey(index) }
            if index + 1 < base.blockCount { range.upper = base.firstKey(index + 1) }
            var merge = try OrderedMerge([changes], in: range)
            if try merge.next() == nil, try writer.copy(index, of: base) { continue }
            let block = OrderedList([try base.block(index)], isInexact: false)
            try writer.append(contentsOf: OrderedMerge([block, changes], in: range))
        }
        if base.blockCount == 0 { try writer.append(contentsOf: OrderedMerge([changes])) }
        return try writer.finish()
    }

    /// Opens what ``encode(into:)`` wrote. Reads the directory only.
    ///
    /// - Throws: `.corruption` when it is damaged, `.io` when it cannot be read.
    static func load(_ section: CheckpointSection, from source: any PageSource) throws(StoreError) -> OrderedIndex {
        var reader = try SectionReader(section, from: source, of: "an ordered index")
        guard try reader.next() == directoryMagic, try reader.next() == directoryVersion else {
            throw reader.damaged("it is not that of an ordered index")
        }
        let flags = try reader.next(UInt16.self)
        let definitionByteCount = Int(try reader.next(UInt32.self))
        let blockCount = Int(try reader.next(UInt32.self))
        var offset = try reader.next(Int64.self)
        let definition: OrderedIndexDefinition
        do {
            let bytes = try reader.bytes(definitionByteCount)
            definition = try bytes.withBytes { bytes throws(MalformedBytes) in
                var reader = ByteReader(bytes)
                return try OrderedIndexDefinition(from: &reader)
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw reader.damaged("its definition makes no sense")
        }
        var directory = OrderedList.Directory(digest: definition.digest, source: source)
        guard blockCount <= reader.remainingByteCount / 14 else { throw reader.damaged("too many blocks") }
        directory.entries.reserveCapacity(blockCount)
        var previous: [UInt8] = []
        for index in 0..<blockCount {
            let byteCount = try reader.next(UInt32.self)
            let count = try reader.next(UInt16.self)
            let checksum = try reader.next(UInt32.self)
            let key = try reader.bytes(Int(try reader.next(UInt32.self)))
            let (end, overflow) = offset.addingReportingOverflow(Int64(byteCount))
            guard offset >= 0, !overflow, end <= section.offset, count > 0,
                Int(count) <= OrderedBlock.maximumEntries, byteCount <= OrderedBlockCoding.maximumByteCount,
                key.count >= OrderedBlock.refByteCount, index == 0 || previous.lexicographicallyPrecedes(key)
            else { throw reader.damaged("block \(index) is impossible") }
            directory.entries.append(
                OrderedList.Directory.Entry(
                    offset: offset, byteCount: byteCount, count: count, checksum: checksum,
                    keyStart: UInt32(directory.keys.count), keyCount: UInt32(key.count)))
            directory.keys += key
            previous = key
            offset = end
        }
        directory.lastKey = try reader.bytes(Int(try reader.next(UInt32.self)))
        guard !directory.lastKey.lexicographicallyPrecedes(previous) else {
            throw reader.damaged("its last entry is not the last")
        }
        return OrderedIndex(
            definition, lineage: Lineage(), base: OrderedList(directory, isInexact: flags & inexactFlag != 0))
    }
}

/// A block's entries as bytes in the checkpoint file.
enum OrderedBlockCoding {
    /// Larger ones are refused; a definition's elements are few enough for an entry never to come near.
    static let maximumByteCount: UInt32 = 1 << 28
    static let headerByteCount = 8

    static func encode(_ entries: [[UInt8]]) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 8 << 10)
        writer.append(UInt16(entries.count))
        writer.append(UInt16(0))
        writer.append(UInt32(entries.reduce(0) { $0 + $1.count }))
        var bytes = writer.bytes
        var previous: [UInt8] = []
        for entry in entries {
            let shared = entry.withUnsafeBytes { entry in
                previous.withUnsafeBytes { OrderedBytes.sharedCount($0, entry, limit: entry.count) }
            }
            append(shared, to: &bytes)
            append(entry.count - shared, to: &bytes)
            bytes.append(contentsOf: entry[shared...])
            previous = entry
        }
        return bytes
    }

    private static func append(_ value: Int, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    @inline(__always)
    private static func readCount(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
        var value = 0
        var shift = 0
        while position < bytes.count, shift < 35 {
            let byte = bytes[position]
            position += 1
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    /// Nil for bytes that `encode` does not make: entries that do not ascend or are too short, counts that do not fit.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> OrderedBlock? {
        guard bytes.count >= headerByteCount else { return nil }
        let count = Int(UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)))
        let total = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        guard count > 0, count <= OrderedBlock.maximumEntries, total <= Int(maximumByteCount) else { return nil }
        // No entry is longer than all that follows the shared bytes.
        guard total <= count * bytes.count else { return nil }
        let entries = UnsafeMutableRawPointer.allocate(byteCount: max(total, 1), alignment: 8)
        let offsets = UnsafeMutablePointer<UInt32>.allocate(capacity: count + 1)
        guard decode(bytes, count: count, total: total, into: entries, offsets) else {
            entries.deallocate()
            offsets.deallocate()
            return nil
        }
        return OrderedBlock(owning: entries, offsets, count: count)
    }

    /// Writes `total` bytes and `count + 1` offsets; false for bytes that `encode` does not make.
    private static func decode(
        _ bytes: UnsafeRawBufferPointer, count: Int, total: Int, into entries: UnsafeMutableRawPointer,
        _ offsets: UnsafeMutablePointer<UInt32>
    ) -> Bool {
        guard let source = bytes.baseAddress else { return false }
        var position = headerByteCount
        // Of the entry before.
        var (start, end) = (0, 0)
        offsets[0] = 0
        for index in 0..<count {
            guard let shared = readCount(bytes, &position), let more = readCount(bytes, &position),
                shared <= end - start, more <= bytes.count - position, shared + more >= OrderedBlock.refByteCount,
                end + shared + more <= total
            else { return false }
            let next = entries + end
            next.copyMemory(from: entries + start, byteCount: shared)
            (next + shared).copyMemory(from: source + position, byteCount: more)
            position += more
            // What both share says nothing about their order.
            let previousTail = UnsafeRawBufferPointer(start: entries + start + shared, count: end - start - shared)
            let tail = UnsafeRawBufferPointer(start: next + shared, count: more)
            guard index == 0 || OrderedBytes.compare(previousTail, tail) < 0 else { return false }
            (start, end) = (end, end + shared + more)
            offsets[index + 1] = UInt32(end)
        }
        return position == bytes.count && end == total
    }

    static func checksum(_ bytes: UnsafeRawBufferPointer, digest: UInt64, first: UnsafeRawBufferPointer) -> UInt32 {
        PageChecksum.of(bytes, place: digest, UInt64(PageChecksum.of(first)))
    }
}

extension OrderedList {
    /// A block's bytes in the file, checked against its checksum.
    func readBytes(_ index: Int) throws(StoreError) -> [UInt8] {
        guard let directory else { preconditionFailure("only a list in a file is read") }
        let entry = directory.entries[index]
        var bytes = [UInt8](repeating: 0, count: Int(entry.byteCount))
        var failure: StoreError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(StoreError) {
                try directory.source.read(into: buffer, at: entry.offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        let first = firstKey(index)
        let found = bytes.withUnsafeBytes { bytes in
            first.withUnsafeBytes { OrderedBlockCoding.checksum(bytes, digest: directory.digest, first: $0) }
        }
        guard found == entry.checksum else {
            throw directory.source.damaged(
                "a block of an ordered index has checksum \(found), expected \(entry.checksum)", offset: entry.offset)
        }
        return bytes
    }

    /// Reads, checks and decodes a block.
    func readBlock(_ index: Int) throws(StoreError) -> OrderedBlock {
        guard let directory else { preconditionFailure("only a list in a file is read") }
        let bytes = try readBytes(index)
        let isLast = index + 1 == blockCount
        let end = isLast ? directory.lastKey : firstKey(index + 1)
        let block = bytes.withUnsafeBytes { OrderedBlockCoding.decode($0) }
        guard let block, block.count == Int(directory.entries[index].count),
            block.entry(0).elementsEqual(firstKey(index)),
            end.withUnsafeBytes({
                let order = OrderedBytes.compare(block.entry(block.count - 1), $0)
                return isLast ? order == 0 : order < 0
            })
        else {
            throw directory.source.damaged(
                "a block of an ordered index is malformed", offset: directory.entries[index].offset)
        }
        return block
    }
}

/// Writes blocks and collects the directory.
private final class OrderedSectionWriter {
    /// Blocks are not copied where that would leave a shorter one before them.
    private static let shortBlockMinimum = 64

    private let writer: SectionWriter
    private let start: Int64
    private let definition: OrderedIndexDefinition
    private let isInexact: Bool
    private let digest: UInt64
    private var directory = DirectoryBytes()
    private var blockCount: UInt32 = 0
    private var pending: [[UInt8]] = []
    private var pendingByteCount = 0
    private var lastKey: [UInt8] = []

    init(_ sink: any CheckpointSink, _ definition: OrderedIndexDefinition, isInexact: Bool) {
        writer = SectionWriter(sink)
        start = writer.position
        self.definition = definition
        self.isInexact = isInexact
        digest = definition.digest
    }

    func append(contentsOf merge: consuming OrderedMerge) throws(StoreError) {
        var merge = merge
        while let (entry, net) = try merge.next() {
            if net <= 0 { continue }
            pending.append(Array(entry))
            pendingByteCount += entry.count
            if pending.count == OrderedBlock.maximumEntries || pendingByteCount >= OrderedBlock.fullByteCount {
                try close()
            }
        }
    }

    /// Copies a block as it is; false when that would leave a very short block before it.
    func copy(_ index: Int, of list: OrderedList) throws(StoreError) -> Bool {
        if !pending.isEmpty {
            guard pending.count >= Self.shortBlockMinimum else { return false }
            try close()
        }
        // A migration has given the index another definition, which the checksums cover.
        guard list.directory?.digest == digest else { return false }
        guard let entry = list.directory?.entries[index] else { return false }
        let bytes = try list.readBytes(index)
        try add(bytes, count: entry.count, first: list.firstKey(index), checksum: entry.checksum)
        // Only that of the last block is asked for.
        if index + 1 == list.blockCount { lastKey = list.directory?.lastKey ?? [] }
        return true
    }

    private func close() throws(StoreError) {
        guard let first = pending.first, let last = pending.last else { return }
        let bytes = OrderedBlockCoding.encode(pending)
        let checksum = bytes.withUnsafeBytes { bytes in
            first.withUnsafeBytes { OrderedBlockCoding.checksum(bytes, digest: digest, first: $0) }
        }
        try add(bytes, count: UInt16(pending.count), first: first, checksum: checksum)
        lastKey = last
        pending.removeAll(keepingCapacity: true)
        pendingByteCount = 0
    }

    private func add(_ bytes: [UInt8], count: UInt16, first: [UInt8], checksum: UInt32) throws(StoreError) {
        try bytes.withBytes { bytes throws(StoreError) in try writer.write(bytes) }
        directory.append(UInt32(bytes.count))
        directory.append(count)
        directory.append(checksum)
        directory.append(UInt32(first.count))
        directory.bytes += first
        blockCount += 1
    }

    func finish() throws(StoreError) -> CheckpointSection {
        try close()
        let encoded = definition.encoded()
        var head = DirectoryBytes()
        head.append(directoryMagic)
        head.append(directoryVersion)
        head.append(isInexact ? inexactFlag : 0)
        head.append(UInt32(encoded.count))
        head.append(blockCount)
        head.append(start)
        head.bytes += encoded
        head.bytes += directory.bytes
        head.append(UInt32(lastKey.count))
        head.bytes += lastKey
        return try writer.finish(directory: head)
    }
}
