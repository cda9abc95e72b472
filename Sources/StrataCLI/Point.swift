import ArgumentParser
import Foundation
import Strata
import StrataTransfer

/// A point of the past, as it is written on the command line: a transaction's number or a time.
enum Point: ExpressibleByArgument {
    case transaction(Int64)
    case time(Date)

    init?(argument: String) {
        if let number = Int64(argument) {
            guard number >= 0 else { return nil }
            self = .transaction(number)
        } else if let date = Self.date(argument) {
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
    static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    func generation(_ coordinator: NSPersistentStoreCoordinator) throws -> NSQueryGenerationToken {
        switch self {
        case .transaction(let number): try coordinator.queryGeneration(atTransaction: number)
        case .time(let date): try coordinator.queryGeneration(at: date)
        }
    }
}
