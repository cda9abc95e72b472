/// Pages in which many keys are absent, in no order that ``IndexRuns`` could tell in few words: a bit for each key, and
/// the locations of those that are there. What is left of a store of which most was deleted lies in such pages; as
/// full ones they would take the room of all that ever was there.
///
///     count 8 | locations 8 | bitmap 64 | rank of each word's first bit: 8 of UInt16 | locations of 8
///
/// In a checkpoint: ``fileMarker``, the bitmap, the locations.
enum IndexSparse {
    typealias Pointer = UnsafeMutableRawPointer

    /// A page with more locations than this is kept as a full one: what it would save is not worth the second memory
    /// access of a look-up.
    static let maximumCount = 384

    static let wordCount = IndexNode.keysPerPage / 64
    private static let ranksOffset = 16 + wordCount * 8
    private static let locationsOffset = ranksOffset + wordCount * 2

    /// First byte of such a page in a checkpoint, which makes its length an odd one.
    static let fileMarker: UInt8 = 1
    static let fileHeaderByteCount = 1 + wordCount * 8

    /// Where the length of a page in a file is that of a sparse one, how many locations it has.
    static func count(fileByteCount: Int) -> Int? {
        let (count, rest) = (fileByteCount - fileHeaderByteCount).quotientAndRemainder(dividingBy: 8)
        return rest == 0 && count > 0 && count <= maximumCount ? count : nil
    }

    @inline(__always)
    static func count(_ node: Pointer) -> Int { Int(node.load(fromByteOffset: 8, as: UInt64.self)) }

    @inline(__always)
    static func byteCount(_ count: Int) -> Int { locationsOffset + count * 8 }

    // SAFETY: every pointer below comes from `make` with the layout above.

    @inline(__always)
    static func bitmap(_ node: Pointer) -> UnsafeMutablePointer<UInt64> {
        (node + 16).assumingMemoryBound(to: UInt64.self)
    }

    @inline(__always)
    static func locations(_ node: Pointer) -> UnsafeMutablePointer<UInt64> {
        (node + locationsOffset).assumingMemoryBound(to: UInt64.self)
    }

    @inline(__always)
    static func value(_ node: Pointer, _ offset: Int) -> UInt64 {
        let word = offset >> 6
        let bits = bitmap(node)[word]
        let bit = UInt64(1) << UInt64(offset & 63)
        if bits & bit == 0 { return 0 }
        let before = node.load(fromByteOffset: ranksOffset + word * 2, as: UInt16.self)
        return locations(node)[Int(before) + (bits & (bit - 1)).nonzeroBitCount]
    }

    /// How many of a page's 512 locations are there, or nil when there are more than ``maximumCount``.
    static func countPresent(_ values: UnsafePointer<UInt64>) -> Int? {
        var count = 0
        for index in 0..<IndexNode.keysPerPage { count += values[index] == 0 ? 0 : 1 }
        return count <= maximumCount ? count : nil
    }

    /// A page without locations yet; the caller fills in bitmap and locations and calls ``setRanks(_:)``.
    static func make(_ lineage: IndexLineage, count: Int) -> Pointer {
        let node = lineage.allocate(byteCount(count))
        IndexNode.initializeHeader(node, second: UInt64(count))
        (node + 16).initializeMemory(as: UInt64.self, repeating: 0, count: wordCount)
        (node + ranksOffset).initializeMemory(as: UInt16.self, repeating: 0, count: wordCount)
        (node + locationsOffset).initializeMemory(as: UInt64.self, repeating: 0, count: count)
        return node
    }

    /// - Returns: how many bits are set.
    @discardableResult
    static func setRanks(_ node: Pointer) -> Int {
        var rank = 0
        for word in 0..<wordCount {
            node.storeBytes(of: UInt16(rank), toByteOffset: ranksOffset + word * 2, as: UInt16.self)
            rank += bitmap(node)[word].nonzeroBitCount
        }
        return rank
    }

    /// Packs 512 locations of which `count` are there.
    static func pack(_ values: UnsafePointer<UInt64>, count: Int, _ lineage: IndexLineage) -> Pointer {
        let node = make(lineage, count: count)
        let (bitmap, locations) = (bitmap(node), locations(node))
        var next = 0
        for index in 0..<IndexNode.keysPerPage where values[index] != 0 {
            bitmap[index >> 6] |= 1 << UInt64(index & 63)
            locations[next] = values[index]
            next += 1
        }
        setRanks(node)
        return node
    }

    static func unpack(_ node: Pointer, into values: UnsafeMutablePointer<UInt64>) {
        let (bitmap, locations) = (bitmap(node), locations(node))
        var next = 0
        for index in 0..<IndexNode.keysPerPage {
            if bitmap[index >> 6] >> UInt64(index & 63) & 1 == 0 {
                values[index] = 0
            } else {
                values[index] = locations[next]
                next += 1
            }
        }
    }
}
