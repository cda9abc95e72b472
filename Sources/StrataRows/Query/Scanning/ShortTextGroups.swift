import StrataSupport

/// The groups of short strings that were seen lately: one place for each of 256 hashes.
///
/// A string of at most 16 bytes is two words and a length, and is told from another by comparing these. Services group
/// by a status, a kind or a country: few strings, for many rows.
struct ShortTextGroups {
    private struct Entry {
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// -1 for an empty place.
        var count = -1
        var group: Int32 = 0
    }

    private static let longest = 16
    private var entries = [Entry](repeating: Entry(), count: 256)

    /// The group of a string, found by `make` unless it is known.
    ///
    /// - Parameter make: finds the group of a string that is long or was not seen lately.
    @inline(__always)
    mutating func group(of text: UnsafeRawBufferPointer, make: () -> Int32) -> Int32 {
        let count = text.count
        if count > Self.longest { return make() }
        let (first, last) = Self.words(text)
        let hash = Hashing.spread(first ^ last &* 31 &+ UInt64(truncatingIfNeeded: count))
        let bucket = Int(truncatingIfNeeded: hash >> 56)
        let known = entries[bucket]
        if known.first == first, known.last == last, known.count == count { return known.group }
        let group = make()
        entries[bucket] = Entry(first: first, last: last, count: count, group: group)
        return group
    }

    /// The first and the last eight bytes, which may overlap; all bytes of a string that has fewer.
    @inline(__always)
    private static func words(_ text: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        let count = text.count
        if count >= 8 {
            return (
                text.loadUnaligned(as: UInt64.self), text.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            )
        }
        if count >= 4 {
            return (
                UInt64(text.loadUnaligned(as: UInt32.self)),
                UInt64(text.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            )
        }
        var word: UInt64 = 0
        for byte in text { word = word << 8 | UInt64(byte) }
        return (word, 0)
    }
}
