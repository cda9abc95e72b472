import Foundation

/// Decimal numbers as texts.
enum DecimalText {
    /// The number, if a text is one to its end and `Decimal` has room for all of its digits.
    static func value(_ text: String) -> Decimal? {
        if text == "NaN" { return .nan }
        var rest = Substring(text)
        if let sign = rest.first, sign == "-" || sign == "+" { rest.removeFirst() }
        let mantissa = rest.prefix { $0 != "e" && $0 != "E" }
        let exponent = rest.dropFirst(mantissa.count).dropFirst()
        let parts = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let isWhole = parts.allSatisfy { part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isWhole, mantissa.contains(where: { $0 != "." }), mantissa.count == rest.count || Int(exponent) != nil
        else {
            return nil
        }
        let digits = parts.joined().drop { $0 == "0" }
        // 38 digits always fit; those behind the last that is not zero count only as places.
        guard digits.reversed().drop(while: { $0 == "0" }).count <= 38, let value = Decimal(string: text), !value.isNaN
        else { return nil }
        return value == 0 && !digits.isEmpty ? nil : value
    }
}
