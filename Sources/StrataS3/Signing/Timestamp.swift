/// A moment in seconds since 1970, and the ways in which S3's protocol writes it.
struct Timestamp: Sendable, Hashable {
    let seconds: Double

    init(seconds: Double) {
        self.seconds = seconds
    }

    /// `20150830T123600Z`.
    var basic: String {
        let second = Int(seconds.rounded(.down))
        let time = second - Self.days(of: second) * 86_400
        return day + "T" + [time / 3600, time / 60 % 60, time % 60].map { Self.padded($0, 2) }.joined() + "Z"
    }

    /// `20150830`.
    var day: String {
        let date = Self.date(ofDay: Self.days(of: Int(seconds.rounded(.down))))
        return Self.padded(date.year, 4) + Self.padded(date.month, 2) + Self.padded(date.day, 2)
    }

    /// Reads the date of an HTTP header, `Sun, 06 Nov 1994 08:49:37 GMT`, or returns nil.
    init?(header text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Self.number(parts[1]), let year = Self.number(parts[3]),
            let month = Self.months.firstIndex(of: String(parts[2])), let time = Self.time(parts[4]),
            let moment = Self.moment(year: year, month: month + 1, day: day, time: time)
        else { return nil }
        self = moment
    }

    /// Reads `2026-11-29T01:02:03.000Z`, with or without the fraction, or returns nil.
    init?(iso8601 text: String) {
        let halves = text.split(separator: "T", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[1].last == "Z" else { return nil }
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        let clock = halves[1].dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard date.count == 3, (1...2).contains(clock.count), let year = Self.number(date[0]),
            let month = Self.number(date[1]), let day = Self.number(date[2]), let time = Self.time(clock[0]),
            let moment = Self.moment(year: year, month: month, day: day, time: time)
        else { return nil }
        guard clock.count == 2 else {
            self = moment
            return
        }
        guard Self.number(clock[1]) != nil, let fraction = Double("0.\(clock[1])") else { return nil }
        self.init(seconds: moment.seconds + fraction)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    private static func time(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0]), let minute = number(parts[1]),
            let second = number(parts[2]), hour < 24, minute < 60, second < 61
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func moment(year: Int, month: Int, day: Int, time: Int) -> Timestamp? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Days since 1970 of a date in the proleptic Gregorian calendar, with years that begin in March, so that the
        // leap day is a year's last (Howard Hinnant, "chrono-compatible low-level date algorithms").
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Timestamp(seconds: Double((era * 146_097 + dayOfEra - 719_468) * 86_400 + time))
    }

    private static func days(of seconds: Int) -> Int {
        seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    }

    private static func date(ofDay days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
