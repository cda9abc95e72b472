internal import CStrataSupport
internal import Dispatch
internal import StrataSupport
internal import Synchronization

/// Where commits wait while somebody holds them up; see ``CommitHold``.
final class CommitGate: Sendable {
    private struct Holder {
        var token: UInt64
        var thread: Int32
        var patience: Duration
    }

    private struct State {
        var holder: Holder?
        var lastToken: UInt64 = 0
        var waiting: [DispatchSemaphore] = []
    }

    private let state = AdaptiveMutex(State())
    /// Whether there is a holder. Mostly there is none, and nobody looks further.
    private let isHeld = Atomic<Bool>(false)
    /// How often a commit looks whether it has been taken back while it waits.
    private static let poll = Duration.milliseconds(5)

    /// How many commits wait here.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func hold(_ patience: Duration) -> CommitHold? {
        let token: UInt64? = state.withLock { state in
            if state.holder != nil { return nil }
            state.lastToken += 1
            state.holder = Holder(token: state.lastToken, thread: strata_thread_id(), patience: patience)
            isHeld.store(true, ordering: .relaxed)
            return state.lastToken
        }
        return token.map { CommitHold(self, $0) }
    }

    func setPatience(_ patience: Duration, of token: UInt64) {
        state.withLock { state in
            if state.holder?.token == token { state.holder?.patience = patience }
        }
    }

    func release(_ token: UInt64) {
        let waiting = state.withLock { state -> [DispatchSemaphore] in
            guard state.holder?.token == token else { return [] }
            state.holder = nil
            isHeld.store(false, ordering: .relaxed)
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Returns when nobody holds commits up, or not for longer than a commit has to wait.
    ///
    /// - Throws: `.cancelled` when the commit has been taken back meanwhile.
    @inline(__always)
    func pass(_ hold: CommitHold?, _ ticket: CommitTicket?) throws(StoreError) {
        if isHeld.load(ordering: .relaxed) { try wait(hold, ticket) }
    }

    @inline(never)
    private func wait(_ hold: CommitHold?, _ ticket: CommitTicket?) throws(StoreError) {
        let semaphore = DispatchSemaphore(value: 0)
        let patience: Duration? = state.withLock { state in
            guard let holder = state.holder, holder.token != hold?.token, holder.thread != strata_thread_id() else {
                return nil
            }
            state.waiting.append(semaphore)
            return holder.patience
        }
        guard let patience else { return }
        let end = ContinuousClock.now + patience
        while true {
            let rest = end - .now
            let wait = ticket == nil ? rest : min(rest, Self.poll)
            if semaphore.wait(timeout: .now() + .nanoseconds(wait.wholeNanoseconds)) == .success { return }
            let isUnwanted = ticket.map { $0.isWithdrawn || $0.isUnwanted?() == true } ?? false
            guard isUnwanted || end <= .now else { continue }
            state.withLock { state in state.waiting.removeAll { $0 === semaphore } }
            if isUnwanted { throw CommitQueue.withdrawn }
            return
        }
    }
}

extension Duration {
    /// Cut to whole nanoseconds; none of a negative one.
    fileprivate var wholeNanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
