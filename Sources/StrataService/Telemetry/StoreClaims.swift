import StrataSupport
import Synchronization

/// Who tells of a store where several in the process could: the first that came. Otherwise everything would be counted
/// as often as there are services.
final class StoreClaims: Sendable {
    /// What is told of stores.
    enum Purpose {
        /// Metrics, logs and spans.
        case telemetry
        /// The statuses beside stores.
        case status
    }

    static let telemetry = StoreClaims(.telemetry)
    static let status = StoreClaims(.status)

    private struct State {
        /// In the order in which they came, and so of their numbers.
        var claims: [(number: Int, stores: Set<EventStore>)] = []
        var lastNumber = 0
        /// Those that have a teller.
        var told: Set<EventStore> = []
    }

    private let purpose: Purpose
    private let state = AdaptiveMutex(State())
    /// Who came first of all; 0 for nobody.
    private let first = Atomic(0)

    init(_ purpose: Purpose) { self.purpose = purpose }

    /// Changes the claims, and writes at each store who tells of it: every event asks for that.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            var tellers: [EventStore: Int] = [:]
            for claim in state.claims {
                for store in claim.stores where tellers[store] == nil { tellers[store] = claim.number }
            }
            for store in state.told.union(tellers.keys) { setTeller(tellers[store] ?? 0, of: store) }
            state.told = Set(tellers.keys)
            first.store(state.claims.first?.number ?? 0, ordering: .relaxed)
        }
    }

    private func setTeller(_ number: Int, of store: EventStore) {
        switch purpose {
        case .telemetry: store.telemetryTeller.store(number, ordering: .relaxed)
        case .status: store.statusTeller.store(number, ordering: .relaxed)
        }
    }

    private func teller(of store: EventStore) -> Int {
        switch purpose {
        case .telemetry: store.telemetryTeller.load(ordering: .relaxed)
        case .status: store.statusTeller.load(ordering: .relaxed)
        }
    }

    /// - Parameter paths: of the stores that somebody can tell of.
    /// - Returns: who that is.
    func add(_ paths: Set<String>) -> Int {
        var number = 0
        change { state in
            state.lastNumber += 1
            number = state.lastNumber
            state.claims.append((number, Set(paths.map(EventStore.at))))
        }
        return number
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
        if stores.count == 1 { return teller(of: stores[0]) == number }
        if stores.isEmpty { return first.load(ordering: .relaxed) == number }
        return stores.lazy.map { self.teller(of: $0) }.filter { $0 != 0 }.min() == number
    }
}
