import Foundation
import Strata
import StrataTransfer

/// A point of the past, as people write it: a transaction's number or a time.
package enum Point: Sendable {
    case transaction(Int64)
    case time(Date)

    package init?(_ text: String) {
        if let number = Int64(text) {
            guard number >= 0 else { return nil }
            self = .transaction(number)
        } else if let date = Self.date(text) {
            self = .time(date)
        } else {
            return nil
        }
    }

    private static func date(_ text: String) -> Date? {
        var text = text.replacingOccurrences(of: " ", with: "T")
        if !text.contains("T") { text += "T00:00:00" }
        if text.drop(while: { $0 != "T" }).count == "T00:00".count { text += ":00" }
        let time = text.drop { $0 != "T" }
        if !time.contains(where: { $0 == "Z" || $0 == "+" || $0 == "-" }) { text += "Z" }
        return DateText.seconds(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// A time to the millisecond, in UTC.
    package static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    package func generation(_ coordinator: NSPersistentStoreCoordinator) throws -> NSQueryGenerationToken {
        switch self {
        case .transaction(let number): try coordinator.queryGeneration(atTransaction: number)
        case .time(let date): try coordinator.queryGeneration(at: date)
        }
    }
}
