import Foundation

/// Base64 as RFC 4648 has it for URLs, without padding.
///
/// It works on bytes: character by character it took a fourth of a request that a service answers.
enum URLSafeText {
    private static let padding = UInt8(ascii: "=")

    static func encoded(_ data: Data) -> String {
        var bytes = [UInt8](data.base64EncodedData())
        while bytes.last == padding { bytes.removeLast() }
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil for whatever ``encoded(_:)`` does not make: one text stands for one value.
    static func decoded(_ text: String) -> Data? {
        var bytes = [UInt8](text.utf8)
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "-"): bytes[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): bytes[index] = UInt8(ascii: "/")
            // Not in this alphabet.
            case UInt8(ascii: "+"), UInt8(ascii: "/"), padding: return nil
            default: break
            }
        }
        while !bytes.count.isMultiple(of: 4) { bytes.append(padding) }
        // Bits that stand for nothing may be set in the last character.
        guard let data = Data(base64Encoded: Data(bytes)), encoded(data).utf8.elementsEqual(text.utf8) else {
            return nil
        }
        return data
    }
}
