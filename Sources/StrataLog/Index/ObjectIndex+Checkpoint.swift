internal import Synchronization

// In the checkpoint file an index is its pages, one after the other by ascending number, and then its directory. All
// integers are little-endian.
//
//     full page    512 locations of 8 bytes
//     runs page    n starts of 2 bytes, n locations of 8 bytes; n is 1...24
//     sparse page  1 1 | bitmap of keys 64 | n locations of 8 bytes; n is 1...384
//     directory    magic 4 | version 2 | 0 2 | maximum key 8 | groups 4 | 0 4
//                  each group of 64 pages: number 8 | bitmap of pages 8 | file offset of its first page 8,
//                  then for each page: length 2 | CRC-32C 4
//                  CRC-32C of the directory so far 4
//
// A page's checksum covers its number (8 bytes, and 8 of zeros) and then its bytes. The length tells the form.

private let directoryMagic: UInt32 = 0x5844_4953
private let directoryVersion: UInt16 = 1

extension ObjectIndex {
    /// Writes this version: its pages, then its directory.
    ///
    /// Pages that are still in the checkpoint file the index was opened from are read, verified and copied, and not
    /// kept in memory.
    ///
    /// - Returns: what ``load(_:from:)`` needs.
    /// - Throws: the sink's and the source's errors; `.corruption` when a page of the old checkpoint is damaged.
    /// - Complexity: O(pages), with one read for each 64 pages not in memory.
    package func encode(into sink: any CheckpointSink) throws(StoreError) -> CheckpointSection {
        defer { withExtendedLifetime(self) {} }
        let writer = SectionWriter(sink)
        var directory = DirectoryBytes()
        var groups: UInt32 = 0
        try tree.forEachDirectory { (node, firstPage) throws(StoreError) in
            if try encodeGroup(node, firstPage, writer, &directory) { groups += 1 }
            return true
        }
        var head = DirectoryBytes()
        head.append(directoryMagic)
        head.append(directoryVersion)
        head.append(UInt16(0))
        head.append(maximumKey)
        head.append(groups)
        head.append(UInt32(0))
        head.bytes += directory.bytes
        return try writer.finish(directory: head)
    }

    /// False for a group without pages.
    private func encodeGroup(
        _ node: UnsafeMutableRawPointer, _ firstPage: UInt64, _ writer: SectionWriter,
        _ directory: inout DirectoryBytes
    ) throws(StoreError) -> Bool {
        let start = writer.position
        var slots = InlineArray<64, UInt>(repeating: 0)
        var bitmap: UInt64 = 0
        var hasLazyPages = false
        for index in 0..<IndexNode.fanout {
            slots[index] = IndexNode.slot(node, index).pointee.load(ordering: .acquiring)
            if slots[index] != 0 { bitmap |= 1 << UInt64(index) }
            if slots[index] == IndexNode.lazy { hasLazyPages = true }
        }
        if bitmap == 0 { return false }
        let table = IndexNode.table(node).map(PageTable.init)
        var old: UnsafeMutableRawBufferPointer?
        defer { old?.deallocate() }
        if hasLazyPages, let table, let source = pages.source {
            let span = UnsafeMutableRawBufferPointer.allocate(byteCount: table.totalByteCount, alignment: 8)
            old = span
            try source.read(into: span, at: table.fileOffset)
        }
        directory.append(firstPage / UInt64(IndexNode.fanout))
        directory.append(bitmap)
        directory.append(start)
        for index in 0..<IndexNode.fanout where slots[index] != 0 {
            let page = firstPage + UInt64(index)
            if slots[index] == IndexNode.lazy, let table, let old {
                let position = Int(table.offset(index) - table.fileOffset)
                let bytes = UnsafeRawBufferPointer(rebasing: old[position..<(position + table.byteCount(index))])
                try pages.verify(bytes, table, index, pageNumber: page)
                try writer.write(bytes)
                directory.append(UInt16(bytes.count))
                directory.append(table.checksum(index))
            } else {
                try encodePage(slots[index], page, writer, &directory)
            }
        }
        return true
    }

    private func encodePage(
        _ slot: UInt, _ page: UInt64, _ writer: SectionWriter, _ directory: inout DirectoryBytes
    ) throws(StoreError) {
        let node = IndexNode.pointer(slot)
        if slot & IndexNode.runsTag == 0 {
            let bytes = UnsafeRawBufferPointer(start: node + 16, count: PageLoader.fullByteCount)
            try writer.write(bytes)
            directory.append(UInt16(bytes.count))
            directory.append(PageChecksum.of(bytes, key: page))
            return
        }
        if slot & IndexNode.tagMask == IndexNode.sparseTag {
            let bytes = Self.sparsePage(node)
            directory.append(UInt16(bytes.count))
            var failure: StoreError?
            bytes.withUnsafeBytes { bytes in
                directory.append(PageChecksum.of(bytes, key: page))
                do throws(StoreError) { try writer.write(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
            return
        }
        let count = IndexRuns.count(node)
        var packed = InlineArray<240, UInt8>(repeating: 0)
        var byteSpan = packed.mutableSpan
        var failure: StoreError?
        byteSpan.withUnsafeMutableBytes { buffer in
            buffer.copyMemory(from: UnsafeRawBufferPointer(start: IndexRuns.starts(node), count: count * 2))
            UnsafeMutableRawBufferPointer(rebasing: buffer[(count * 2)...])
                .copyMemory(from: UnsafeRawBufferPointer(start: IndexRuns.locations(node), count: count * 8))
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<(count * PageLoader.runByteCount)])
            do throws(StoreError) { try writer.write(bytes) } catch { failure = error }
            directory.append(UInt16(bytes.count))
            directory.append(PageChecksum.of(bytes, key: page))
        }
        if let failure { throw failure }
    }

    private static func sparsePage(_ node: UnsafeMutableRawPointer) -> [UInt8] {
        let bits = UnsafeRawBufferPointer(start: IndexSparse.bitmap(node), count: IndexSparse.wordCount * 8)
        let locations = UnsafeRawBufferPointer(
            start: IndexSparse.locations(node), count: IndexSparse.count(node) * 8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + bits.count + locations.count)
        bytes.append(IndexSparse.fileMarker)
        bytes.append(contentsOf: bits)
        bytes.append(contentsOf: locations)
        return bytes
    }

    /// Opens the index whose directory lies at `section`, which the caller has checked to lie in the file.
    ///
    /// Reads the directory only: 14 bytes a page stay in memory, and a page comes with its first touch.
    ///
    /// - Throws: `.io` or `.corruption`.
    package static func load(
        _ section: CheckpointSection, from source: any PageSource
    ) throws(StoreError) -> ObjectIndex {
        var reader = try SectionReader(section, from: source, of: "an object index")
        guard try reader.next(UInt32.self) == directoryMagic else { throw reader.damaged("not an object index") }
        guard try reader.next(UInt16.self) == directoryVersion else { throw reader.damaged("unknown version") }
        _ = try reader.next(UInt16.self)
        let maximumKey = try reader.next(UInt64.self)
        guard maximumKey <= ObjectRef.maximumKey else { throw reader.damaged("the largest key is out of range") }
        let groupCount = Int(try reader.next(UInt32.self))
        _ = try reader.next(UInt32.self)

        let builder = TreeBuilder(maximumKey: maximumKey, source)
        // Once for all groups: a large store has tens of thousands, and opening waits for them.
        let failure = reader.rest { bytes in
            addGroups(bytes, groupCount, to: builder, maximumKey: maximumKey, end: section.offset)
        }
        if let failure { throw reader.damaged(failure) }
        return builder.finish()
    }

    /// Reads a directory's groups.
    ///
    /// - Parameter end: where the pages end in the file.
    /// - Returns: what is wrong with them; nil when nothing is.
    private static func addGroups(
        _ bytes: UnsafeRawBufferPointer, _ groupCount: Int, to builder: TreeBuilder, maximumKey: UInt64, end: Int64
    ) -> String? {
        let headerByteCount = 24
        let pageByteCount = 6
        var position = 0
        func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
            T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        var nextNumber: UInt64 = 0
        for _ in 0..<groupCount {
            guard bytes.count - position >= headerByteCount else { return "it ends too early" }
            let number = load(position, UInt64.self)
            guard number >= nextNumber, number <= maximumKey >> TreeBuilder.groupShift else {
                return "page groups out of order"
            }
            nextNumber = number + 1
            var left = load(position + 8, UInt64.self)
            let fileOffset = load(position + 16, Int64.self)
            let table = builder.addGroup(number, bitmap: left, fileOffset: fileOffset)
            position += headerByteCount
            guard bytes.count - position >= left.nonzeroBitCount * pageByteCount else { return "it ends too early" }
            var byteCount = 0
            while left != 0 {
                let length = load(position, UInt16.self)
                guard PageLoader.isValid(byteCount: Int(length)) else { return "a page's length" }
                table.set(
                    left.trailingZeroBitCount, byteCount: length, checksum: load(position + 2, UInt32.self))
                byteCount += Int(length)
                position += pageByteCount
                left &= left - 1
            }
            guard byteCount > 0, fileOffset >= 0, fileOffset <= end - Int64(byteCount) else {
                return "a page group lies outside the file"
            }
        }
        return position == bytes.count ? nil : "bytes left over"
    }

    /// Whether nothing was changed between the two, as far as they tell: both show the same nodes.
    func isSameVersion(as other: ObjectIndex) -> Bool { tree.root == other.tree.root }

    /// This version with its untouched pages in another checkpoint file, so that the old file is let go.
    ///
    /// Pages in memory stay there.
    ///
    /// - Parameter reopened: opened from what ``encode(into:)`` wrote of this version or of one that it was made from
    ///   (after the one this lineage was opened from).
    /// - Complexity: O(pages / 64)
    package func rebased(onto reopened: ObjectIndex) -> ObjectIndex {
        defer {
            withExtendedLifetime(self) {}
            withExtendedLifetime(reopened) {}
        }
        let root = rebase(tree.root, shift: tree.topShift, prefix: 0, reopened)
        let pages = PageLoader(lineage: pages.lineage, source: reopened.pages.source)
        return ObjectIndex(IndexTree(root: root, topShift: tree.topShift), pages, maximumKey: maximumKey)
    }

    /// A reference to the node, or to a copy of it where something below it is still in the old file.
    private func rebase(
        _ node: UnsafeMutableRawPointer, shift: UInt64, prefix: UInt64, _ reopened: ObjectIndex
    ) -> UnsafeMutableRawPointer {
        let lineage = pages.lineage
        if shift == IndexNode.pageBits {
            let copy = IndexNode.copyDirectory(node, lineage, owner: 0, stamp: IndexNode.stamp(node))
            guard let old = IndexNode.table(copy) else { return copy }
            guard let other = reopened.tree.directory(of: prefix), let new = IndexNode.table(other) else {
                preconditionFailure("the reopened index lacks pages of the one it was written from")
            }
            let table = IndexNode.makeTable(lineage, fileOffset: PageTable(new).fileOffset)
            for index in 0..<IndexNode.fanout {
                PageTable(table).set(
                    index, byteCount: UInt16(PageTable(new).byteCount(index)),
                    checksum: PageTable(new).checksum(index))
            }
            copy.storeBytes(of: table, toByteOffset: 16, as: UnsafeMutableRawPointer?.self)
            IndexNode.release(table: old, lineage)
            return copy
        }
        let copy = IndexNode.makeDirectory(lineage, owner: 0)
        for index in 0..<IndexNode.fanout {
            let child = IndexNode.slot(node, index).pointee.load(ordering: .relaxed)
            if child == 0 { continue }
            let below = rebase(
                IndexNode.pointer(child), shift: shift - IndexNode.fanoutBits,
                prefix: prefix + UInt64(index) << shift, reopened)
            IndexNode.slot(copy, index).pointee.store(UInt(bitPattern: below), ordering: .relaxed)
        }
        return copy
    }
}

/// Builds the directories of an index that is opened from a checkpoint.
private final class TreeBuilder {
    /// Bits of the key below the number of a group of pages.
    static let groupShift = IndexNode.pageBits + IndexNode.fanoutBits

    private let pages: PageLoader
    /// Owns the nodes from the start, so that they go when the directory turns out to be damaged.
    private let index: ObjectIndex

    init(maximumKey: UInt64, _ source: any PageSource) {
        pages = PageLoader(lineage: IndexLineage(), source: source)
        var shift = IndexNode.pageBits
        while maximumKey >> (shift + IndexNode.fanoutBits) != 0 { shift += IndexNode.fanoutBits }
        let root = IndexNode.makeDirectory(pages.lineage, owner: 0)
        index = ObjectIndex(IndexTree(root: root, topShift: shift), pages, maximumKey: maximumKey)
    }

    /// Adds a directory of untouched pages; the caller fills in its table.
    ///
    /// - Precondition: the group is new and within the largest key.
    func addGroup(_ number: UInt64, bitmap: UInt64, fileOffset: Int64) -> PageTable {
        let table = IndexNode.makeTable(pages.lineage, fileOffset: fileOffset)
        let key = number << Self.groupShift
        var node = index.tree.root
        var shift = index.tree.topShift
        while shift > IndexNode.pageBits {
            let slot = IndexNode.slot(node, IndexTree.slotNumber(key, shift))
            let child = slot.pointee.load(ordering: .relaxed)
            if child == 0 {
                node = IndexNode.makeDirectory(pages.lineage, owner: 0)
                slot.pointee.store(UInt(bitPattern: node), ordering: .relaxed)
            } else {
                node = IndexNode.pointer(child)
            }
            shift -= IndexNode.fanoutBits
        }
        node.storeBytes(of: table, toByteOffset: 16, as: UnsafeMutableRawPointer?.self)
        for slot in 0..<IndexNode.fanout where bitmap >> UInt64(slot) & 1 == 1 {
            IndexNode.slot(node, slot).pointee.store(IndexNode.lazy, ordering: .relaxed)
        }
        return PageTable(table)
    }

    func finish() -> ObjectIndex { index }
}
