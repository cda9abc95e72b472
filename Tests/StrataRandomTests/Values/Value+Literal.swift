extension Value {
    /// The value in a Swift program, as an object for an attribute of a type.
    func literal(_ kind: Kind) -> String {
        switch self {
        case .null: return "nil"
        case .int(let number): return "\(number)"
        case .real(let number):
            let digits =
                number.isNaN
                ? "Double.nan" : number.isInfinite ? (number < 0 ? "-Double.infinity" : "Double.infinity") : "\(number)"
            switch kind {
            case .date: return "Date(timeIntervalSinceReferenceDate: \(digits))"
            case .float: return "Float(\(digits))"
            default: return digits
            }
        case .flag(let flag): return "\(flag)"
        case .text(let text):
            switch kind {
            case .decimal: return "NSDecimalNumber(string: \"\(text)\")"
            case .uuid: return "UUID(uuidString: \"\(text)\")!"
            case .uri: return "URL(string: \"\(text)\")!"
            default: return Self.literal(text)
            }
        case .bytes(let bytes):
            if bytes.count > 16, Set(bytes).count == 1 { return "Data(repeating: \(bytes[0]), count: \(bytes.count))" }
            return "Data(\(bytes) as [UInt8])"
        case .list(let texts): return "[\(texts.map(Self.literal).joined(separator: ", "))] as NSArray"
        }
    }

    /// A text in a Swift program; what is not ASCII as scalars.
    static func literal(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        if scalars.count > 80, Set(scalars).count == 1, let first = scalars.first {
            return "String(repeating: \(literal(String(Character(first)))), count: \(scalars.count))"
        }
        let body = scalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": "\(scalar)"
            default: "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return "\"\(body.joined())\""
    }
}
