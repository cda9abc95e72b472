/// Names of files for entities and relationships: letters of ASCII, digits, "-" and "_" stand for themselves, and
/// everything else is escaped as in URIs. No name leads out of the directory, is longer than files' names may be, or
/// differs from another in capitals only.
struct CSVNames {
    /// By file what it has the rows of.
    private(set) var names: [String: String] = [:]
    private var taken: Set<String> = []

    /// Room for the suffixes is left in the 255 bytes that a file's name has.
    private static let maximumByteCount = 200

    /// A file for an entity, or the links of a relationship.
    mutating func file(for parts: [String], suffix: String) -> String {
        let escaped = parts.map { Self.escaped($0) }.joined(separator: ".")
        let start = String(escaped.prefix(Self.maximumByteCount))
        var name = start
        var number = 1
        while !taken.insert((name + suffix).lowercased()).inserted || (number == 1 && start.count < escaped.count) {
            number += 1
            name = "\(start)~\(number)"
        }
        names[name + suffix] = parts.joined(separator: ".")
        return name + suffix
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}
