internal import StrataIO
internal import SystemPackage

/// What opening a store found and did.
public struct RecoveryReport: Sendable, Hashable {
    /// Whether the store was made by this opening.
    public internal(set) var isNew = false
    /// The checkpoint that was used; nil when the index was rebuilt from the whole log.
    public internal(set) var checkpoint: UInt32?
    /// Checkpoints that were there but damaged, with what was wrong.
    public internal(set) var damagedCheckpoints: [String] = []
    /// Records of the log behind the checkpoint, which were read and checked whole.
    public internal(set) var replayedRecords = 0
    /// How many of these are transactions.
    public internal(set) var replayedTransactions = 0
    /// Their length.
    public internal(set) var replayedByteCount = 0
    /// Bytes behind the last complete record: of commits that were never acknowledged.
    public internal(set) var tornByteCount = 0
    /// Segments that were being made when the process died.
    public internal(set) var unfinishedSegments = 0
}

/// Everything a ``LogStore`` starts from.
struct OpenedStore {
    var files: StoreFiles
    var source: BlockSource
    var lock: (any File)?
    var snapshot: Snapshot
    var storeState: StoreState
    var checkpoint: UInt32
    var checkpointEnd: LogPosition
    var manifestNumber: UInt64
    var report: RecoveryReport
    /// The newest segment, for stores that can be written.
    var segment: OpenSegment?
    var end: LogWriter.End
    /// For stores that are open for reading: where their log ends.
    var tail: LogTail?
    /// Files to be removed once readers have been told how far the log goes: before that, what retires them may lie
    /// behind what they may read.
    var leftovers: [FilePath] = []

    /// The writing end, nil for read-only stores.
    func makeWriter(_ options: LogOptions) -> LogWriter? {
        guard let segment else { return nil }
        return LogWriter(
            files: files, source: source, options: options, segment: segment, end: end, storeState: storeState)
    }
}
