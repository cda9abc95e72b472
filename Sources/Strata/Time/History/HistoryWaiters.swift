import StrataSupport

/// Wakes those who follow the history of a coordinator's stores.
final class HistoryWaiters: Sendable {
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var generation: UInt64 = 0
        var nextID: UInt64 = 0
        var waiting: [Waiter] = []
    }

    private let state = AdaptiveMutex(State())

    /// Grows with every transaction.
    var generation: UInt64 { state.withLock { $0.generation } }

    func signal() {
        let woken = state.withLock { state in
            state.generation += 1
            if state.waiting.isEmpty { return [Waiter]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Returns once the generation is another one than that given, or the task has been cancelled.
    func wait(after generation: UInt64) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.generation == generation, !Task.isCancelled else { return false }
                    state.waiting.append(Waiter(id: id, continuation: continuation))
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let cancelled = state.withLock { state -> Waiter? in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting.remove(at: index)
            }
            cancelled?.continuation.resume()
        }
    }
}
