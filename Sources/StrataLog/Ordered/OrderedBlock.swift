/// Some hundred neighbouring entries of an index in memory, in order, each as it is. Immutable.
final class OrderedBlock: @unchecked Sendable {
    // Unchecked: the memory is constant after `init`.
    static let maximumEntries = 256
    /// A block is closed when it holds so many bytes; one entry more may be in it.
    static let fullByteCount = 16 << 10
    /// What ends every entry: the key and the entity of its object.
    static let refByteCount = 8

    let count: Int
    /// Entries that take another one away.
    let removalCount: Int
    private let offsets: UnsafeMutablePointer<UInt32>
    private let bytes: UnsafeMutableRawPointer
    /// Bit set: the entry takes another one away. Nil when none does.
    private let removals: UnsafeMutablePointer<UInt8>?

    /// - Precondition: `offsets` has one more than there are entries, beginning with 0.
    init(offsets: [UInt32], bytes source: UnsafeRawBufferPointer, removals: [Bool]?) {
        count = offsets.count - 1
        self.offsets = .allocate(capacity: offsets.count)
        self.offsets.initialize(from: offsets, count: offsets.count)
        // Comparisons read no further than an entry's end, so no slack is needed.
        bytes = .allocate(byteCount: max(source.count, 1), alignment: 8)
        if let start = source.baseAddress { bytes.copyMemory(from: start, byteCount: source.count) }
        guard let removals else {
            self.removals = nil
            removalCount = 0
            return
        }
        let bits = UnsafeMutablePointer<UInt8>.allocate(capacity: (count + 7) / 8)
        bits.initialize(repeating: 0, count: (count + 7) / 8)
        for (index, isRemoval) in removals.enumerated() where isRemoval { bits[index >> 3] |= 1 << UInt8(index & 7) }
        self.removals = bits
        removalCount = removals.count { $0 }
    }

    /// Of entries that are all additions.
    ///
    /// - Parameters:
    ///   - bytes: and `offsets` were allocated for it; the block frees them.
    ///   - offsets: one more than there are entries, beginning with 0.
    init(owning bytes: UnsafeMutableRawPointer, _ offsets: UnsafeMutablePointer<UInt32>, count: Int) {
        (self.bytes, self.offsets, self.count) = (bytes, offsets, count)
        removals = nil
        removalCount = 0
    }

    deinit {
        offsets.deallocate()
        bytes.deallocate()
        removals?.deallocate()
    }

    var netCount: Int { count - 2 * removalCount }

    var memoryByteCount: Int { Int(offsets[count]) + count * 4 + 96 }

    /// Valid as long as the block.
    @inline(__always)
    func entry(_ index: Int) -> UnsafeRawBufferPointer {
        let start = Int(offsets[index])
        return UnsafeRawBufferPointer(start: bytes + start, count: Int(offsets[index &+ 1]) &- start)
    }

    @inline(__always)
    func isRemoval(_ index: Int) -> Bool {
        guard let removals else { return false }
        return removals[index &>> 3] &>> UInt8(truncatingIfNeeded: index & 7) & 1 != 0
    }

    @inline(__always)
    func ref(_ index: Int) -> ObjectRef { Self.ref(endingAt: bytes + Int(offsets[index &+ 1])) }

    /// The object that an entry names in its last eight bytes.
    @inline(__always)
    static func ref(endingAt end: UnsafeRawPointer) -> ObjectRef {
        let word = UInt64(bigEndian: (end - refByteCount).loadUnaligned(as: UInt64.self))
        return ObjectRef(rawValue: word >> 16 | word << 48)
    }

    static func ref(_ entry: UnsafeRawBufferPointer) -> ObjectRef {
        guard let start = entry.baseAddress else { preconditionFailure("an entry has bytes") }
        return ref(endingAt: start + entry.count)
    }

    /// The index of the first entry that does not lie before `key`.
    func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
        var low = 0
        var rest = count
        while rest > 0 {
            let half = rest >> 1
            if OrderedBytes.compare(entry(low + half), key) < 0 {
                low += half + 1
                rest -= half + 1
            } else {
                rest = half
            }
        }
        return low
    }

    /// Additions less removals among the entries before an index.
    func netCount(before index: Int) -> Int {
        guard removals != nil else { return index }
        return (0..<index).reduce(0) { $0 + (isRemoval($1) ? -1 : 1) }
    }
}
