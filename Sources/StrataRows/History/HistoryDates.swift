import Foundation
import StrataLog

/// Dates as the history keeps them.
package enum HistoryDates {
    /// When a transaction was committed.
    package static func date(_ entry: HistoryTransaction) -> Date {
        Date(timeIntervalSince1970: Double(entry.timestampNanoseconds) / 1e9)
    }

    /// A date as the engine is asked for it: nanoseconds since 1970, within what an integer holds.
    package static func nanoseconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        guard seconds.isFinite, abs(seconds) < 9e9 else { return seconds > 0 ? .max : .min }
        // A date is a double, which times of today are a few hundred nanoseconds short of or past: what is called by
        // its own date is meant.
        return Int64((seconds * 1e9).rounded(.up)) + 500
    }
}
