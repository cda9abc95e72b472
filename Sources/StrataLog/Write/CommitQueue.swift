internal import Dispatch
internal import StrataIO

/// One commit on its way through the queue.
final class CommitRequest: @unchecked Sendable {
    // Unchecked: `result` is set by the leader before it signals the semaphore that the owner waits on; `prepared` is
    // used by the leader only while the owner waits.
    let prepared: PreparedTransaction
    var result: Result<CommitReceipt, StoreError>?
    fileprivate let semaphore = DispatchSemaphore(value: 0)
    fileprivate var mustLead = false

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

    /// Returns when the request has its result. `process` gets a group in the order of arrival and gives each its
    /// result.
    func submit(_ request: CommitRequest, process: ([CommitRequest]) -> Void) {
        let leads = state.withLock { state in
            state.waiting.append(request)
            defer { state.isLed = true }
            return !state.isLed
        }
        if !leads {
            request.semaphore.wait()
            guard request.mustLead else { return }
        }
        let group = state.withLock { Self.takeGroup(&$0) }
        process(group)
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.isLed = false }
            return state.waiting.first
        }
        for follower in group where follower !== request { follower.semaphore.signal() }
        if let next {
            next.mustLead = true
            next.semaphore.signal()
        }
    }

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
