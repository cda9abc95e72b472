import SystemPackage

/// Why something could not be imported or exported: one sentence, with file, table, entity or line where it is known.
public struct TransferError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The sentence.
    public let description: String
    /// Whether nobody reads the standard output any more: a command just ends then.
    package let isBrokenPipe: Bool

    /// Creates an error that says this.
    public init(_ description: String) {
        self.description = description
        isBrokenPipe = false
    }

    init(standardOutput error: Errno) {
        description = "the standard output cannot be written: \(error)"
        isBrokenPipe = error == .brokenPipe
    }
}
