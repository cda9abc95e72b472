/// What ``LogStore/verify(progress:)`` found.
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
    /// What is wrong with the log and the index, the first ``problemsMaximum`` findings. Empty when every byte that
    /// matters is what was written, and the index is the one that the log gives.
    public internal(set) var problems: [StoreError] = []
    /// Damaged files that the next opening does without or makes anew: manifest, checkpoints, the page that readers
    /// share.
    public internal(set) var damagedCaches: [StoreError] = []
    /// How many findings came behind those that are listed.
    public internal(set) var unlistedProblems = 0

    /// How many findings are listed.
    public static let problemsMaximum = 1_000

    /// Whether nothing is wrong, in whatever file.
    public var isSound: Bool { problems.isEmpty && damagedCaches.isEmpty }

    mutating func record(_ problem: StoreError) {
        if problems.count < Self.problemsMaximum { problems.append(problem) } else { unlistedProblems += 1 }
    }

    mutating func recordCache(_ problem: StoreError) {
        if damagedCaches.count < Self.problemsMaximum { damagedCaches.append(problem) } else { unlistedProblems += 1 }
    }
}
