import Dispatch
import HTTPTypes
import Synchronization

/// What takes as long to read as the log since then is long, points of the past for one: what was looked at last, and
/// what is being read.
///
/// Who asks waits for a while, on no thread; reading goes on without him, so that asking again helps.
final class PastPoints<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let points = Mutex<[(key: Key, opening: Opening)]>([])
    private let kept: Int
    private let running: Int

    /// - Parameters:
    ///   - kept: how many values stay; with 0 one is shared only by those who wait for it.
    ///   - running: how many may be read at a time.
    init(kept: Int, running: Int) {
        self.kept = kept
        self.running = running
    }

    /// The value of a key, which is read unless it is known.
    ///
    /// - Throws: ``InspectError`` when it was not read in time, too many others are being read, or too many wait; what
    ///   the body throws.
    func value(
        _ key: Key, in time: Duration, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        var dropped: Opening?
        let (opening, isNew) = try points.withLock { points in
            if let index = points.firstIndex(where: { $0.key == key }) {
                let known = points.remove(at: index)
                points.append(known)
                return (known.opening, false)
            }
            guard points.count(where: { !$0.opening.isOver }) < running else {
                throw InspectError(.serviceUnavailable, "other points of the past are being read: try again")
            }
            let opening = Opening()
            points.append((key, opening))
            if points.count > kept, let oldest = points.firstIndex(where: { $0.opening.isOver }) {
                dropped = points.remove(at: oldest).opening
            }
            return (opening, true)
        }
        // Freeing a value closes files: neither while others wait for the lock, nor on a thread of tasks.
        if let dropped { DispatchQueue.global().async { withExtendedLifetime(dropped) {} } }
        dropped = nil
        if isNew {
            DispatchQueue.global().async { [self] in finish(opening, Result { try body() }) }
        }
        guard let result = try await opening.result(in: time) else {
            throw InspectError(
                .gatewayTimeout, "the store is still being read back to that point: try again in a while")
        }
        return try result.get()
    }

    private func finish(_ opening: Opening, _ result: Result<Value, any Error>) {
        // What went wrong may go well next time.
        let isKept = if case .success = result { kept > 0 } else { false }
        if !isKept { points.withLock { $0.removeAll { $0.opening === opening } } }
        opening.finish(result)
    }

    /// A value that is being read, or has been.
    private final class Opening: Sendable {
        private struct State {
            var result: Result<Value, any Error>?
            var waiting: [Int: CheckedContinuation<Result<Value, any Error>?, any Error>] = [:]
            var lastNumber = 0
        }

        private let state = Mutex(State())

        var isOver: Bool { state.withLock { $0.result != nil } }

        func finish(_ result: Result<Value, any Error>) {
            let waiting = state.withLock { state in
                state.result = result
                defer { state.waiting = [:] }
                return state.waiting.values
            }
            for continuation in waiting { continuation.resume(returning: result) }
        }

        /// - Returns: nil when it takes longer.
        /// - Throws: ``InspectError`` when too many wait already.
        func result(in time: Duration) async throws -> Result<Value, any Error>? {
            try await withCheckedThrowingContinuation { continuation in
                let known: Result<Value, any Error>?? = state.withLock { state in
                    if let result = state.result { return .some(result) }
                    guard state.waiting.count < Limits.waitingReads else { return .some(nil) }
                    state.lastNumber += 1
                    let number = state.lastNumber
                    state.waiting[number] = continuation
                    DispatchQueue.global().asyncAfter(deadline: .now() + time / .seconds(1)) { [weak self] in
                        self?.giveUp(number)
                    }
                    return nil
                }
                guard let known else { return }
                if let known {
                    continuation.resume(returning: known)
                } else {
                    continuation.resume(throwing: InspectError(.serviceUnavailable, "the server is busy: try again"))
                }
            }
        }

        private func giveUp(_ number: Int) {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: nil)
        }
    }
}
