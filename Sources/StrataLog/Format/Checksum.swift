internal import CStrataSupport

/// CRC-32C (Castagnoli), the checksum of everything in the log.
enum Checksum {
    /// The checksum of `count` bytes at `start`, continuing from `previous` (0 to begin).
    static func crc32c(_ start: UnsafeRawPointer, count: Int, continuing previous: UInt32 = 0) -> UInt32 {
        strata_crc32c(previous, start, count)
    }

    /// Continues `crc` over the place where bytes lie, so that bytes at another place do not pass.
    ///
    /// The place is 32 bytes: the store's UUID (two words), segment, byte offset (32 bits each) and sequence.
    static func continuing(
        _ crc: UInt32, storeUUID: (UInt64, UInt64), segment: UInt32, offset: UInt32, sequence: UInt64
    ) -> UInt32 {
        var place = (storeUUID.0, storeUUID.1, UInt64(segment) | UInt64(offset) << 32, sequence)
        return withUnsafeBytes(of: &place) { crc32c($0.baseAddress!, count: $0.count, continuing: crc) }
    }
}
