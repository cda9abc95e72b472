internal import Synchronization

/// Lets somebody else take a commit back as long as it waits for its turn.
public final class CommitTicket: Sendable {
    private enum State {
        case new
        case withdrawn
        case waiting(CommitRequest, CommitQueue)
    }

    private let state = Mutex(State.new)
    /// Asked now and then while the commit waits, whether it should be taken back.
    let isUnwanted: (@Sendable () -> Bool)?

    /// A ticket for one commit.
    ///
    /// - Parameter isUnwanted: for those whom nobody tells: asked each few milliseconds, on the thread that commits.
    public init(isUnwanted: (@Sendable () -> Bool)? = nil) {
        self.isUnwanted = isUnwanted
    }

    /// Takes the commit back if its turn has not come; then ``LogStore/commit(_:ticket:)`` throws `.cancelled`, and
    /// nothing has been written. Later it does nothing. From any thread.
    public func withdraw() {
        let waiting = state.withLock { state -> (CommitRequest, CommitQueue)? in
            defer { state = .withdrawn }
            if case .waiting(let request, let queue) = state { return (request, queue) }
            return nil
        }
        if let (request, queue) = waiting { queue.withdraw(request) }
    }

    /// Whether the commit has been taken back.
    var isWithdrawn: Bool {
        state.withLock { state in
            if case .withdrawn = state { true } else { false }
        }
    }

    /// False when the commit has been taken back already.
    func wait(as request: CommitRequest, in queue: CommitQueue) -> Bool {
        state.withLock { state in
            if case .withdrawn = state { return false }
            state = .waiting(request, queue)
            return true
        }
    }

    /// The commit has ended.
    func end() { state.withLock { $0 = .withdrawn } }
}
