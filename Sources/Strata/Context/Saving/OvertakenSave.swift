import StrataLog

/// Has other commits wait for a save that they overtake again and again.
///
/// A save that deletes what others go on referring to finds more referrers each time, and takes longer each time.
final class OvertakenSave {
    /// After so many attempts the others wait.
    private static let maximumAttempts = 16
    /// For how long they do at least, and for how many times as long as an attempt takes: the program is called in its
    /// course, and may wait for one of them.
    private static let minimumPatience = Duration.seconds(1)
    private static let patienceInAttempts = 8

    private let handle: StoreHandle
    /// When the attempt began; of the first one, when it had failed.
    private var began = ContinuousClock.now
    private(set) var hold: CommitHold?

    init(_ handle: StoreHandle) {
        self.handle = handle
    }

    /// A commit was refused.
    func attemptFailed(_ attempts: Int) {
        let now = ContinuousClock.now
        defer { began = now }
        // Saves to a custom store wait for each other in its lock, which one that waited here would keep.
        guard attempts >= Self.maximumAttempts, handle.custom == nil else { return }
        let patience = max(Self.minimumPatience, (now - began) * Self.patienceInAttempts)
        if let hold { hold.setPatience(patience) } else { hold = handle.log.holdCommits(patience: patience) }
    }

    /// The save is over.
    func end() { hold?.release() }
}
