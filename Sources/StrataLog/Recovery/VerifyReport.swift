/// What ``LogStore/verify()`` found.
public struct VerifyReport: Sendable {
    public internal(set) var segments = 0
    public internal(set) var records = 0
    public internal(set) var transactions = 0
    public internal(set) var blocks = 0
    public internal(set) var rows = 0
    public internal(set) var byteCount = 0
    /// Empty when every byte that matters is what was written, and the index is the one that the log gives.
    public internal(set) var problems: [StoreError] = []
}
