import Dispatch
import Synchronization

/// The points of the past that were looked at last, and those that are being read.
///
/// Reading a point takes as long as the log since then is long. Who asks waits for a while; reading goes on without him,
/// so that asking again helps.
final class PastPoints<Value: Sendable>: Sendable {
    private let points = Mutex<[(key: String, opening: Opening)]>([])
    private let kept: Int
    private let running: Int

    /// - Parameters:
    ///   - kept: how many points stay open.
    ///   - running: how many may be read at a time.
    init(kept: Int, running: Int) {
        self.kept = kept
        self.running = running
    }

    /// The value of a point, which is read unless it is known.
    ///
    /// - Throws: ``InspectError`` when it was not read in time, or too many others are being read; what the body throws.
    func value(_ key: String, in time: Duration, _ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let opening = try points.withLock { points in
            if let index = points.firstIndex(where: { $0.key == key }) {
                let known = points.remove(at: index)
                points.append(known)
                return known.opening
            }
            guard points.count(where: { !$0.opening.isOver }) < running else {
                throw InspectError(.serviceUnavailable, "other points of the past are being read: try again")
            }
            let opening = Opening(body)
            points.append((key, opening))
            if points.count > kept, let oldest = points.firstIndex(where: { $0.opening.isOver }) {
                points.remove(at: oldest)
            }
            return opening
        }
        guard let result = opening.result(in: time) else {
            throw InspectError(
                .gatewayTimeout, "the store is still being read back to that point: try again in a while")
        }
        // What went wrong may go well next time.
        if case .failure = result { points.withLock { $0.removeAll { $0.opening === opening } } }
        return try result.get()
    }

    /// A point that is being read, or has been.
    private final class Opening: Sendable {
        private let group = DispatchGroup()
        private let state = Mutex<Result<Value, any Error>?>(nil)

        init(_ body: @escaping @Sendable () throws -> Value) {
            DispatchQueue.global().async(group: group) { [self] in
                let result = Result { try body() }
                state.withLock { $0 = result }
            }
        }

        var isOver: Bool { state.withLock { $0 != nil } }

        /// - Returns: nil when it takes longer.
        func result(in time: Duration) -> Result<Value, any Error>? {
            _ = group.wait(timeout: .now() + time / .seconds(1))
            return state.withLock { $0 }
        }
    }
}
