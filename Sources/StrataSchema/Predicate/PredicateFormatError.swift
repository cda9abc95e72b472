import Foundation

/// Why a predicate or expression string cannot be read.
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The longest string that is read, in bytes of UTF-8.
    public static let maximumLengthBytes = 1 << 20
    /// The deepest tree that is built of a string: nested parentheses, functions, subqueries and operators, and the
    /// steps of key paths.
    public static let maximumDepth = 128
    /// The deepest tree that a program can build of predicates and expressions. Requests refuse deeper ones with error
    /// 134070; evaluated by themselves, they hold for nothing, and a warning is written.
    public static let maximumDepthOfObjects = 1_000

    /// The string.
    public let format: String
    /// Where reading stopped: the number of Unicode scalars before it.
    public let position: Int
    /// What is wrong, as a sentence without a full stop.
    public let reason: String

    package init(format: String, position: Int, reason: String) {
        self.format = format
        self.position = position
        self.reason = reason
    }

    /// The reason, the position and the text around it.
    public var description: String {
        let scalars = format.unicodeScalars
        let near = scalars.dropFirst(max(0, position - 20)).prefix(40)
        return "Unable to parse the predicate format: \(reason) (at position \(position), near \"\(String(near))\")"
    }
}
