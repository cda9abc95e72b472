import Foundation

extension ModelReader {
    mutating func readUserInfo() throws -> [AnyHashable: Any]? {
        try readBool() ? try readDictionary(depth: 0) : nil
    }

    mutating func readValue(depth: Int = 0) throws -> Any {
        try beginPart()
        guard depth < ModelEncoding.maximumValueDepth else { throw damaged("a value is nested too deep") }
        guard let tag = ModelEncoding.ValueTag(rawValue: try readByte()) else { throw damaged("an unknown value") }
        switch tag {
        case .null: return NSNull()
        case .no: return NSNumber(value: false)
        case .yes: return NSNumber(value: true)
        case .integer: return NSNumber(value: try readSigned())
        case .unsigned: return NSNumber(value: try readUInt64())
        case .float: return NSNumber(value: Float(bitPattern: UInt32(truncatingIfNeeded: try readUInt64())))
        case .double: return NSNumber(value: Double(bitPattern: try readFixed64()))
        case .decimal: return try readDecimal()
        case .string: return try readString()
        case .data: return Data(try readBytes())
        case .date: return Date(timeIntervalSinceReferenceDate: Double(bitPattern: try readFixed64()))
        case .uuid:
            let uuid = try readFixed(16)
            return uuid.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        case .url:
            guard let url = URL(string: try readString()) else { throw damaged("a URL is none") }
            return url
        case .array:
            var array: [Any] = []
            for _ in 0..<(try readCount()) { array.append(try readValue(depth: depth + 1)) }
            return array
        case .dictionary: return try readDictionary(depth: depth + 1)
        case .set:
            var set = Set<AnyHashable>()
            for _ in 0..<(try readCount()) { set.insert(try readKey()) }
            return set
        case .identity: throw damaged("an unknown value")
        }
    }

    private mutating func readFixed64() throws -> UInt64 {
        try readFixed(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func readDecimal() throws -> Any {
        let text = try readString()
        if text == "NaN" { return NSDecimalNumber.notANumber }
        let locale = Locale(identifier: "en_US_POSIX")
        guard text.utf8.count <= 256, let value = Decimal(string: text, locale: locale) else {
            throw damaged("a decimal number is none")
        }
        return NSDecimalNumber(decimal: value)
    }

    private mutating func readDictionary(depth: Int) throws -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [:]
        for _ in 0..<(try readCount()) {
            let key = try readKey()
            dictionary[key] = try readValue(depth: depth)
        }
        return dictionary
    }

    /// A key or an element of a set: a simple Swift value. Foundation's numbers would do as well, but among them there
    /// are equal ones with different hashes, at which dictionaries and sets stop the program.
    mutating func readKey() throws -> AnyHashable {
        guard let tag = ModelEncoding.ValueTag(rawValue: try peekByte()), tag.canBeKey else {
            throw damaged("a key is of the wrong type")
        }
        let value = try readValue()
        switch (tag, value) {
        case (.no, _): return false
        case (.yes, _): return true
        case let (.integer, number as NSNumber): return number.int64Value
        case let (.unsigned, number as NSNumber): return number.uint64Value
        case let (.float, number as NSNumber): return number.floatValue
        case let (.double, number as NSNumber): return number.doubleValue
        case let (_, key as AnyHashable): return key
        default: throw damaged("a key has no hash")
        }
    }
}
