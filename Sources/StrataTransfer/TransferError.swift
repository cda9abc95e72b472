/// Why something could not be imported or exported: one sentence, with file, table, entity or line where it is known.
public struct TransferError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The sentence.
    public let description: String

    /// Creates an error that says this.
    public init(_ description: String) {
        self.description = description
    }
}
