/// Cuts the bytes of an index into stanzas and those into fields (deb822: `Name: value` lines, continuation lines that
/// begin with a space, stanzas apart by blank lines).
struct StanzaScanner {
    let path: String
    /// The line that the next byte to be scanned lies on, counted from 1.
    private var line = 1
    private var stanza = Stanza(line: 1)

    init(path: String) { self.path = path }

    /// Hands each whole stanza of `bytes` to `body`.
    ///
    /// - Parameters:
    ///   - bytes: Bytes from where the last scan stopped on.
    ///   - isAtEnd: Whether the file ends with these bytes, which ends its last stanza too.
    /// - Returns: How many bytes were used: all up to the first stanza that is not whole.
    /// - Throws: `.malformed` for a line that is neither a field nor a continuation, and what `body` throws.
    mutating func scan(
        _ bytes: Span<UInt8>, isAtEnd: Bool, _ body: (Span<UInt8>, Stanza) throws(IndexError) -> Void
    ) throws(IndexError) -> Int {
        var stanzaStart = 0
        var stanzaLine = line
        var position = 0
        var current: StanzaField?
        var isEmpty = true
        stanza.reset(line: line)
        while position < bytes.count {
            var end = position
            while end < bytes.count, bytes[end] != Self.newline { end += 1 }
            if end == bytes.count, !isAtEnd { break }
            let next = min(end + 1, bytes.count)
            let content = Self.trim(bytes, position..<end)
            if content.isEmpty {
                if !isEmpty { try body(bytes, stanza) }
                isEmpty = true
                current = nil
                stanzaStart = next
                stanzaLine = line + 1
                stanza.reset(line: stanzaLine)
            } else if Self.isBlank(bytes[position]) {
                guard !isEmpty else { throw malformed("continues a field, but none was begun") }
                if let current { stanza.extend(current, to: content.upperBound) }
            } else {
                current = try scanField(bytes, content)
                isEmpty = false
            }
            line += 1
            position = next
        }
        if isAtEnd, !isEmpty {
            try body(bytes, stanza)
            return bytes.count
        }
        line = stanzaLine
        return isAtEnd ? bytes.count : stanzaStart
    }

    private mutating func scanField(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(IndexError) -> StanzaField? {
        var colon = content.lowerBound
        while colon < content.upperBound, bytes[colon] != UInt8(ascii: ":") {
            // Names are printable ASCII; anything else is a file of another kind.
            guard bytes[colon] > 0x20, bytes[colon] < 0x7f else { throw notAField() }
            colon += 1
        }
        guard colon < content.upperBound, colon > content.lowerBound else { throw notAField() }
        guard let field = StanzaField(name: bytes.extracting(content.lowerBound..<colon)) else { return nil }
        stanza.set(field, Self.trim(bytes, (colon + 1)..<content.upperBound), line: line)
        return field
    }

    private func notAField() -> IndexError {
        malformed("is not a \"Field: value\" line, so this is no Debian package index")
    }

    private func malformed(_ reason: String) -> IndexError {
        IndexError(.malformed, path: path, line: line, reason)
    }

    private static let newline = UInt8(ascii: "\n")

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func trim(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }
}
