import Foundation

/// Cuts a predicate string into tokens. Looks at each byte a bounded number of times.
struct PredicateLexer {
    private let format: String
    private let bytes: [UInt8]
    private(set) var index = 0

    init(_ format: String) throws(PredicateFormatError) {
        self.format = format
        bytes = format.utf8.count <= PredicateFormatError.maximumLengthBytes ? Array(format.utf8) : []
        if bytes.count != format.utf8.count {
            throw fail("The string is longer than \(PredicateFormatError.maximumLengthBytes) bytes", at: 0)
        }
    }

    /// An error at a byte offset.
    func fail(_ reason: String, at offset: Int) -> PredicateFormatError {
        let position = bytes.prefix(offset).reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        return PredicateFormatError(format: format, position: position, reason: reason)
    }

    static func isWordStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        case 0x80...: true
        default: false
        }
    }

    static func isWordPart(_ byte: UInt8) -> Bool {
        isWordStart(byte) || isDigit(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private func byte(at offset: Int) -> UInt8 {
        offset < bytes.count ? bytes[offset] : 0
    }

    /// Skips white space; `index` is then where the next token starts.
    mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || (bytes[index] >= 0x09 && bytes[index] <= 0x0D) { index += 1 }
    }

    /// The next token.
    mutating func next() throws(PredicateFormatError) -> PredicateToken {
        skipSpace()
        guard index < bytes.count else { return .end }
        let first = bytes[index]
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try quoted())
        case UInt8(ascii: "%"): return .placeholder(try placeholder())
        case UInt8(ascii: "#"):
            index += 1
            return .key(try word(after: "#"))
        case UInt8(ascii: "@"):
            index += 1
            return .key("@" + (try word(after: "@")))
        case UInt8(ascii: "$"):
            index += 1
            let start = index
            while Self.isWordPart(byte(at: index)), index < bytes.count { index += 1 }
            guard index > start else { throw fail("A name is missing after '$'", at: start) }
            return .variable(text(start..<index))
        default: break
        }
        let isFraction = first == UInt8(ascii: ".") && Self.isDigit(byte(at: index + 1))
        if isFraction || Self.isDigit(first) { return try number() }
        if Self.isWordStart(first) { return wordOrSelector() }
        return .symbol(try symbol())
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private mutating func word(after sign: String) throws(PredicateFormatError) -> String {
        let start = index
        guard index < bytes.count, Self.isWordStart(bytes[index]) else {
            throw fail("A name is missing after '\(sign)'", at: start)
        }
        while index < bytes.count, Self.isWordPart(bytes[index]) { index += 1 }
        return text(start..<index)
    }

    private mutating func wordOrSelector() -> PredicateToken {
        let start = index
        while index < bytes.count, Self.isWordPart(bytes[index]) { index += 1 }
        guard byte(at: index) == UInt8(ascii: ":") else { return .word(text(start..<index)) }
        var end = index
        while end < bytes.count, Self.isWordPart(bytes[end]) || bytes[end] == UInt8(ascii: ":") { end += 1 }
        guard byte(at: end) == UInt8(ascii: "("), bytes[end - 1] == UInt8(ascii: ":") || end > index else {
            return .word(text(start..<index))
        }
        index = end
        return .selector(text(start..<end))
    }

    // MARK: Strings

    private mutating func quoted() throws(PredicateFormatError) -> String {
        let start = index
        let quote = bytes[index]
        index += 1
        var result: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == quote { return String(decoding: result, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &result)
            } else {
                result.append(byte)
            }
        }
        throw fail("The closing quote is missing", at: start)
    }

    private mutating func escape(into result: inout [UInt8]) throws(PredicateFormatError) {
        guard index < bytes.count else { return }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "a"): result.append(0x07)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "v"): result.append(0x0B)
        case UInt8(ascii: "u"): try unicode(digits: 4, into: &result)
        case UInt8(ascii: "x"): try unicode(digits: 2, into: &result)
        case UInt8(ascii: "*"), UInt8(ascii: "?"):
            // Left for LIKE, where the backslash takes the wildcard's meaning away.
            result.append(UInt8(ascii: "\\"))
            result.append(byte)
        default: result.append(byte)
        }
    }

    private mutating func unicode(digits: Int, into result: inout [UInt8]) throws(PredicateFormatError) {
        let start = index
        index = min(index + digits, bytes.count)
        guard index - start == digits, let value = UInt32(text(start..<index), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw fail("\(digits) hexadecimal digits of a character are missing", at: start) }
        result.append(contentsOf: Array(String(Character(scalar)).utf8))
    }

    // MARK: Numbers

    private mutating func number() throws(PredicateFormatError) -> PredicateToken {
        let start = index
        if bytes[index] == UInt8(ascii: "0"), let radix = Self.radix(byte(at: index + 1)) {
            index += 2
            while index < bytes.count, Self.isWordPart(bytes[index]) { index += 1 }
            guard let value = UInt64(text(start + 2..<index), radix: radix) else {
                throw fail("'\(text(start..<index))' is no number", at: start)
            }
            return .integer(value)
        }
        skipDigits()
        var isWhole = true
        if byte(at: index) == UInt8(ascii: "."), Self.isDigit(byte(at: index + 1)) {
            isWhole = false
            index += 1
            skipDigits()
        }
        if byte(at: index) | 0x20 == UInt8(ascii: "e") {
            let sign = byte(at: index + 1)
            let digits = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") ? index + 2 : index + 1
            if Self.isDigit(byte(at: digits)) {
                isWhole = false
                index = digits
                skipDigits()
            }
        }
        if index < bytes.count, Self.isWordPart(bytes[index]) {
            throw fail("A number runs into a name", at: index)
        }
        if isWhole, let value = UInt64(text(start..<index)) { return .integer(value) }
        guard let value = Double(text(start..<index)), value.isFinite else {
            throw fail("The number is too large", at: start)
        }
        return .double(value)
    }

    private mutating func skipDigits() {
        while index < bytes.count, Self.isDigit(bytes[index]) { index += 1 }
    }

    private static func radix(_ byte: UInt8) -> Int? {
        switch byte | 0x20 {
        case UInt8(ascii: "x"): 16
        case UInt8(ascii: "o"): 8
        case UInt8(ascii: "b"): 2
        default: nil
        }
    }

    // MARK: Symbols and placeholders

    private static let pairs: [String: PredicateToken.Symbol] = [
        "==": .equal, "!=": .notEqual, "<>": .notEqual, "<=": .lessOrEqual, "=<": .lessOrEqual, ">=": .greaterOrEqual,
        "=>": .greaterOrEqual, "&&": .and, "||": .or, "**": .power, "<<": .shiftLeft, ">>": .shiftRight,
    ]

    private mutating func symbol() throws(PredicateFormatError) -> PredicateToken.Symbol {
        let start = index
        if index + 1 < bytes.count, bytes[index + 1] < 0x80, let pair = Self.pairs[text(index..<index + 2)] {
            index += 2
            return pair
        }
        let single = text(index..<index + 1)
        index += 1
        if single == "=" { return .equal }
        guard let symbol = PredicateToken.Symbol(rawValue: single) else {
            throw fail("'\(single)' has no meaning here", at: start)
        }
        return symbol
    }

    private mutating func placeholder() throws(PredicateFormatError) -> PredicateToken.Placeholder {
        let start = index
        index += 1
        // Flags, width, precision and length say nothing that the argument itself does not say better.
        while index < bytes.count, "0123456789.-+ #hljztqL".utf8.contains(bytes[index]) { index += 1 }
        let kind = byte(at: index)
        index += 1
        switch kind {
        case UInt8(ascii: "@"): return .object
        case UInt8(ascii: "K"): return .key
        case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "X"),
            UInt8(ascii: "o"), UInt8(ascii: "D"), UInt8(ascii: "U"), UInt8(ascii: "O"), UInt8(ascii: "c"),
            UInt8(ascii: "C"):
            return .integer
        case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "g"),
            UInt8(ascii: "G"), UInt8(ascii: "a"), UInt8(ascii: "A"):
            return .double
        case UInt8(ascii: "s"), UInt8(ascii: "S"): return .text
        default:
            index = min(index, bytes.count)
            throw fail("The placeholder is not known", at: start)
        }
    }
}
