import CStrataSupport

@testable import StrataLog

/// Puts a number into bytes.
func put<Value: FixedWidthInteger>(_ value: Value, into bytes: inout [UInt8], at offset: Int) {
    withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
}

/// Replaces the checksum at the end of a directory, as someone would who means harm.
func resealDirectory(_ bytes: inout [UInt8], _ section: CheckpointSection) {
    let start = Int(section.offset)
    let end = start + section.byteCount - 4
    let crc = bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress! + start, end - start) }
    withUnsafeBytes(of: crc.littleEndian) { bytes.replaceSubrange(end..<(end + 4), with: $0) }
}

/// Whether a section is still read when there is another value at an offset of its directory, whose checksum is right.
func isDirectoryRead<Value: FixedWidthInteger>(
    with value: Value, at offset: Int, _ source: IndexTestSource, _ section: CheckpointSection,
    by load: (IndexTestSource) throws -> Void
) -> Bool {
    var bytes = source.bytes
    put(value, into: &bytes, at: Int(section.offset) + offset)
    resealDirectory(&bytes, section)
    return (try? load(IndexTestSource(bytes))) != nil
}
