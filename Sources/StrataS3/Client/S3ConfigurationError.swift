/// A bucket's address, or the environment's part of it, is not usable.
public struct S3ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, and where.
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
