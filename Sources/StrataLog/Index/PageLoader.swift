internal import Synchronization

/// Brings pages of an index in from the checkpoint file.
struct PageLoader: Sendable {
    let lineage: IndexLineage
    /// Nil for an index that was not opened from a checkpoint.
    let source: (any PageSource)?

    /// Bytes of a full page in the file. Pages of runs have an even length under 256, sparse ones an odd one.
    static let fullByteCount = IndexNode.keysPerPage * 8
    static let runByteCount = 10

    static func isValid(byteCount: Int) -> Bool {
        byteCount == fullByteCount
            || (byteCount > 0 && byteCount % runByteCount == 0 && byteCount / runByteCount <= IndexNode.maximumRuns)
            || IndexSparse.count(fileByteCount: byteCount) != nil
    }

    /// Loads the page, publishes it in its directory's slot and returns the slot's new value.
    ///
    /// Several threads may load the same page at a time: one wins, the others drop theirs.
    @inline(never)
    func load(_ directory: UnsafeMutableRawPointer, pageNumber: UInt64) throws(StoreError) -> UInt {
        let index = Int(pageNumber) & (IndexNode.fanout - 1)
        guard let table = IndexNode.table(directory) else { preconditionFailure("an unloaded page has no table") }
        let page = try read(PageTable(table), index, pageNumber: pageNumber)
        let result = IndexNode.slot(directory, index).pointee.compareExchange(
            expected: IndexNode.lazy, desired: page, ordering: .acquiringAndReleasing)
        if result.exchanged { return page }
        IndexNode.release(page, level: 0, lineage)
        return result.original
    }

    /// Reads and verifies one page: a slot value that the caller owns.
    func read(_ table: PageTable, _ index: Int, pageNumber: UInt64) throws(StoreError) -> UInt {
        guard let source else { preconditionFailure("an unloaded page has no source") }
        let offset = table.offset(index)
        let byteCount = table.byteCount(index)
        if byteCount == Self.fullByteCount {
            let node = IndexNode.makeFullPage(lineage, owner: 0)
            let bytes = UnsafeMutableRawBufferPointer(start: node + 16, count: byteCount)
            do throws(StoreError) {
                try source.read(into: bytes, at: offset)
                try verify(UnsafeRawBufferPointer(bytes), table, index, pageNumber: pageNumber)
            } catch {
                lineage.free(node, IndexNode.fullPageByteCount)
                throw error
            }
            return UInt(bitPattern: node)
        }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { bytes.deallocate() }
        try source.read(into: bytes, at: offset)
        try verify(UnsafeRawBufferPointer(bytes), table, index, pageNumber: pageNumber)
        if let count = IndexSparse.count(fileByteCount: byteCount) {
            return try sparse(UnsafeRawBufferPointer(bytes), count: count, offset: offset)
        }
        return try runs(UnsafeRawBufferPointer(bytes), offset: offset)
    }

    /// Checks a page's bytes against the checksum in its table.
    func verify(
        _ bytes: UnsafeRawBufferPointer, _ table: PageTable, _ index: Int, pageNumber: UInt64
    ) throws(StoreError) {
        let found = PageChecksum.of(bytes, key: pageNumber)
        guard found == table.checksum(index) else {
            throw damaged(
                "page \(pageNumber) of the object index has checksum \(found), expected \(table.checksum(index))",
                offset: table.offset(index))
        }
    }

    private func damaged(_ what: String, offset: Int64) -> StoreError {
        source?.damaged(what, offset: offset) ?? .damagedCheckpoint(what, offset: offset)
    }

    private func sparse(_ bytes: UnsafeRawBufferPointer, count: Int, offset: Int64) throws(StoreError) -> UInt {
        let node = IndexSparse.make(lineage, count: count)
        var isSound = bytes[0] == IndexSparse.fileMarker
        for word in 0..<IndexSparse.wordCount {
            IndexSparse.bitmap(node)[word] = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: 1 + word * 8, as: UInt64.self))
        }
        for index in 0..<count {
            let location = UInt64(
                littleEndian: bytes.loadUnaligned(
                    fromByteOffset: IndexSparse.fileHeaderByteCount + index * 8, as: UInt64.self))
            IndexSparse.locations(node)[index] = location
            if location == 0 { isSound = false }
        }
        guard IndexSparse.setRanks(node) == count, isSound else {
            lineage.free(node, IndexSparse.byteCount(count))
            throw damaged("a sparse page of the object index does not have the locations it announces", offset: offset)
        }
        return UInt(bitPattern: node) | IndexNode.sparseTag
    }

    private func runs(_ bytes: UnsafeRawBufferPointer, offset: Int64) throws(StoreError) -> UInt {
        let count = bytes.count / Self.runByteCount
        var previous = -1
        for run in 0..<count {
            let start = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: run * 2, as: UInt16.self)))
            guard start > previous, start < IndexNode.keysPerPage, run > 0 || start == 0 else {
                throw damaged("a page of the object index has runs out of order", offset: offset)
            }
            previous = start
        }
        let node = IndexRuns.make(lineage, count: count)
        let starts = IndexRuns.starts(node)
        let locations = IndexRuns.locations(node)
        for run in 0..<count {
            starts[run] = Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: run * 2, as: Int16.self))
            locations[run] = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: count * 2 + run * 8, as: UInt64.self))
        }
        return UInt(bitPattern: node) | IndexNode.runsTag
    }
}

/// Where the pages of one directory lie in the checkpoint file: one after the other, absent ones with no bytes.
struct PageTable {
    let node: UnsafeMutableRawPointer

    init(_ node: UnsafeMutableRawPointer) {
        self.node = node
    }

    var fileOffset: Int64 { node.load(fromByteOffset: 8, as: Int64.self) }

    func checksum(_ index: Int) -> UInt32 { node.load(fromByteOffset: 16 + index * 4, as: UInt32.self) }

    func byteCount(_ index: Int) -> Int {
        Int(node.load(fromByteOffset: 16 + IndexNode.fanout * 4 + index * 2, as: UInt16.self))
    }

    func offset(_ index: Int) -> Int64 {
        var offset = fileOffset
        for earlier in 0..<index { offset += Int64(byteCount(earlier)) }
        return offset
    }

    var totalByteCount: Int { Int(offset(IndexNode.fanout) - fileOffset) }

    /// Only before the table is published.
    func set(_ index: Int, byteCount: UInt16, checksum: UInt32) {
        node.storeBytes(of: checksum, toByteOffset: 16 + index * 4, as: UInt32.self)
        node.storeBytes(of: byteCount, toByteOffset: 16 + IndexNode.fanout * 4 + index * 2, as: UInt16.self)
    }
}
