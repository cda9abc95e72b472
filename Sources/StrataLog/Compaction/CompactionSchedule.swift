/// When to look at the segments again, and how full they are.
struct CompactionSchedule {
    /// Less log than this is not worth looking at.
    static let minimumByteCount = 256 << 10
    /// Compaction begins so far below the target: segments that wait longer have less left in them to move,
    static let lag = 0.02
    /// and goes so much further that it is not due again at once: looking costs time in proportion to the objects.
    static let slack = 0.03

    var isRunning = false
    /// Bytes written to the log since somebody looked.
    var newByteCount = 0
    /// How many there have to be.
    var dueByteCount = 2 << 20
    /// Of all segments, when somebody last looked, and what of it was needed.
    var usedByteCount = 0
    var neededByteCount = 0
    var completed = 0
    var failed = 0

    /// How fast the one that runs is, or the last one was.
    var pace = CompactionPace()

    /// Whether it is time to look.
    var isDue: Bool { newByteCount >= dueByteCount && !isRunning }

    /// How many nanoseconds a commit should wait, so that garbage does not come faster than it is removed.
    func delay(replaced: Int, target: Double, after nanoseconds: Double) -> Double {
        // Nobody has looked yet: what is needed is not known.
        guard isRunning, usedByteCount > 0 else { return 0 }
        let share = CompactionPace.share(used: usedByteCount + newByteCount, needed: neededByteCount, target: target)
        return pace.delay(replaced: replaced, share: share, after: nanoseconds)
    }
}
