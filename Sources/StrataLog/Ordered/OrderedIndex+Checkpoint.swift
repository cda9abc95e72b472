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
        let (definition, list) = try loadList(section, from: source)
        return OrderedIndex(definition, lineage: Lineage(), base: list)
    }

    /// As ``load(_:from:)``: what the index is over and its entries.
    ///
    /// - Parameter residentMaximumByteCount: as much of the entries stays in memory, decoded.
    static func loadList(
        _ section: CheckpointSection, from source: any PageSource,
        residentMaximumByteCount: Int = OrderedList.residentMaximumByteCount
    ) throws(StoreError) -> (OrderedIndexDefinition, OrderedList) {
        var reader = try SectionReader(section, from: source, of: "an ordered index")
        guard try reader.next() == OrderedSectionWriter.directoryMagic,
            try reader.next() == OrderedSectionWriter.directoryVersion
        else {
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
                    keyStart: directory.keys.count, keyCount: UInt32(key.count)))
            directory.keys += key
            previous = key
            offset = end
        }
        directory.lastKey = try reader.bytes(Int(try reader.next(UInt32.self)))
        guard !directory.lastKey.lexicographicallyPrecedes(previous) else {
            throw reader.damaged("its last entry is not the last")
        }
        let list = OrderedList(
            directory, isInexact: flags & OrderedSectionWriter.inexactFlag != 0,
            residentMaximumByteCount: residentMaximumByteCount)
        return (definition, list)
    }
}
