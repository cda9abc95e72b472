/// The identifiers of a source file outside of comments and of the text of strings.
struct SourceWords: IteratorProtocol {
    struct Word {
        var text: String
        var offset: Int
        /// Whether it stands behind a dot.
        var isMember: Bool
    }

    private let source: SourceText
    private var offset = 0
    private var isBehindDot = false
    /// The strings in whose interpolations the next word stands, outermost first, with the open brackets of each.
    private var strings: [(delimiter: [UInt8], pounds: Int, depth: Int)] = []

    init(_ source: SourceText) {
        self.source = source
    }

    mutating func next() -> Word? {
        while true {
            offset = source.nextToken(offset)
            guard offset < source.bytes.count else { return nil }
            if skipString() || closeInterpolation() { continue }
            let start = offset
            let first = source.bytes[start]
            offset = source.endOfToken(start)
            let wasBehindDot = isBehindDot
            isBehindDot = first == UInt8(ascii: ".")
            let isWord = SourceText.isIdentifier(first) && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
            if isWord { return Word(text: source.text(start..<offset), offset: start, isMember: wasBehindDot) }
        }
    }

    /// Passes over the beginning of a string, up to its end or its first interpolation.
    private mutating func skipString() -> Bool {
        var quote = offset
        while quote < source.bytes.count, source.bytes[quote] == UInt8(ascii: "#") { quote += 1 }
        guard source.starts("\"", at: quote) else { return false }
        let mark = source.starts("\"\"\"", at: quote) ? "\"\"\"" : "\""
        let pounds = quote - offset
        offset = quote + mark.utf8.count
        strings.append((Array(mark.utf8) + Array(repeating: UInt8(ascii: "#"), count: pounds), pounds, 0))
        skipText()
        return true
    }

    /// Counts brackets in an interpolation; behind the last one the string goes on.
    private mutating func closeInterpolation() -> Bool {
        guard let last = strings.indices.last else { return false }
        if source.starts("(", at: offset) { strings[last].depth += 1 }
        guard source.starts(")", at: offset) else { return false }
        strings[last].depth -= 1
        offset += 1
        if strings[last].depth == 0 { skipText() }
        return true
    }

    private mutating func skipText() {
        guard let string = strings.last else { return }
        let escape = "\\" + String(repeating: "#", count: string.pounds)
        let end = String(decoding: string.delimiter, as: UTF8.self)
        while offset < source.bytes.count {
            if source.starts(end, at: offset) {
                offset += string.delimiter.count
                strings.removeLast()
                return
            }
            guard source.starts(escape, at: offset) else {
                offset += 1
                continue
            }
            offset += escape.utf8.count
            if source.starts("(", at: offset) {
                strings[strings.count - 1].depth = 1
                offset += 1
                return
            }
            offset += 1
        }
    }
}
