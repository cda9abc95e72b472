internal import CStrataSupport

/// CRC-32C of what an index keeps in a checkpoint file.
enum PageChecksum {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        strata_crc32c(0, bytes.baseAddress, bytes.count)
    }

    /// Checksum of bytes and of what says where they belong, so that a displaced page does not pass for another.
    static func of(_ bytes: UnsafeRawBufferPointer, key first: UInt64, _ second: UInt64 = 0) -> UInt32 {
        let crc = withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) {
            strata_crc32c(0, $0.baseAddress, $0.count)
        }
        return strata_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}
