internal import CStrataSupport

/// CRC-32C (Castagnoli) of a buffer, continuing from `crc` (0 to begin): the checksum of everything in the log.
func checksum(_ bytes: UnsafeRawBufferPointer, continuing crc: UInt32 = 0) -> UInt32 {
    strata_crc32c(crc, bytes.baseAddress, bytes.count)
}

func checksum(_ start: UnsafeRawPointer, count: Int, continuing crc: UInt32 = 0) -> UInt32 {
    strata_crc32c(crc, start, count)
}
