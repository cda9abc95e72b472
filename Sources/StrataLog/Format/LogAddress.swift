/// Where some bytes belong: every checksum in the log covers the data and its place, so that a displaced, stale or
/// foreign piece does not pass for what should be there.
package struct LogAddress: Sendable, Hashable {
    package var storeUUID: StoreUUID
    package var segment: UInt32
    package var offset: Int
    package var sequence: UInt64

    package init(storeUUID: StoreUUID, segment: UInt32, offset: Int, sequence: UInt64) {
        self.storeUUID = storeUUID
        self.segment = segment
        self.offset = offset
        self.sequence = sequence
    }

    /// The same place for a piece whose readers do not know which transaction wrote it. Segment numbers are never
    /// used twice, so the place still names one piece only.
    var withoutSequence: LogAddress {
        LogAddress(storeUUID: storeUUID, segment: segment, offset: offset, sequence: 0)
    }

    /// CRC-32C continued from `crc` (that of the data) over 32 bytes that name the place: the UUID's two words,
    /// segment and offset (4 bytes each), sequence number.
    func checksum(continuing crc: UInt32) -> UInt32 {
        var words = (
            storeUUID.high.littleEndian, storeUUID.low.littleEndian,
            (UInt64(segment) | UInt64(UInt32(truncatingIfNeeded: offset)) << 32).littleEndian, sequence.littleEndian
        )
        return withUnsafeBytes(of: &words) { StrataLog.checksum($0, continuing: crc) }
    }
}

/// The identity of one store, drawn at random when it is created.
public struct StoreUUID: Sendable, Hashable {
    /// The first eight bytes, as a big-endian number.
    public var high: UInt64
    /// The last eight bytes, as a big-endian number.
    public var low: UInt64

    /// The UUID of these 16 bytes.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A random (version 4) UUID.
    public static func random() -> StoreUUID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// As ``random()``, drawn from a generator of the caller's.
    public static func random(using generator: inout some RandomNumberGenerator) -> StoreUUID {
        StoreUUID(
            high: generator.next() & ~0xF000 | 0x4000, low: generator.next() & ~(0xC << 60) | (0x8 << 60))
    }
}
