/// A value of JSON as it is written: numbers are kept as their digits, which no conversion has changed.
enum JSONValue {
    case null
    case bool(Bool)
    case number(String)
    case text(String)
    case list([JSONItem])
    case object([JSONMember])

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    var members: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }
}

/// A value and the column that it begins in.
struct JSONItem {
    var value: JSONValue
    var column: Int
}

/// A member of an object and the column that its name begins in.
struct JSONMember {
    var name: String
    var column: Int
    var item: JSONItem
}

/// Reads one line of JSON (RFC 8259), and nothing that is not exactly that: no name comes twice, no character is
/// repaired.
struct JSONText {
    private let bytes: [UInt8]
    private let place: TextPlace
    private var position = 0
    /// How many columns the bytes before `counted` have.
    private var columns = 0
    private var counted = 0

    /// What the lines of a store have is three deep.
    private static let maximumDepth = 16

    private init(_ bytes: [UInt8], _ place: TextPlace) {
        self.bytes = bytes
        self.place = place
    }

    /// - Throws: ``TransferError`` with line and column.
    static func parse(_ bytes: [UInt8], _ place: TextPlace) throws -> JSONValue {
        var text = JSONText(bytes, place)
        text.skipSpace()
        let item = try text.item(depth: 0)
        text.skipSpace()
        guard text.position == bytes.count else { throw text.error("something follows the JSON object") }
        return item.value
    }

    // MARK: Places

    /// The column of the next byte: bytes that continue a character are not counted.
    private mutating func column() -> Int {
        for byte in bytes[counted..<position] where byte & 0xC0 != 0x80 { columns += 1 }
        counted = position
        return columns + 1
    }

    private func error(_ problem: String, at index: Int? = nil) -> TransferError {
        let before = bytes[..<(index ?? position)]
        return place.at(1 + before.count { $0 & 0xC0 != 0x80 }).error(problem)
    }

    // MARK: Values

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func item(depth: Int) throws -> JSONItem {
        guard depth <= Self.maximumDepth else { throw error("it is nested more than \(Self.maximumDepth) deep") }
        let column = column()
        let value: JSONValue
        switch next {
        case UInt8(ascii: "{"): value = .object(try members(depth))
        case UInt8(ascii: "["): value = .list(try elements(depth))
        case UInt8(ascii: "\""): value = .text(try string())
        case UInt8(ascii: "t"): value = try word("true", .bool(true))
        case UInt8(ascii: "f"): value = try word("false", .bool(false))
        case UInt8(ascii: "n"): value = try word("null", .null)
        default: value = .number(try number())
        }
        return JSONItem(value: value, column: column)
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw error("it is no JSON value") }
        position += word.utf8.count
        return value
    }

    private mutating func members(_ depth: Int) throws -> [JSONMember] {
        position += 1
        var members: [JSONMember] = []
        var names: Set<[UInt8]> = []
        skipSpace()
        if take("}") { return [] }
        while true {
            let (start, column) = (position, column())
            guard next == UInt8(ascii: "\"") else { throw error("a member of a JSON object begins with its name") }
            let name = try string()
            guard names.insert(Array(name.utf8)).inserted else { throw error("a name comes twice", at: start) }
            skipSpace()
            guard take(":") else { throw error("a colon is missing behind a name") }
            skipSpace()
            members.append(JSONMember(name: name, column: column, item: try item(depth: depth + 1)))
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw error("a JSON object has no end") }
            skipSpace()
        }
    }

    private mutating func elements(_ depth: Int) throws -> [JSONItem] {
        position += 1
        var elements: [JSONItem] = []
        skipSpace()
        if take("]") { return [] }
        while true {
            elements.append(try item(depth: depth + 1))
            skipSpace()
            if take("]") { return elements }
            guard take(",") else { throw error("a JSON list has no end") }
            skipSpace()
        }
    }

    private mutating func number() throws -> String {
        let start = position
        func digits(_ text: inout JSONText) -> Int {
            let first = text.position
            while let byte = text.next, byte >= 0x30, byte <= 0x39 { text.position += 1 }
            return text.position - first
        }
        _ = take("-")
        let first = next
        let whole = digits(&self)
        var isNumber = whole == 1 || (whole > 1 && first != UInt8(ascii: "0"))
        if take(".") { isNumber = digits(&self) > 0 && isNumber }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            isNumber = digits(&self) > 0 && isNumber
        }
        guard isNumber else { throw error("it is no JSON value", at: start) }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    // MARK: Text

    private mutating func string() throws -> String {
        let start = position
        position += 1
        var run = position
        var characters: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                characters += bytes[run..<position]
                position += 1
                guard let text = String(validating: characters, as: UTF8.self) else {
                    throw error("a text is not in UTF-8", at: start)
                }
                return text
            case UInt8(ascii: "\\"):
                characters += bytes[run..<position]
                characters += UTF8.encode(try escape()).map { Array($0) } ?? []
                run = position
            case 0..<0x20: throw error("a control character stands in a text as it is")
            default: position += 1
            }
        }
        throw error("a text has no end", at: start)
    }

    private mutating func escape() throws -> Unicode.Scalar {
        let start = position
        position += 1
        guard let byte = next else { throw error("a text has no end", at: start) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var value = try unit(start)
            if value >> 10 == 0xD800 >> 10 {
                guard take("\\"), take("u") else { throw error("half a character stands in a text", at: start) }
                let low = try unit(start)
                guard low >> 10 == 0xDC00 >> 10 else { throw error("half a character stands in a text", at: start) }
                value = 0x10000 + ((value & 0x3FF) << 10 | low & 0x3FF)
            }
            guard let scalar = Unicode.Scalar(value) else {
                throw error("half a character stands in a text", at: start)
            }
            return scalar
        default: throw error("there is no such escape in JSON", at: start)
        }
    }

    /// Four hexadecimal digits.
    private mutating func unit(_ start: Int) throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("there is no such escape in JSON", at: start)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
