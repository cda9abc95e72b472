import StrataSupport

/// Who tells of a store where several in the process could: the first that came. Otherwise everything would be counted
/// as often as there are services.
final class StoreClaims: Sendable {
    /// For metrics, logs and spans.
    static let telemetry = StoreClaims()
    /// For the statuses beside stores.
    static let status = StoreClaims()

    private struct State {
        /// In the order in which they came, and so of their numbers.
        var claims: [(number: Int, stores: Set<EventStore>)] = []
        var nextNumber = 0
    }

    /// Who tells of what, as every event asks.
    private final class Tellers: Sendable {
        let first: Int?
        /// By identity: to hand on an identity takes no reference. The claims keep the stores.
        let byStore: LookupTable<ObjectIdentifier, Int>

        init(_ state: State) {
            first = state.claims.first?.number
            byStore = state.claims.reduce(into: LookupTable()) { tellers, claim in
                for store in claim.stores.map({ ObjectIdentifier($0) }) where tellers[store] == nil {
                    tellers.add(claim.number, for: store)
                }
            }
        }
    }

    private let state = AdaptiveMutex(State())
    private let tellers = Published(Tellers(State()))

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { [tellers] state in
            defer { tellers.publish(Tellers(state)) }
            return body(&state)
        }
    }

    /// - Parameter paths: of the stores that somebody can tell of.
    /// - Returns: who that is.
    func add(_ paths: Set<String>) -> Int {
        change { state in
            state.nextNumber += 1
            state.claims.append((state.nextNumber, Set(paths.map(EventStore.at))))
            return state.nextNumber
        }
    }

    /// Changes of which stores somebody can tell.
    func set(_ paths: Set<String>, of number: Int) {
        change { state in
            if let index = state.claims.firstIndex(where: { $0.number == number }) {
                state.claims[index].stores = Set(paths.map(EventStore.at))
            }
        }
    }

    func remove(_ number: Int) { change { $0.claims.removeAll { $0.number == number } } }

    /// Whether somebody tells of something.
    ///
    /// - Parameter stores: whose it is; empty for a coordinator that has none.
    func isTeller(_ number: Int, of stores: [EventStore]) -> Bool {
        let tellers = tellers.value
        if stores.isEmpty { return tellers.first == number }
        if stores.count == 1 { return tellers.byStore[ObjectIdentifier(stores[0])] == number }
        return stores.compactMap { tellers.byStore[ObjectIdentifier($0)] }.min() == number
    }
}
