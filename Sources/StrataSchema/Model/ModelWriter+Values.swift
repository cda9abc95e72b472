import Foundation

extension ModelWriter {
    mutating func write(userInfo: [AnyHashable: Any]?) throws {
        let userInfo = userInfo?.isEmpty == true ? nil : userInfo
        write(userInfo != nil)
        if let userInfo { try write(dictionary: userInfo, depth: 0) }
    }

    /// Identifiers, in the order of their bytes.
    mutating func write(values: Set<AnyHashable>) throws {
        try write(set: values)
    }

    /// A property-list value, or one of the types that attributes have.
    ///
    /// - Throws: ``ModelError`` with `notEncodable` for anything else and for values nested too deep.
    mutating func write(value: Any, depth: Int = 0) throws {
        try beginPart()
        guard depth < ModelEncoding.maximumValueDepth else {
            throw ModelError(.notEncodable, "a value is nested over \(ModelEncoding.maximumValueDepth) deep")
        }
        switch value {
        case is NSNull: write(tag: .null)
        case let value as NSDecimalNumber: write(decimal: value.decimalValue)
        case let value as NSNumber: write(number: value)
        case let value as String:
            write(tag: .string)
            write(value)
        case let value as Data:
            write(tag: .data)
            write(bytes: Array(value))
        case let value as Date:
            write(tag: .date)
            write(fixed64: value.timeIntervalSinceReferenceDate.bitPattern)
        case let value as UUID:
            write(tag: .uuid)
            withUnsafeBytes(of: value.uuid) { write(fixed: $0) }
        case let value as URL:
            write(tag: .url)
            write(value.absoluteString)
        case let value as [Any]:
            write(tag: .array)
            write(UInt64(value.count))
            for element in value { try write(value: element, depth: depth + 1) }
        case let value as [AnyHashable: Any]:
            write(tag: .dictionary)
            try write(dictionary: value, depth: depth + 1)
        case let value as Set<AnyHashable>:
            write(tag: .set)
            try write(set: value)
        default: try write(unknown: value)
        }
    }

    private mutating func write(tag: ModelEncoding.ValueTag) {
        write(byte: tag.rawValue)
    }

    private mutating func write(fixed64 value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) {
            write(byte: UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    private mutating func write(decimal value: Decimal) {
        write(tag: .decimal)
        write(value.description)
    }

    private mutating func write(number: NSNumber) {
        // A truth value has a class of its own; its type code is that of small integers.
        if type(of: number) == type(of: NSNumber(value: true)) {
            write(tag: number.boolValue ? .yes : .no)
            return
        }
        switch String(cString: number.objCType) {
        case "f":
            write(tag: .float)
            write(UInt64(number.floatValue.bitPattern))
        case "d":
            write(tag: .double)
            write(fixed64: number.doubleValue.bitPattern)
        case "Q" where number.uint64Value > UInt64(Int64.max):
            write(tag: .unsigned)
            write(number.uint64Value)
        default:
            write(tag: .integer)
            write(signed: number.int64Value)
        }
    }

    private mutating func write(dictionary: [AnyHashable: Any], depth: Int) throws {
        write(UInt64(dictionary.count))
        let entries = try dictionary.map { (order: try Self.order(of: $0.key.base), entry: $0) }
        for (_, entry) in entries.sorted(by: { $0.order.lexicographicallyPrecedes($1.order) }) {
            try write(key: entry.key.base)
            try write(value: entry.value, depth: depth)
        }
    }

    private mutating func write(set: Set<AnyHashable>) throws {
        write(UInt64(set.count))
        let elements = try set.map { (order: try Self.order(of: $0.base), element: $0.base) }
        for (_, element) in elements.sorted(by: { $0.order.lexicographicallyPrecedes($1.order) }) {
            try write(key: element)
        }
    }

    private mutating func write(key: Any) throws {
        let start = byteCount
        try write(value: key)
        guard mode == .comparing || ModelEncoding.ValueTag(rawValue: byte(at: start))?.canBeKey == true else {
            throw ModelError(.notEncodable, "a \(type(of: key)) can't be a key or an element of a set")
        }
    }

    /// The bytes of a key or element alone: what it is sorted by.
    private static func order(of value: Any) throws -> [UInt8] {
        var writer = ModelWriter(mode: .comparing)
        try writer.write(value: value)
        return writer.payload
    }

    private mutating func write(unknown value: Any) throws {
        guard mode == .comparing else {
            throw ModelError(.notEncodable, "a \(type(of: value)) is no property-list value")
        }
        write(tag: .identity)
        if type(of: value) is AnyClass {
            write("\(ObjectIdentifier(value as AnyObject))")
        } else {
            write("\(value)")
        }
    }
}
