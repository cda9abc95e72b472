public import Foundation

/// The option of a store that says how much history it keeps: a ``HistoryRetention``, or a dictionary with its
/// properties' names for keys. Without it, all of it.
public let StrataHistoryRetentionOption: String = "StrataHistoryRetentionOption"

/// How much of its history a store keeps.
///
/// The limits count together: what goes beyond any of them goes. Transactions that a named consumer has not
/// acknowledged (``NSPersistentStoreCoordinator/acknowledgeHistory(upTo:by:)``) stay whatever the limits say. With
/// consumers and no limits, everything goes that all of them have acknowledged. Without either, nothing goes.
///
/// The policy is applied when the store is opened for writing, when history is acknowledged, and now and then while it
/// is written. What has gone is gone for all readers at once: tokens from before give
/// `NSPersistentHistoryTokenExpiredError`.
public struct HistoryRetention: Sendable, Hashable, Codable {
    /// Transactions older than this may go, in seconds.
    public var maximumAge: TimeInterval?
    /// At most so many transactions are kept.
    public var maximumTransactions: Int?
    /// About so many bytes of log are kept; a store counts them in whole segments.
    public var maximumBytes: Int?
    /// The names of those who consume the history. One that has acknowledged nothing yet keeps everything.
    public var consumers: Set<String>

    /// A policy of these limits; without any, a store keeps its whole history.
    ///
    /// A store that is opened with a negative limit fails to open, with `CocoaError` 134080.
    ///
    /// - Parameters:
    ///   - maximumAge: in seconds; nil for any age.
    ///   - maximumTransactions: a number of transactions; nil for any number.
    ///   - maximumBytes: bytes of log; nil for any size.
    ///   - consumers: the names of those who acknowledge what they have read.
    public init(
        maximumAge: TimeInterval? = nil, maximumTransactions: Int? = nil, maximumBytes: Int? = nil,
        consumers: Set<String> = []
    ) {
        self.maximumAge = maximumAge
        self.maximumTransactions = maximumTransactions
        self.maximumBytes = maximumBytes
        self.consumers = consumers
    }

    /// Reads the store option.
    ///
    /// - Throws: `CocoaError` 134080 for anything but a policy with sensible limits.
    package static func option(_ options: [AnyHashable: Any]?) throws -> HistoryRetention? {
        guard let value = options?[StrataHistoryRetentionOption] else { return nil }
        let policy = value as? HistoryRetention ?? (value as? [String: Any]).flatMap { HistoryRetention($0) }
        guard let policy, policy.isSensible else {
            throw DescribedError(
                .persistentStoreOpen,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(StrataHistoryRetentionOption) is a HistoryRetention whose limits are not negative, not \(value)."
                ])
        }
        return policy
    }

    /// Nil for a dictionary with other keys or values than those of ``dictionary``.
    private init?(_ dictionary: [String: Any]) {
        let age = dictionary["maximumAge"] as? NSNumber
        let transactions = dictionary["maximumTransactions"] as? NSNumber
        let bytes = dictionary["maximumBytes"] as? NSNumber
        let names = dictionary["consumers"] as? [String]
        let understood = [age as Any?, transactions, bytes, names].count { $0 != nil }
        guard understood == dictionary.count else { return nil }
        self.init(
            maximumAge: age?.doubleValue, maximumTransactions: transactions?.intValue, maximumBytes: bytes?.intValue,
            consumers: Set(names ?? []))
    }

    /// The policy as Foundation's objects.
    package var dictionary: [String: Any] {
        var values: [String: Any] = [:]
        values["maximumAge"] = maximumAge.map { NSNumber(value: $0) }
        values["maximumTransactions"] = maximumTransactions.map { NSNumber(value: $0) }
        values["maximumBytes"] = maximumBytes.map { NSNumber(value: $0) }
        if !consumers.isEmpty { values["consumers"] = consumers.sorted() }
        return values
    }

    private var isSensible: Bool {
        (maximumAge.map { $0 >= 0 } ?? true) && (maximumTransactions ?? 0) >= 0 && (maximumBytes ?? 0) >= 0
    }
}
