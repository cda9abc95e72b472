/// Sixteen bytes as Foundation's UUIDs have them.
@usableFromInline
package typealias SixteenBytes = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)

/// Takes sixteen bytes as two words and back.
///
/// Assumes: the elements of a tuple of one type lie behind one another, without gaps. The standard library promises
/// that for tuples that come from C's arrays, as `uuid_t` does.
/// If that were wrong: ``check()`` says so.
@usableFromInline
package enum ByteTuples {
    @inlinable @inline(__always)
    package static func bytes(_ words: (UInt64, UInt64)) -> SixteenBytes { unsafeBitCast(words, to: SixteenBytes.self) }

    @inlinable @inline(__always)
    package static func words(_ bytes: SixteenBytes) -> (UInt64, UInt64) {
        unsafeBitCast(bytes, to: (UInt64, UInt64).self)
    }

    static func check() -> String? {
        let bytes: SixteenBytes = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        let words = words(bytes)
        guard words.0.littleEndian == 0x0706_0504_0302_0100, words.1.littleEndian == 0x0F0E_0D0C_0B0A_0908,
            self.bytes(words).9 == 9
        else { return "sixteen bytes do not lie as two words do" }
        return nil
    }
}
