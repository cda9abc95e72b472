/// What ``LogStore/verify()`` found.
public struct VerifyReport: Sendable {
    /// Files of the log that were read.
    public internal(set) var segments = 0
    /// Records of all kinds that were sound.
    public internal(set) var records = 0
    /// How many of these are transactions.
    public internal(set) var transactions = 0
    /// Blocks of rows in them.
    public internal(set) var blocks = 0
    /// Rows in these, also those that were replaced or deleted later.
    public internal(set) var rows = 0
    /// Bytes of the log that were read.
    public internal(set) var byteCount = 0
    /// Empty when every byte that matters is what was written, and the index is the one that the log gives.
    public internal(set) var problems: [StoreError] = []
}
