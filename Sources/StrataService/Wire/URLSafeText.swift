/// Base64 as RFC 4648 has it for URLs, without padding.
///
/// Written by hand because a service's answers are full of it: Foundation's Base64 has neither this alphabet nor a way
/// to refuse a second text for the same bytes, and working around that took a fifth of a short request.
enum URLSafeText {
    static func encoded(_ bytes: some Collection<UInt8>) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            var written = 0
            // The lowest `count` bits have still to be written.
            var (bits, count): (UInt32, UInt32) = (0, 0)
            for byte in bytes {
                bits = bits &<< 8 | UInt32(byte)
                count += 8
                while count >= 6 {
                    count -= 6
                    text[written] = character(bits &>> count & 63)
                    written += 1
                }
            }
            if count > 0 {
                text[written] = character(bits &<< (6 - count) & 63)
                written += 1
            }
            return written
        }
    }

    /// Nil for whatever ``encoded(_:)`` does not make: one text stands for one value.
    static func decoded(_ text: String) -> [UInt8]? {
        let length = text.utf8.count
        // A single character more has no whole byte.
        if length % 4 == 1 { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length * 3 / 4)
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            bits = bits &<< 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits &>> count))
            }
        }
        // Bits that stand for nothing may be set in the last character.
        return bits & (1 &<< count - 1) == 0 ? bytes : nil
    }

    private static func character(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0..<26: UInt8(ascii: "A") &+ value
        case 26..<52: UInt8(ascii: "a") &+ (value &- 26)
        case 52..<62: UInt8(ascii: "0") &+ (value &- 52)
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character &- UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character &- UInt8(ascii: "a") &+ 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character &- UInt8(ascii: "0") &+ 52)
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
