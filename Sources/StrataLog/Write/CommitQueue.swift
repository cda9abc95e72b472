internal import Dispatch
internal import StrataSupport

/// One commit on its way through the queue.
final class CommitRequest: @unchecked Sendable {
    // Unchecked: `result` is set by the leader, or by who takes the request out of the queue, before it signals the
    // semaphore that the owner waits on; `prepared` is used by the leader only while the owner waits; `semaphore` and
    // `mustLead` are set under the queue's lock.
    let prepared: PreparedTransaction
    @exclusivity(unchecked) var result: Result<CommitReceipt, StoreError>?
    /// Of who waits, from before others see the request; nil of who leads at once.
    @exclusivity(unchecked) fileprivate var semaphore: DispatchSemaphore?
    @exclusivity(unchecked) fileprivate var mustLead = false
    /// For how long it waited for its turn, or for who wrote it along; measured when somebody wants to know. Set by the
    /// owner.
    @exclusivity(unchecked) fileprivate(set) var waited = Duration.zero

    init(_ prepared: PreparedTransaction) {
        self.prepared = prepared
    }
}

/// Group commit: whoever finds nobody at work leads, and takes along everyone who has come in the meantime.
///
/// A follower waits on a semaphore of its own and is woken once, so that 32 writers do not wake each other in a herd.
/// No delay is added to gather a group: while a leader waits for the disk, the next group forms by itself.
final class CommitQueue: Sendable {
    /// A group is not made longer than this many bytes, so that no commit waits for others without limit.
    private static let groupMaximumByteCount = 32 << 20

    private struct State {
        var waiting: [CommitRequest] = []
        var isLed = false
    }

    private let state = AdaptiveMutex(State())
    /// What its events are about.
    private let eventStores: [EventStore]

    init(_ eventStores: [EventStore]) { self.eventStores = eventStores }

    /// How long a follower waits that has to look by itself whether its commit is still wanted.
    private static let pollMilliseconds = 5

    /// Returns when the request has its result. `process` gets a group in the order of arrival and gives each its
    /// result.
    func submit(_ request: CommitRequest, ticket: CommitTicket?, process: ([CommitRequest]) -> Void) {
        let leads = state.withLock { state in
            // Mostly nobody is there. While nobody leads nobody waits.
            if !state.isLed {
                state.isLed = true
                return true
            }
            request.semaphore = DispatchSemaphore(value: 0)
            state.waiting.append(request)
            return false
        }
        var group = [request]
        if !leads {
            if EventHub.wants([.save, .wait]) {
                measureWait(request, ticket)
            } else {
                wait(request, ticket)
            }
            guard request.mustLead else { return }
            group = state.withLock { Self.takeGroup(&$0) }
        }
        process(group)
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.isLed = false }
            // From now on it cannot be taken back.
            state.waiting.first?.mustLead = true
            return state.waiting.first
        }
        for follower in group where follower !== request { follower.semaphore?.signal() }
        next?.semaphore?.signal()
    }

    private func measureWait(_ request: CommitRequest, _ ticket: CommitTicket?) {
        let began = ContinuousClock.now
        wait(request, ticket)
        request.waited = .now - began
        if EventHub.wants(.wait) {
            EventHub.tell(.wait(WaitEvent(reason: .commit, stores: eventStores, duration: request.waited)))
        }
    }

    /// Waits until the request has its result, or leads.
    private func wait(_ request: CommitRequest, _ ticket: CommitTicket?) {
        guard let semaphore = request.semaphore else { preconditionFailure("a commit waits that was never seen") }
        guard let ticket else { return semaphore.wait() }
        // Taken back between: then it waits for nobody.
        if !ticket.wait(as: request, in: self) { withdraw(request) }
        guard let isUnwanted = ticket.isUnwanted else { return semaphore.wait() }
        while semaphore.wait(timeout: .now() + .milliseconds(Self.pollMilliseconds)) == .timedOut {
            if isUnwanted() { withdraw(request) }
        }
    }

    /// Takes a request out of the queue, unless it leads or belongs to a group that is being committed.
    func withdraw(_ request: CommitRequest) {
        let isTaken = state.withLock { state in
            guard !request.mustLead, let index = state.waiting.firstIndex(where: { $0 === request }) else {
                return false
            }
            state.waiting.remove(at: index)
            request.result = .failure(Self.withdrawn)
            return true
        }
        if isTaken { request.semaphore?.signal() }
    }

    /// Why a commit was not made that was taken back.
    static var withdrawn: StoreError {
        StoreError(.cancelled, "the commit was taken back while it waited for others; nothing was written")
    }

    /// How many commits wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private static func takeGroup(_ state: inout State) -> [CommitRequest] {
        var byteCount = 0
        var count = 0
        while count < state.waiting.count {
            byteCount += state.waiting[count].prepared.byteCount
            if count > 0 && byteCount > groupMaximumByteCount { break }
            count += 1
        }
        defer { state.waiting.removeFirst(count) }
        return Array(state.waiting[..<count])
    }
}
