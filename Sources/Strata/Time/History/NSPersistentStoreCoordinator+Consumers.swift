import Foundation
import StrataLog

extension NSPersistentStoreCoordinator {
    /// Remembers in the stores that a consumer of the history has dealt with everything up to a token, and need not see
    /// it again. Its name counts when a store's ``HistoryRetention`` names it. Going back is not remembered.
    ///
    /// - Parameters:
    ///   - token: of the last transaction that was dealt with; stores that it does not name are left as they are.
    ///   - consumer: a name of the consumer's own choice, the same after each restart.
    /// A name that none of the stores waits for, though they wait for others, is warned of once.
    ///
    /// - Throws: `CocoaError` 134070 when the token names no store of the coordinator; when a store is read-only or
    ///   cannot
    ///   be written. Durable when it returns.
    public final func acknowledgeHistory(upTo token: NSPersistentHistoryToken, by consumer: String) throws {
        let handles = persistentStores.compactMap(\.handle)
        let named = handles.filter { token.sequences[$0.identity.uuidString] != nil }
        guard !named.isEmpty else {
            throw DescribedError(
                .persistentStoreOperation,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "History cannot be acknowledged: the token is of no store of this coordinator."
                ])
        }
        let awaited = Set(named.compactMap { $0.retention?.policy.consumers }.joined())
        if !awaited.isEmpty, !awaited.contains(consumer) {
            Warnings.once(
                "\(consumer) acknowledges history, and no store waits for it: its HistoryRetention names "
                    + awaited.sorted().joined(separator: ", "))
        }
        try changeHistory { handle, state in
            guard let sequence = token.sequences[handle.identity.uuidString] else { return false }
            let known = state.consumers[consumer] ?? 0
            let new = min(sequence, handle.log.snapshot.sequence)
            guard state.consumers[consumer] == nil || new > known else { return false }
            state.consumers[consumer] = max(new, known)
            return true
        }
    }

    /// Forgets what a consumer has acknowledged.
    ///
    /// - Throws: `CocoaError` when a store is read-only or cannot be written. Durable when it returns.
    public final func removeHistoryConsumer(_ consumer: String) throws {
        try changeHistory { _, state in state.consumers.removeValue(forKey: consumer) != nil }
    }

    /// How far a consumer has acknowledged the history of the stores; nil for one that has acknowledged nothing. The
    /// token from which it goes on after a restart.
    public final func acknowledgedHistory(of consumer: String) -> NSPersistentHistoryToken? {
        var sequences: [String: UInt64] = [:]
        for handle in persistentStores.compactMap(\.handle) where handle.custom == nil {
            sequences[handle.identity.uuidString] = HistoryState(handle.log).consumers[consumer]
        }
        return sequences.isEmpty ? nil : NSPersistentHistoryToken(sequences)
    }

    private func changeHistory(_ change: (StoreHandle, inout HistoryState) -> Bool) throws {
        for handle in persistentStores.compactMap(\.handle) where handle.custom == nil {
            if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
            do {
                try HistoryState.update(handle.log) { state in change(handle, &state) }
                try handle.retention?.apply(handle)
            } catch let error as StoreError {
                throw StoreFailure.cocoaError(error, saving: handle)
            }
        }
    }
}
