/// How a number of bytes is printed for people.
package enum ByteSize {
    private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

    /// With a unit of powers of a thousand and two digits or more: `0 B`, `812 B`, `7.1 MB`, `64 MB`.
    package static func text(_ count: Int) -> String {
        guard count.magnitude >= 1_000 else { return "\(count) B" }
        var value = Double(count)
        var unit = -1
        // What would be rounded up to a thousand belongs to the next unit.
        while abs(value) >= 999.5, unit < units.count - 1 {
            value /= 1_000
            unit += 1
        }
        return "\(digits(value)) \(units[max(unit, 0)])"
    }

    private static func digits(_ value: Double) -> String {
        guard abs(value) < 9.95 else { return "\(Int(value.rounded()))" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
