/// What ``LogSalvage`` found and saved.
public struct SalvageReport: Sendable {
    /// Files of the damaged log that were read.
    public internal(set) var segments = 0
    /// Transactions whose change tables could be read.
    public internal(set) var transactions = 0
    /// Objects in the new store.
    public internal(set) var rows = 0
    /// Bytes of the log in which no sound record was found, reserved space left out.
    public internal(set) var skippedByteCount = 0
    /// Objects whose only version was in a damaged block: they are not in the new store.
    public internal(set) var lostRows = 0
    /// Objects whose newest version was in a damaged block: the new store has an older one.
    public internal(set) var staleRows = 0
    /// References to objects that could not be saved: they are null in the new store.
    public internal(set) var clearedReferences = 0
    /// Values stored out of line that could not be read: they are null in the new store.
    public internal(set) var lostValues = 0
    /// What is wrong with the log, the first thousand findings.
    public internal(set) var problems: [StoreError] = []

    /// Whether everything was there.
    public var isComplete: Bool {
        problems.isEmpty && lostRows == 0 && staleRows == 0 && lostValues == 0 && clearedReferences == 0
    }

    mutating func record(_ problem: StoreError) {
        if problems.count < 1_000 { problems.append(problem) }
    }
}
