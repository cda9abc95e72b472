/// A packed block of up to 512 sorted pairs, as it lies in the checkpoint file and in memory.
///
///     pairs 2 | target bits 1 | referrer bits 1 | 0 4 | lowest target 8 | lowest referrer 8
///     targets less the lowest, each in `target bits` bits, filled up to a byte
///     referrers less the lowest, each in `referrer bits` bits, filled up to a byte
///
/// Widths are 0...56 or 64, so that a value is read with one unaligned load, and single pairs can be searched without
/// unpacking the block.
struct PostingsBlock {
    static let maximumPairs = 512
    static let headerByteCount = 24
    static let maximumByteCount = headerByteCount + maximumPairs * 16
    /// Loads reach this many bytes past the end.
    static let slackByteCount = 8

    let count: Int
    private let lowest: PostingPair
    private let targetBits: Int
    private let referrerBits: Int
    private let targets: UnsafeRawPointer
    private let referrers: UnsafeRawPointer

    /// Bytes of a block; nil for values no block has.
    private static func byteCount(_ count: Int, _ targetBits: Int, _ referrerBits: Int) -> Int? {
        func isValid(_ bits: Int) -> Bool { bits <= 56 || bits == 64 }
        guard count > 0, count <= maximumPairs, isValid(targetBits), isValid(referrerBits) else { return nil }
        return headerByteCount + (count * targetBits + 7) / 8 + (count * referrerBits + 7) / 8
    }

    /// - Precondition: the bytes passed ``isValid(_:)`` and `slackByteCount` more are readable.
    @inline(__always)
    init(_ bytes: UnsafeRawPointer) {
        count = Int(UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)))
        targetBits = Int(bytes.load(fromByteOffset: 2, as: UInt8.self))
        referrerBits = Int(bytes.load(fromByteOffset: 3, as: UInt8.self))
        lowest = PostingPair(
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
        targets = bytes + Self.headerByteCount
        referrers = targets + (count * targetBits + 7) / 8
    }

    /// True for bytes of a well-formed block whose pairs ascend. Needs `slackByteCount` readable bytes after the end.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= headerByteCount,
            byteCount(Int(bytes.loadUnaligned(as: UInt16.self)), Int(bytes[2]), Int(bytes[3])) == bytes.count,
            let start = bytes.baseAddress
        else { return false }
        let block = PostingsBlock(start)
        var previous = block[0]
        for index in 1..<max(block.count, 1) {
            let pair = block[index]
            guard previous < pair else { return false }
            previous = pair
        }
        return true
    }

    @inline(__always)
    private static func unpack(_ bytes: UnsafeRawPointer, _ bits: Int, _ index: Int) -> UInt64 {
        if bits == 64 { return bytes.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self) }
        let position = index &* bits
        let word = bytes.loadUnaligned(fromByteOffset: position >> 3, as: UInt64.self)
        return (word &>> UInt64(truncatingIfNeeded: position & 7)) & ((1 &<< UInt64(truncatingIfNeeded: bits)) &- 1)
    }

    @inline(__always)
    func target(_ index: Int) -> UInt64 { lowest.target &+ Self.unpack(targets, targetBits, index) }

    @inline(__always)
    func referrer(_ index: Int) -> UInt64 { lowest.referrer &+ Self.unpack(referrers, referrerBits, index) }

    @inline(__always)
    subscript(index: Int) -> PostingPair { PostingPair(target(index), referrer(index)) }

    /// The index of the first pair whose target is not below `target`.
    func lowerBound(target: UInt64) -> Int {
        var low = 0
        var count = count
        while count > 0 {
            let half = count >> 1
            let isBelow = self.target(low + half) < target
            low = isBelow ? low + half + 1 : low
            count = isBelow ? count - half - 1 : half
        }
        return low
    }

    // MARK: Packing

    /// Packs ascending pairs into `output`, which holds `maximumByteCount + slackByteCount` bytes. Returns the length.
    static func pack(_ pairs: ArraySlice<PostingPair>, into output: UnsafeMutableRawBufferPointer) -> Int {
        var lowestReferrer = UInt64.max
        var highestReferrer: UInt64 = 0
        for pair in pairs {
            lowestReferrer = min(lowestReferrer, pair.referrer)
            highestReferrer = max(highestReferrer, pair.referrer)
        }
        let lowest = PostingPair(pairs[pairs.startIndex].target, lowestReferrer)
        let targetBits = width(pairs[pairs.endIndex - 1].target - lowest.target)
        let referrerBits = width(highestReferrer - lowestReferrer)
        guard let byteCount = byteCount(pairs.count, targetBits, referrerBits) else {
            preconditionFailure("a block holds 1...512 pairs, not \(pairs.count)")
        }
        for index in 0..<(byteCount + slackByteCount) { output[index] = 0 }
        output.storeBytes(of: UInt16(pairs.count).littleEndian, as: UInt16.self)
        output[2] = UInt8(targetBits)
        output[3] = UInt8(referrerBits)
        output.storeBytes(of: lowest.target.littleEndian, toByteOffset: 8, as: UInt64.self)
        output.storeBytes(of: lowest.referrer.littleEndian, toByteOffset: 16, as: UInt64.self)
        let referrerStart = headerByteCount + (pairs.count * targetBits + 7) / 8
        for (index, pair) in pairs.enumerated() {
            put(pair.target - lowest.target, targetBits, index, output, headerByteCount)
            put(pair.referrer - lowest.referrer, referrerBits, index, output, referrerStart)
        }
        return byteCount
    }

    private static func width(_ largest: UInt64) -> Int {
        let bits = 64 - largest.leadingZeroBitCount
        return bits > 56 ? 64 : bits
    }

    @inline(__always)
    private static func put(
        _ value: UInt64, _ bits: Int, _ index: Int, _ output: UnsafeMutableRawBufferPointer, _ start: Int
    ) {
        if bits == 0 { return }
        let position = index * bits
        let offset = start + position >> 3
        // Stores reach past the value: what lies there is kept.
        let word = output.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        output.storeBytes(of: word | value &<< UInt64(position & 7), toByteOffset: offset, as: UInt64.self)
    }
}
