import Foundation

/// Reads a ``StoredModel`` from JSON as ``StoredModel/encoded()`` writes it.
///
/// Foundation's decoder does the same in general; for it, Swift's runtime searches the conformances of everything that
/// is linked, which the first time in a process takes longer than reading the store. What this does not know it leaves
/// to that decoder, which has the last word on what is wrong, too.
package struct StoredModelReader {
    private let bytes: [UInt8]
    private var position = 0

    /// What this does not read.
    private struct Unknown: Error {}

    /// The model; nil when the decoder has to be asked.
    package static func model(_ bytes: [UInt8]) -> StoredModel? {
        var reader = StoredModelReader(bytes: bytes)
        guard let model = try? reader.model(), reader.position == bytes.count else { return nil }
        return model
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func model() throws(Unknown) -> StoredModel {
        var model = StoredModel()
        var (hasFormat, hasEntities, hasPostings, hasIdentifiers) = (false, false, false, false)
        try object { (reader, key) throws(Unknown) in
            switch key {
            case "format":
                model.format = try reader.number(Int.self)
                hasFormat = true
            case "entities":
                try reader.array { (reader) throws(Unknown) in model.entities.append(try reader.entity()) }
                hasEntities = true
            case "postings":
                try reader.object { (reader, key) throws(Unknown) in
                    model.postings[key] = try reader.number(UInt16.self)
                }
                hasPostings = true
            case "versionIdentifiers":
                model.versionIdentifiers = try reader.strings()
                hasIdentifiers = true
            case "model": model.model = try reader.data()
            case "lastNumber": model.lastNumber = try reader.number(UInt16.self)
            case "lastPostings": model.lastPostings = try reader.number(UInt16.self)
            case "since": model.since = try reader.number(UInt64.self)
            case "hashForm": model.hashForm = try reader.number(Int.self)
            default: throw Unknown()
            }
        }
        guard hasFormat, hasEntities, hasPostings, hasIdentifiers else { throw Unknown() }
        return model
    }

    private mutating func entity() throws(Unknown) -> StoredModel.Entity {
        var (name, number, root, slots, hash): (String?, UInt16?, UInt16?, [String]?, Data?)
        try object { (reader, key) throws(Unknown) in
            switch key {
            case "name": name = try reader.string()
            case "number": number = try reader.number(UInt16.self)
            case "root": root = try reader.number(UInt16.self)
            case "slots": slots = try reader.strings()
            case "versionHash": hash = try reader.data()
            default: throw Unknown()
            }
        }
        guard let name, let number, let root, let slots else { throw Unknown() }
        return StoredModel.Entity(name: name, number: number, root: root, slots: slots, versionHash: hash)
    }

    // MARK: JSON, without spaces

    private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func take(_ byte: Unicode.Scalar) throws(Unknown) {
        guard next == UInt8(ascii: byte) else { throw Unknown() }
        position += 1
    }

    /// Whether there is another one before the end, and past the comma then.
    private mutating func goesOn(_ end: Unicode.Scalar) throws(Unknown) -> Bool {
        if next == UInt8(ascii: end) {
            position += 1
            return false
        }
        try take(",")
        return true
    }

    private mutating func object(
        _ member: (inout StoredModelReader, String) throws(Unknown) -> Void
    ) throws(Unknown) {
        try take("{")
        if next == UInt8(ascii: "}") {
            position += 1
            return
        }
        repeat {
            let key = try string()
            try take(":")
            try member(&self, key)
        } while try goesOn("}")
    }

    private mutating func array(
        _ element: (inout StoredModelReader) throws(Unknown) -> Void
    ) throws(Unknown) {
        try take("[")
        if next == UInt8(ascii: "]") {
            position += 1
            return
        }
        repeat { try element(&self) } while try goesOn("]")
    }

    private mutating func strings() throws(Unknown) -> [String] {
        var strings: [String] = []
        try array { (reader) throws(Unknown) in strings.append(try reader.string()) }
        return strings
    }

    private mutating func number<T: FixedWidthInteger>(_ type: T.Type) throws(Unknown) -> T {
        let start = position
        var value: T = 0
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) {
            let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tenfold.addingReportingOverflow(T(next - UInt8(ascii: "0")))
            guard !isTooLarge, !overflows else { throw Unknown() }
            value = sum
            position += 1
        }
        // No zeros in front, fractions or exponents.
        guard position > start, position == start + 1 || bytes[start] != UInt8(ascii: "0"),
            next == UInt8(ascii: ",") || next == UInt8(ascii: "}") || next == UInt8(ascii: "]")
        else { throw Unknown() }
        return value
    }

    private mutating func string() throws(Unknown) -> String {
        let text = try utf8()
        guard let string = String(validating: text, as: UTF8.self) else { throw Unknown() }
        return string
    }

    /// The bytes of a string. Of the escapes it knows those of the characters that stand for themselves.
    private mutating func utf8() throws(Unknown) -> [UInt8] {
        try take("\"")
        var text: [UInt8] = []
        var start = position
        while next != UInt8(ascii: "\"") {
            // The end, too.
            guard next >= 0x20 else { throw Unknown() }
            guard next == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            text += bytes[start..<position]
            position += 1
            guard [UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(next) else { throw Unknown() }
            start = position
            position += 1
        }
        text += bytes[start..<position]
        position += 1
        return text
    }

    private mutating func data() throws(Unknown) -> Data {
        let text = try utf8()
        guard text.count % 4 == 0 else { throw Unknown() }
        var data = [UInt8]()
        data.reserveCapacity(text.count / 4 * 3)
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var (word, digits): (UInt32, Int) = (0, 0)
        for character in text.dropLast(padding) {
            word = word << 6 | UInt32(try Self.digit(character))
            digits += 1
            guard digits == 4 else { continue }
            data.append(UInt8(truncatingIfNeeded: word >> 16))
            data.append(UInt8(truncatingIfNeeded: word >> 8))
            data.append(UInt8(truncatingIfNeeded: word))
            (word, digits) = (0, 0)
        }
        switch digits {
        case 0: break
        case 2 where word & 0xF == 0: data.append(UInt8(truncatingIfNeeded: word >> 4))
        case 3 where word & 0x3 == 0:
            data += [UInt8(truncatingIfNeeded: word >> 10), UInt8(truncatingIfNeeded: word >> 2)]
        default: throw Unknown()
        }
        return Data(data)
    }

    private static func digit(_ character: UInt8) throws(Unknown) -> UInt8 {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: throw Unknown()
        }
    }
}
