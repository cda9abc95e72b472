import Foundation
import StrataSupport

/// Compiled expressions of `MATCHES` patterns that are not constants of their predicate. Thread-safe.
package enum RegularExpressionCache {
    /// How many expressions are kept; the cache is emptied when it would grow past that.
    static let maximumCount = 128

    private struct Key: Hashable {
        var pattern: String
        var options: UInt
    }

    // Unchecked: compiled expressions are immutable and documented as safe to use from several threads.
    private struct Entry: @unchecked Sendable {
        var expression: NSRegularExpression?
    }

    private static let entries = AdaptiveMutex<[Key: Entry]>([:])

    /// The compiled pattern, `nil` for a faulty one.
    package static func expression(
        _ pattern: String, _ options: NSComparisonPredicate.Options
    ) -> NSRegularExpression? {
        let key = Key(pattern: pattern, options: options.rawValue)
        if let entry = entries.withLock({ $0[key] }) { return entry.expression }
        let entry = Entry(expression: StringMatching.regularExpression(pattern, options))
        entries.withLock { entries in
            if entries.count >= maximumCount { entries.removeAll(keepingCapacity: true) }
            entries[key] = entry
        }
        return entry.expression
    }
}
