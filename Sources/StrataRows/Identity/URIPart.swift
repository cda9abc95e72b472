import Foundation

/// Parts of the URIs of objects.
package enum URIPart {
    /// A text in which all characters are escaped that are not allowed.
    ///
    /// Foundation is asked only if there may be such: the first time that takes a million instructions, and most names
    /// and all UUIDs stay as they are.
    ///
    /// - Parameter isAllowed: whether an ASCII character is among those allowed; false for others, and when unsure.
    package static func escaped(
        _ text: String, _ allowed: @autoclosure () -> CharacterSet, isAllowed: (UInt8) -> Bool
    ) -> String {
        if text.utf8.allSatisfy(isAllowed) { return text }
        return text.addingPercentEncoding(withAllowedCharacters: allowed()) ?? text
    }

    /// Whether a byte of UTF-8 is an ASCII letter or digit.
    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
