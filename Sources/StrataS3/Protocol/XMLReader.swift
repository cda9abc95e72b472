/// Reads what S3's answers use of XML: elements, text, CDATA, the five named references and those by number.
struct XMLReader {
    /// Why a text is not read as XML.
    struct Failure: Error, CustomStringConvertible {
        let problem: String
        let offset: Int
        var description: String { "\(problem) at byte \(offset)" }
    }

    private static let deepest = 16
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func document() throws(Failure) -> XMLElement {
        try skipProlog()
        guard skip("<") else { throw failure("an element was expected") }
        let root = try element(depth: 0)
        try skipProlog()
        guard position == bytes.count else { throw failure("there is something behind the root element") }
        return root
    }

    private func failure(_ problem: String) -> Failure { Failure(problem: problem, offset: position) }

    private func begins(_ text: StaticString) -> Bool {
        bytes.count - position >= text.utf8CodeUnitCount
            && text.withUTF8Buffer { $0.elementsEqual(bytes[position..<position + $0.count]) }
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        guard begins(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Goes behind the next place where a text stands, and returns what comes before it.
    private mutating func through(_ text: StaticString) throws(Failure) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count {
            if begins(text) {
                let found = bytes[start..<position]
                position += text.utf8CodeUnitCount
                return found
            }
            position += 1
        }
        throw failure("\(text) is missing")
    }

    private mutating func skipProlog() throws(Failure) {
        while true {
            skipSpace()
            if skip("<?") {
                _ = try through("?>")
            } else if skip("<!--") {
                _ = try through("-->")
            } else if begins("<!") {
                throw failure("a document type is not read")
            } else {
                return
            }
        }
    }

    /// Reads a name, and returns it without its prefix.
    private mutating func name() throws(Failure) -> (full: String, local: String) {
        let start = position
        while position < bytes.count, !Self.isSpace(bytes[position]),
            ![UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "<")].contains(bytes[position])
        {
            position += 1
        }
        guard position > start, let full = String(validating: bytes[start..<position], as: UTF8.self) else {
            throw failure("a name was expected")
        }
        return (full, String(full[(full.lastIndex(of: ":").map(full.index(after:)) ?? full.startIndex)...]))
    }

    /// Reads on behind an element's `<`.
    private mutating func element(depth: Int) throws(Failure) -> XMLElement {
        guard depth < Self.deepest else { throw failure("the elements are nested too deep") }
        let name = try name()
        try skipAttributes()
        if skip("/>") { return XMLElement(name: name.local, children: [], text: "") }
        guard skip(">") else { throw failure("the tag \(name.full) does not end") }
        var children: [XMLElement] = []
        var text: [UInt8] = []
        while true {
            guard position < bytes.count else { throw failure("the element \(name.full) does not end") }
            if skip("</") {
                guard try self.name().full == name.full else {
                    throw failure("another element than \(name.full) ends")
                }
                skipSpace()
                guard skip(">") else { throw failure("the end of \(name.full) does not end") }
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw failure("the text of \(name.full) is not UTF-8")
                }
                return XMLElement(name: name.local, children: children, text: text)
            } else if skip("<![CDATA[") {
                text += try through("]]>")
            } else if skip("<!--") {
                _ = try through("-->")
            } else if skip("<?") {
                _ = try through("?>")
            } else if skip("<") {
                children.append(try element(depth: depth + 1))
            } else if skip("&") {
                text += try reference()
            } else {
                text.append(bytes[position])
                position += 1
            }
        }
    }

    private mutating func skipAttributes() throws(Failure) {
        while true {
            skipSpace()
            if begins("/>") || begins(">") { return }
            _ = try name()
            skipSpace()
            guard skip("=") else { throw failure("an attribute has no value") }
            skipSpace()
            if skip("\"") {
                _ = try through("\"")
            } else if skip("'") {
                _ = try through("'")
            } else {
                throw failure("an attribute's value is not quoted")
            }
        }
    }

    /// Reads on behind an `&`.
    private mutating func reference() throws(Failure) -> [UInt8] {
        let start = position
        while position < bytes.count, position - start < 10, bytes[position] != UInt8(ascii: ";") { position += 1 }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        guard skip(";") else { throw failure("a reference does not end") }
        switch name {
        case "amp": return Array("&".utf8)
        case "lt": return Array("<".utf8)
        case "gt": return Array(">".utf8)
        case "quot": return Array("\"".utf8)
        case "apos": return Array("'".utf8)
        default:
            let number: UInt32? =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16)
                : name.hasPrefix("#") ? UInt32(name.dropFirst(1)) : nil
            guard let scalar = number.flatMap(Unicode.Scalar.init) else { throw failure("&\(name); is not known") }
            return Array(String(Character(scalar)).utf8)
        }
    }
}
