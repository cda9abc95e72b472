import Foundation

/// Dates in ISO 8601, as exports and the command line have them.
package enum DateText {
    private static let style = Date.ISO8601FormatStyle()
    /// Seconds from 1970 to 2001.
    private static let referenceDays = 11_323
    /// Before this year Foundation's calendar is the Julian one.
    private static let firstGregorianYear = 1_583

    /// Seconds since 2001 of a text such as `2026-05-01T12:00:00.25+02:00`.
    ///
    /// - Returns: nil for what is not exactly of that form, and for days and times that there are not.
    package static func seconds(_ text: String) -> Double? {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T"), let hour = scanner.number(2), scanner.take(":"),
            let minute = scanner.number(2), scanner.take(":"), let second = scanner.number(2),
            hour < 24, minute < 60, second < 60
        else { return nil }
        var fraction = 0.0
        if scanner.take(".") {
            guard let value = scanner.fraction() else { return nil }
            fraction = value
        }
        guard let offset = scanner.zone(), scanner.rest.isEmpty,
            let midnight = midnight(year, month, day, text.prefix(10))
        else { return nil }
        return Double(midnight + hour * 3_600 + minute * 60 + second - offset) + fraction
    }

    /// Seconds from 2001 to the beginning of a day; nil if there is no such day.
    private static func midnight(_ year: Int, _ month: Int, _ day: Int, _ text: Substring) -> Int? {
        guard year >= firstGregorianYear else {
            // As it has been written since the first version of the format.
            let whole = "\(text)T00:00:00Z"
            guard let date = try? style.parse(whole), date.formatted(style) == whole else { return nil }
            return Int(date.timeIntervalSinceReferenceDate)
        }
        guard (1...12).contains(month), day >= 1, day <= dayCount(year, month) else { return nil }
        // Days since 1970: years begin in March, so that the leap day is their last one.
        let (shifted, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * months + 2) / 5 + day - 719_469
        return (days - referenceDays) * 86_400
    }

    private static func dayCount(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func digits(atMost count: Int) -> ArraySlice<UInt8> {
            let digits = rest.prefix(count).prefix { $0 >= 0x30 && $0 <= 0x39 }
            rest = rest.dropFirst(digits.count)
            return digits
        }

        /// A number of so many digits.
        mutating func number(_ count: Int) -> Int? {
            let digits = digits(atMost: count)
            return digits.count == count ? digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } : nil
        }

        mutating func fraction() -> Double? {
            let digits = digits(atMost: 32)
            return digits.isEmpty ? nil : Double("0." + String(decoding: digits, as: UTF8.self))
        }

        /// Seconds east of Greenwich.
        mutating func zone() -> Int? {
            if take("Z") { return 0 }
            let isWest = take("-")
            guard isWest || take("+"), let hours = number(2), hours < 24 else { return nil }
            let hasColon = take(":")
            guard let minutes = hasColon || !rest.isEmpty ? number(2) : 0, minutes < 60 else { return nil }
            return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
        }
    }
}
