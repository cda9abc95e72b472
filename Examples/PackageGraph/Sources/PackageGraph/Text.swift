import Foundation

/// Numbers as people read them, the same in every locale.
enum Text {
    /// `1234567` as `1,234,567`.
    static func count(_ value: some BinaryInteger) -> String {
        var digits = String(value.magnitude)[...]
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = digits.dropLast(3)
        }
        groups.insert(digits, at: 0)
        return (value < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    /// Bytes in the decimal unit that fits.
    static func bytes(_ value: some BinaryInteger) -> String {
        let value = Double(value)
        if value < 1e3 { return "\(Int(value)) B" }
        if value < 1e6 { return String(format: "%.1f kB", value / 1e3) }
        if value < 1e9 { return String(format: "%.1f MB", value / 1e6) }
        return String(format: "%.2f GB", value / 1e9)
    }

    /// A time in milliseconds or seconds.
    static func duration(_ value: Duration) -> String {
        let seconds = seconds(value)
        return seconds < 1 ? String(format: "%.1f ms", seconds * 1e3) : String(format: "%.2f s", seconds)
    }

    /// How many objects a second.
    static func rate(_ objects: Int, _ duration: Duration) -> String {
        let seconds = seconds(duration)
        return seconds > 0 ? "\(count(Int(Double(objects) / seconds))) objects/s" : "-"
    }

    /// A text and spaces up to a width, or spaces and the text.
    static func padded(_ text: String, to width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return right ? space + text : text + space
    }

    private static func seconds(_ value: Duration) -> Double {
        Double(value.components.seconds) + Double(value.components.attoseconds) * 1e-18
    }
}
