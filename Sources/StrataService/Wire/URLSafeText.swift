import Foundation

/// Base64 as RFC 4648 has it for URLs, without padding.
enum URLSafeText {
    static func encoded(_ data: Data) -> String {
        String(
            data.base64EncodedString().filter { $0 != "=" }.map { character in
                switch character {
                case "+": "-"
                case "/": "_"
                default: character
                }
            })
    }

    /// Nil for whatever ``encoded(_:)`` does not make: one text stands for one value.
    static func decoded(_ text: String) -> Data? {
        var base64 = String(
            text.map { character in
                switch character {
                case "-": "+"
                case "_": "/"
                // Not in this alphabet.
                case "+", "/", "=": "!"
                default: character
                }
            })
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), encoded(data) == text else { return nil }
        return data
    }
}
