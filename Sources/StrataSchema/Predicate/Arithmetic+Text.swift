extension Arithmetic {
    /// What a value adds to a sum. As in SQL, a text counts as the number that it begins with; nil for what has no
    /// number.
    package init?(summand value: Any?) {
        guard case .string(let text) = Operand(value) else {
            self.init(value)
            return
        }
        self = .beginning(of: text)
    }

    /// The number that a text begins with, as SQLite reads it: behind spaces a sign, digits, a fraction and an
    /// exponent. 0 for a text without one. Only a text that is nothing else than a whole number is an integer.
    private static func beginning(of text: String) -> Arithmetic {
        let bytes = Array(text.utf8)
        var end = bytes.prefix(while: isSpace).count
        let start = end
        func skip(_ accepted: (UInt8) -> Bool) -> Int {
            let count = bytes[end...].prefix(while: accepted).count
            end += count
            return count
        }
        func skipSign() {
            if end < bytes.count, bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-") { end += 1 }
        }
        skipSign()
        var digits = skip(isDigit)
        var isWhole = true
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            end += 1
            digits += skip(isDigit)
            isWhole = false
        }
        guard digits > 0 else { return .integer(0) }
        if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            let mantissa = end
            end += 1
            skipSign()
            if skip(isDigit) == 0 { end = mantissa } else { isWhole = false }
        }
        let number = String(decoding: bytes[start..<end], as: UTF8.self)
        if isWhole, bytes[end...].allSatisfy(isSpace), let value = Int64(number) { return .integer(value) }
        return .double(Double(number) ?? 0)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// A space, or one of the control characters from tab to return.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
}
