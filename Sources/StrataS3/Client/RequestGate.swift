import Synchronization

/// Lets a number of requests go at once; others wait, in the order in which they came.
final class RequestGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Numbers in the order of arrival; those that were cancelled are not in `waiting` any more.
        var order: [UInt64] = []
        var first = 0
        var nextNumber: UInt64 = 0
    }

    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(free: max(1, limit)))
    }

    /// Waits for its turn. Returns false if the task was cancelled before; then nothing is to be left.
    func enter() async -> Bool {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let entered = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting[number] = continuation
                    state.order.append(number)
                    return nil
                }
                if let entered { continuation.resume(returning: entered) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            while state.first < state.order.count {
                let number = state.order[state.first]
                state.first += 1
                if state.first > 64, state.first * 2 > state.order.count {
                    state.order.removeFirst(state.first)
                    state.first = 0
                }
                if let continuation = state.waiting.removeValue(forKey: number) { return continuation }
            }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
