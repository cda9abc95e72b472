/// Keeps others' commits waiting while somebody tries again whose transaction has been refused again and again.
///
/// A transaction that takes long to fill is overtaken for ever by those that are filled sooner, if each of them changes
/// what it goes by.
///
/// Nobody waits for longer than the holder says: what the holder does before it commits may need another commit. Those
/// of the thread that took the hold do not wait at all.
public final class CommitHold: Sendable {
    private let gate: CommitGate
    let token: UInt64

    init(_ gate: CommitGate, _ token: UInt64) {
        (self.gate, self.token) = (gate, token)
    }

    deinit { release() }

    /// Changes how long each of the others waits at most that come from now on.
    public func setPatience(_ patience: Duration) { gate.setPatience(patience, of: token) }

    /// Lets the others go on. Called once more it does nothing.
    public func release() { gate.release(token) }
}

extension LogStore {
    /// Has the commits that begin from now on wait, except those of transactions that are given the hold, until it is
    /// released. What waits in the queue already is committed.
    ///
    /// - Parameter patience: how long each of them waits at most.
    /// - Returns: nil if somebody else holds commits up.
    public func holdCommits(patience: Duration) -> CommitHold? { gate.hold(patience) }
}
