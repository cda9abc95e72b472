/// A block's entries as bytes in the checkpoint file.
enum OrderedBlockCoding {
    /// Larger ones are refused; a definition's elements are few enough for an entry never to come near.
    static let maximumByteCount: UInt32 = 1 << 28
    static let headerByteCount = 8

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

    /// Nil for bytes that ``OrderedBlockEncoder`` does not make: entries that do not ascend or are too short, counts
    /// that do not fit.
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

    /// Writes `total` bytes and `count + 1` offsets; false for bytes that the encoder does not make.
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
        PageChecksum.of(bytes, key: digest, UInt64(PageChecksum.of(first)))
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
