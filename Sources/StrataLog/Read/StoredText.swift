/// Text as it is stored: UTF-8.
public enum StoredText {
    /// The bytes as a string; ill-formed UTF-8 is repaired.
    ///
    /// Bytes that are all ASCII, as most are, are copied as they are. The standard library's check of well-formed text
    /// took three quarters of the time that a string of a hundred bytes took to be made.
    ///
    /// - Complexity: O(n).
    public static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        guard isASCII(bytes) else { return String(decoding: bytes, as: UTF8.self) }
        return bytes.withMemoryRebound(to: UInt8.self) { bytes in
            // SAFETY: every byte is below 128, so the bytes are well-formed.
            String(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true))
        }
    }

    /// Whether no byte is above 127.
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        guard let base = bytes.baseAddress, count >= 8 else { return bytes.allSatisfy { $0 < 0x80 } }
        func word(_ offset: Int) -> UInt64 { base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        // The last word may overlap those before.
        var all = word(count &- 8)
        var offset = 0
        while offset &+ 32 <= count {
            all |= word(offset) | word(offset &+ 8) | word(offset &+ 16) | word(offset &+ 24)
            offset &+= 32
        }
        while offset &+ 8 <= count {
            all |= word(offset)
            offset &+= 8
        }
        return all & 0x8080_8080_8080_8080 == 0
    }
}
