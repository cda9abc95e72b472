import Foundation

/// Numbers and UUIDs as the bytes of a cursor, the most significant first.
enum PageBytes {
    static func bytes(of word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }

    static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    static func bytes(of uuid: UUID) -> [UInt8] {
        let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid.uuid
        return [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }

    /// Nil unless there are 16 bytes.
    static func uuid(_ bytes: ArraySlice<UInt8>) -> UUID? {
        let b = Array(bytes)
        guard b.count == 16 else { return nil }
        return UUID(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            ))
    }
}
