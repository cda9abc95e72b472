/// Tells whether bytes are UTF-8.
enum UTF8Check {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Most texts are ASCII, of which eight bytes are looked at in one step.
        var offset = 0
        while offset + 8 <= bytes.count {
            guard bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 else {
                return String(validating: bytes[offset...], as: UTF8.self) != nil
            }
            offset += 8
        }
        return bytes[offset...].allSatisfy { $0 < 0x80 } || String(validating: bytes[offset...], as: UTF8.self) != nil
    }
}
