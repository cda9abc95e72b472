import Foundation

/// Archived values as a document keeps them.
enum ArchivedConstants {
    private static let maximumDepth = 32

    /// Nil for null, and for an object of a class that is no value.
    static func value(_ value: ArchivedValue, depth: Int = 0) throws -> ModelDocument.Value? {
        guard depth < maximumDepth else { throw ArchiveError("a value is nested too deeply") }
        switch value {
        case .null, .list: return nil
        case .bool(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .date(let seconds): return .date(seconds)
        case .data(let data): return .data(data)
        case .string(let text): return .string(text)
        case .object(let object): return try self.value(of: object, depth)
        }
    }

    private static func value(of object: ArchivedObject, _ depth: Int) throws -> ModelDocument.Value? {
        switch object.className {
        case "NSString", "NSMutableString": return try object.string("NS.string").map { .string($0) }
        case "NSData", "NSMutableData":
            guard case .data(let data) = try object.value("NS.data") else { return nil }
            return .data(data)
        case "NSDate":
            switch try object.value("NS.time") {
            case .real(let seconds): return .date(seconds)
            case .integer(let seconds): return .date(Double(seconds))
            default: return nil
            }
        case "NSUUID":
            guard case .data(let bytes) = try object.value("NS.uuidbytes"), bytes.count == 16 else { return nil }
            let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            return .string(uuid.uuidString)
        case "NSURL":
            guard let text = try object.string("NS.relative") else { return nil }
            guard let base = try object.object("NS.base"),
                case .string(let start)? = try value(.object(base), depth: depth + 1),
                let url = URL(string: text, relativeTo: URL(string: start))
            else { return .string(text) }
            return .string(url.absoluteString)
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return try decimal(object).map { .decimal($0) }
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
            var values: [ModelDocument.Value] = []
            for element in try object.elements() {
                guard let value = try value(element, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        case "NSDictionary", "NSMutableDictionary": return .dictionary(try dictionary(object.entries(), depth))
        default: return nil
        }
    }

    /// The entries whose values are values.
    static func dictionary(
        _ entries: [(key: String, value: ArchivedValue)], _ depth: Int = 0
    ) throws -> [String: ModelDocument.Value] {
        var values: [String: ModelDocument.Value] = [:]
        for entry in entries {
            if let value = try value(entry.value, depth: depth + 1) { values[entry.key] = value }
        }
        return values
    }

    /// The mantissa is an array of 16-bit words, the least significant first.
    private static func decimal(_ object: ArchivedObject) throws -> String? {
        guard case .data(let words) = try object.value("NS.mantissa"), words.count <= 16,
            let exponent = try object.integer("NS.exponent"), (-128...127).contains(exponent),
            let length = try object.integer("NS.length"), length >= 0, length * 2 <= words.count
        else { return nil }
        let isNegative = try object.flag("NS.negative")
        if length == 0 { return isNegative ? "NaN" : "0" }
        // Words are little-endian unless the byte order says 2.
        let isBigEndian = try object.integer("NS.mantissa.bo") == 2
        var mantissa: UInt128 = 0
        let bytes = Array(words)
        for index in (0..<length).reversed() {
            let low = UInt128(bytes[2 * index + (isBigEndian ? 1 : 0)])
            let high = UInt128(bytes[2 * index + (isBigEndian ? 0 : 1)])
            mantissa = mantissa << 16 | high << 8 | low
        }
        guard let significand = Decimal(string: mantissa.description) else { return nil }
        let number = Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
        return number.description
    }
}
