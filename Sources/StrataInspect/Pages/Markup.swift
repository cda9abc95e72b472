import StrataBrowsing

/// Text of a page. What is put into it with `\( )` is escaped, so that only what is written here as a literal is
/// markup: no value of a store can become a tag, an attribute or a script.
package struct Markup: ExpressibleByStringInterpolation, Sendable {
    package private(set) var text: String

    package init(stringLiteral value: String) { text = value }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Nothing.
    package init() { text = "" }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ text: String) { self.text += Markup.escaped(text) }

        package mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }

        package mutating func appendInterpolation(_ number: Double) { text += Markup.number(number) }

        package mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

        package mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { text += part.text } }

        package mutating func appendInterpolation(_ link: Link) { text += Markup.escaped(link.text) }
    }

    package static func += (left: inout Markup, right: Markup) { left.text += right.text }

    /// For content of elements and for attributes between double quotes. Control characters, which HTML forbids or
    /// drops, become signs that are seen.
    static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result.unicodeScalars.append(Unicode.Scalar(0x2400 + min(scalar.value, 0x21)) ?? "?")
            case _ where 0x80...0x9F ~= scalar.value || scalar.value & 0xFFFE == 0xFFFE:
                result.unicodeScalars.append("\u{FFFD}")
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// For coordinates: what is no number is zero, and a tenth of a pixel is exact enough.
    private static func number(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e9 else { return "0" }
        return "\((number * 10).rounded() / 10)"
    }
}
