import StrataIO

/// Wakes those who follow the history of a coordinator's stores.
final class HistoryWaiters: Sendable {
    private struct State {
        var generation: UInt64 = 0
        var nextID: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = AdaptiveMutex(State())

    /// Grows with every transaction.
    var generation: UInt64 { state.withLock { $0.generation } }

    func signal() {
        let woken = state.withLock { state in
            state.generation += 1
            if state.waiting.isEmpty { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in woken { continuation.resume() }
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
                    state.waiting[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
