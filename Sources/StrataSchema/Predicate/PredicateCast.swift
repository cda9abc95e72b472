import Foundation

/// `CAST(value, "Type")`.
package enum PredicateCast {
    private static let names: Set<String> = [
        "nsnumber", "number", "integer", "int", "double", "float", "bool", "boolean", "nsdecimalnumber", "decimal",
        "nsstring", "string", "nsdate", "date", "nsuuid", "uuid", "nsurl", "url", "nsdata", "data",
    ]

    /// Whether there is a conversion into the named type.
    package static func isKnown(_ type: String) -> Bool { names.contains(type.lowercased()) }

    /// The value as the named type, `nil` when it cannot be converted or the type is not known.
    static func cast(_ value: Any?, to type: String) -> Any? {
        guard let value else { return nil }
        switch type.lowercased() {
        case "nsnumber", "number", "integer", "int", "double", "float", "bool", "boolean":
            return number(value, type: type.lowercased())
        case "nsdecimalnumber", "decimal":
            return decimal(value).map { NSDecimalNumber(decimal: $0) }
        case "nsstring", "string": return text(value)
        case "nsdate", "date":
            return Arithmetic(value).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        case "nsuuid", "uuid":
            if case .string(let text) = Operand(value) { return UUID(uuidString: text) }
            return value as? UUID
        case "nsurl", "url":
            if case .string(let text) = Operand(value) { return URL(string: text) }
            return value as? URL
        case "nsdata", "data":
            if case .string(let text) = Operand(value) { return Data(base64Encoded: text) }
            return value as? Data
        default: return nil
        }
    }

    /// The value that casting a literal gives, for notations like `CAST(0, "NSDate")` and `CAST("…", "NSUUID")`,
    /// which stand for constants that have no notation of their own.
    static func literal(_ value: Any?, _ type: String) -> Any? {
        switch (type, Operand(value)) {
        case ("NSDate", .integer), ("NSDate", .double), ("NSDecimalNumber", .string), ("NSUUID", .string),
            ("NSURL", .string), ("NSData", .string), ("NSNumber", .string):
            cast(value, to: type)
        default: nil
        }
    }

    private static func number(_ value: Any, type: String) -> Any? {
        var result: Arithmetic?
        if case .string(let text) = Operand(value) {
            let text = text.trimmingCharacters(in: .whitespaces)
            result = Int64(text).map { .integer($0) } ?? Double(text).map { .double($0) }
        } else {
            result = Arithmetic(value)
        }
        guard let result else { return nil }
        switch type {
        case "integer", "int": return result.integerValue.map { Int($0) }
        case "double", "float": return result.doubleValue
        case "bool", "boolean": return result.doubleValue != 0
        default: return result.anyValue
        }
    }

    private static func decimal(_ value: Any) -> Decimal? {
        let operand = Operand(value)
        if case .string(let text) = operand { return Decimal(string: text) }
        if case .date(let seconds) = operand { return Decimal(seconds) }
        return operand.asDecimal
    }

    private static func text(_ value: Any) -> String {
        switch Operand(value) {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
        case .decimal(let number): number.description
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        default: String(describing: value)
        }
    }
}
