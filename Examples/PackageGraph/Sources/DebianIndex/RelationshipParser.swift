/// Reads the value of a relationship field: groups apart by commas, alternatives in a group apart by bars, each
/// `name[:architecture] [(operator version)]`.
enum RelationshipParser {
    /// One alternative of one group, as ranges of the bytes parsed.
    struct Item {
        var group = 0
        var alternative = 0
        var name = 0..<0
        var qualifier = 0..<0
        var relation = VersionRelation.any
        var version = 0..<0
    }

    /// What is wrong with a value.
    struct Failure: Error { let reason: String }
}

extension RelationshipParser {
    /// Hands each alternative of the value at `range` to `body`, in the order they are written.
    ///
    /// Empty groups, such as a trailing comma makes, are passed over: indexes of third parties have them.
    static func parse(
        _ bytes: Span<UInt8>, _ range: Range<Int>, _ body: (Item) -> Void
    ) throws(Failure) {
        var position = range.lowerBound
        var item = Item()
        while true {
            skipSpace(bytes, &position, range.upperBound)
            guard position < range.upperBound else { return }
            if bytes[position] == UInt8(ascii: ",") {
                position += 1
                if item.alternative > 0 { item.group += 1 }
                item.alternative = 0
                continue
            }
            if bytes[position] == UInt8(ascii: "|") {
                guard item.alternative > 0 else { throw Failure(reason: "has an alternative without a name") }
                position += 1
                continue
            }
            try parseItem(bytes, &position, range.upperBound, &item)
            body(item)
            item.alternative += 1
        }
    }

    private static func parseItem(
        _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int, _ item: inout Item
    ) throws(Failure) {
        item.name = word(bytes, &position, end)
        guard !item.name.isEmpty else {
            let byte = Character(UnicodeScalar(bytes[position]))
            throw Failure(reason: "has \"\(byte)\" where a package name belongs")
        }
        item.qualifier = 0..<0
        if position < end, bytes[position] == UInt8(ascii: ":") {
            position += 1
            item.qualifier = word(bytes, &position, end)
        }
        item.relation = .any
        item.version = 0..<0
        skipSpace(bytes, &position, end)
        if position < end, bytes[position] == UInt8(ascii: "(") {
            position += 1
            try parseConstraint(bytes, &position, end, &item)
        }
        skipSpace(bytes, &position, end)
        guard position == end || bytes[position] == UInt8(ascii: ",") || bytes[position] == UInt8(ascii: "|") else {
            throw Failure(reason: "has no comma or bar after \"\(text(bytes, item.name))\"")
        }
    }

    private static func parseConstraint(
        _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int, _ item: inout Item
    ) throws(Failure) {
        skipSpace(bytes, &position, end)
        let start = position
        while position < end, "<=>".utf8.contains(bytes[position]) { position += 1 }
        switch text(bytes, start..<position) {
        case "<<": item.relation = .earlier
        // The single signs are obsolete and mean "or equal".
        case "<=", "<": item.relation = .earlierOrEqual
        case "=": item.relation = .equal
        case ">=", ">": item.relation = .laterOrEqual
        case ">>": item.relation = .later
        default: throw Failure(reason: "has no operator before the version for \"\(text(bytes, item.name))\"")
        }
        skipSpace(bytes, &position, end)
        let versionStart = position
        while position < end, bytes[position] != UInt8(ascii: ")"), !isSpace(bytes[position]) { position += 1 }
        item.version = versionStart..<position
        skipSpace(bytes, &position, end)
        guard position < end, bytes[position] == UInt8(ascii: ")"), !item.version.isEmpty else {
            throw Failure(reason: "has no closing parenthesis after the version for \"\(text(bytes, item.name))\"")
        }
        position += 1
    }

    /// The run of bytes that may stand in a name or an architecture.
    private static func word(_ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) -> Range<Int> {
        let start = position
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                position += 1
            default: return start..<position
            }
        }
        return start..<position
    }

    private static func skipSpace(_ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) {
        while position < end, isSpace(bytes[position]) { position += 1 }
    }

    /// A value may be folded over lines, so that a newline is a space too.
    private static func isSpace(_ byte: UInt8) -> Bool { StanzaScanner.isBlank(byte) || byte == UInt8(ascii: "\n") }

    private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
