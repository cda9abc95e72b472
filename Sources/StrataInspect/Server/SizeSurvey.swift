import Foundation
import Strata
import StrataLog
import Synchronization

/// What each entity takes in the log, found out in the background: it reads the whole store.
final class SizeSurvey: Sendable {
    struct Sizes: Sendable {
        /// The newest transaction that they count.
        let sequence: UInt64
        /// Bytes of objects by entity, without subentities.
        let byteCounts: [String: Int]
    }

    private struct State {
        var sizes: Sizes?
        var failure: String?
        var isRunning = false
        var finished: ContinuousClock.Instant?
    }

    /// So long what was found is good enough, also when there is newer.
    private static let patience = Duration.seconds(60)

    private let log: LogStore
    private let names: [UInt16: String]
    private let state = Mutex(State())

    init(_ log: LogStore, _ layouts: RowLayouts) {
        self.log = log
        names = Dictionary(layouts.rows.map { ($0.number, $0.name) }) { first, _ in first }
    }

    /// The sizes as far as they are known, and why they are not.
    func current() -> (sizes: Sizes?, failure: String?, isRunning: Bool) {
        let newest = log.snapshot.sequence
        let begins = state.withLock { state in
            if state.isRunning || state.sizes?.sequence == newest { return false }
            if let finished = state.finished, .now - finished < Self.patience { return false }
            state.isRunning = true
            return true
        }
        if begins {
            Thread.detachNewThread { [self] in survey() }
        }
        return state.withLock { ($0.sizes, $0.failure, $0.isRunning) }
    }

    private func survey() {
        let sequence = log.snapshot.sequence
        let result = Result { try log.entityStatistics() }
        state.withLock { state in
            state.isRunning = false
            state.finished = .now
            switch result {
            case .success(let statistics):
                var byteCounts: [String: Int] = [:]
                for part in statistics {
                    if let name = names[part.entity] { byteCounts[name, default: 0] += part.storedByteCount }
                }
                state.sizes = Sizes(sequence: sequence, byteCounts: byteCounts)
                state.failure = nil
            case .failure(let error): state.failure = "\(error)"
            }
        }
    }
}
