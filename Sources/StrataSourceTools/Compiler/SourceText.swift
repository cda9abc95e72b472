import Foundation

/// A source file's bytes, by the compiler's offsets.
struct SourceText {
    let path: String
    let bytes: [UInt8]

    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    /// - Throws: what reading the file throws.
    init(path: String) throws {
        self.init(path: path, bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
    }

    /// Line and column of an offset, both from 1.
    func position(_ offset: Int) -> (line: Int, column: Int) {
        let before = bytes[..<min(offset, bytes.count)]
        let line = before.count { $0 == Self.newline } + 1
        let start = before.lastIndex(of: Self.newline).map { $0 + 1 } ?? 0
        return (line, offset - start + 1)
    }

    /// The file and the line of an offset as `#sourceLocation` says them; those of the text itself without one.
    func origin(_ offset: Int) -> (path: String, line: Int) {
        var origin = (path: path, line: 0)
        for line in bytes[..<min(offset, bytes.count)].split(separator: Self.newline, omittingEmptySubsequences: false)
        {
            let parts = String(decoding: line, as: UTF8.self).split(separator: "\"")
            if parts.count == 3, parts[0] == "#sourceLocation(file: ", let next = Int(parts[2].filter(\.isNumber)) {
                origin = (String(parts[1]), next - 1)
            } else {
                origin.line += 1
            }
        }
        return origin
    }

    /// Where the token that starts at an offset ends: an identifier, with or without backticks, or one character.
    func endOfToken(_ offset: Int) -> Int {
        guard offset < bytes.count else { return offset }
        if bytes[offset] == Self.backtick {
            let end = bytes[(offset + 1)...].firstIndex(of: Self.backtick)
            return end.map { $0 + 1 } ?? bytes.count
        }
        var end = offset
        while end < bytes.count, Self.isIdentifier(bytes[end]) { end += 1 }
        return max(end, offset + 1)
    }

    /// Where the next token starts: white space and comments are passed over.
    func nextToken(_ offset: Int) -> Int {
        var offset = offset
        while offset < bytes.count {
            if Self.isSpace(bytes[offset]) {
                offset += 1
            } else if starts("//", at: offset) {
                while offset < bytes.count, bytes[offset] != Self.newline { offset += 1 }
            } else if starts("/*", at: offset) {
                offset = endOfBlockComment(offset)
            } else {
                return offset
            }
        }
        return offset
    }

    func starts(_ text: String, at offset: Int) -> Bool {
        let utf8 = text.utf8
        return offset + utf8.count <= bytes.count && bytes[offset..<offset + utf8.count].elementsEqual(utf8)
    }

    /// Block comments nest.
    private func endOfBlockComment(_ start: Int) -> Int {
        var depth = 0
        var offset = start
        while offset < bytes.count {
            if starts("/*", at: offset) {
                depth += 1
                offset += 2
            } else if starts("*/", at: offset) {
                depth -= 1
                offset += 2
                if depth == 0 { return offset }
            } else {
                offset += 1
            }
        }
        return offset
    }

    /// Where the bracket is that closes the one at an offset; nil if there is none.
    func endOfBrackets(_ start: Int) -> Int? {
        guard starts("(", at: start) else { return nil }
        var depth = 0
        var offset = start
        while offset < bytes.count {
            if starts("(", at: offset) { depth += 1 }
            if starts(")", at: offset) { depth -= 1 }
            if depth == 0 { return offset }
            offset = nextToken(endOfToken(offset))
        }
        return nil
    }

    /// The text of a type that starts at an offset, without comments, and where it ends: before what no type contains
    /// outside of brackets.
    func type(at start: Int) -> (text: String, end: Int) {
        var text = ""
        var depth = 0
        var offset = nextToken(start)
        var end = offset
        while offset < bytes.count {
            let byte = bytes[offset]
            if starts("->", at: offset) {
                text += " -> "
                end = offset + 2
            } else {
                if Self.opening.contains(byte) { depth += 1 }
                if Self.closing.contains(byte) { depth -= 1 }
                if depth < 0 || (depth == 0 && Self.ends.contains(byte)) { break }
                end = endOfToken(offset)
                let needsSpace = text.utf8.last.map(Self.isIdentifier) == true && Self.isIdentifier(byte)
                text += (needsSpace ? " " : "") + self.text(offset..<end)
            }
            offset = nextToken(end)
            // A new line ends the type, unless it goes on with what binds two types.
            let goesOn = starts("->", at: offset) || starts("&", at: offset) || starts(".", at: offset)
            if depth == 0, bytes[end..<offset].contains(Self.newline), !goesOn { break }
        }
        return (text, end)
    }

    static let newline = UInt8(ascii: "\n")
    private static let backtick = UInt8(ascii: "`")
    private static let opening = [UInt8]("(<[".utf8)
    private static let closing = [UInt8](")>]".utf8)
    private static let ends = [UInt8](",{};=".utf8)

    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
