import StrataSupport

/// Who tells of a store where several in the process could: the first that came. Otherwise everything would be counted
/// as often as there are services.
final class StoreClaims: Sendable {
    /// For metrics, logs and spans.
    static let telemetry = StoreClaims()
    /// For the statuses beside stores.
    static let status = StoreClaims()

    private struct State {
        var claims: [(number: Int, paths: Set<String>)] = []
        var nextNumber = 0
    }

    private let state = AdaptiveMutex(State())

    /// - Parameter paths: of the stores that somebody can tell of.
    /// - Returns: who that is.
    func add(_ paths: Set<String>) -> Int {
        state.withLock { state in
            state.nextNumber += 1
            state.claims.append((state.nextNumber, paths))
            return state.nextNumber
        }
    }

    /// Changes of which stores somebody can tell.
    func set(_ paths: Set<String>, of number: Int) {
        state.withLock { state in
            if let index = state.claims.firstIndex(where: { $0.number == number }) {
                state.claims[index].paths = paths
            }
        }
    }

    func remove(_ number: Int) { state.withLock { $0.claims.removeAll { $0.number == number } } }

    /// Whether somebody tells of something.
    ///
    /// - Parameter stores: the paths of whose it is; empty for a coordinator that has none.
    func isTeller(_ number: Int, of stores: [String]) -> Bool {
        state.withLock { state in
            if stores.isEmpty { return state.claims.first?.number == number }
            return state.claims.first { claim in stores.contains { claim.paths.contains($0) } }?.number == number
        }
    }
}
