public import Foundation
import StrataLog

extension NSPersistentStoreCoordinator {
    /// Names the state of the stores at a time, for ``NSManagedObjectContext/setQueryGenerationFrom(_:)``: a context
    /// that is pinned to it shows everything as it was then, and cannot save.
    ///
    /// ```swift
    /// let context = container.newBackgroundContext()
    /// try context.setQueryGenerationFrom(coordinator.queryGeneration(at: .now.addingTimeInterval(-86_400)))
    /// ```
    ///
    /// The transactions before the first later one count. Where the clock was set back, what follows that one does not,
    /// whatever its time.
    ///
    /// - Throws: `CocoaError` 134070 when a store does not retain its history from there on; the store's error when it
    ///   cannot be read.
    /// - Complexity: reads the headers of about a thousand transactions, the first time those of all transactions up to
    ///   the time. Objects are read when a context reads them.
    public final func queryGeneration(at date: Date) throws -> NSQueryGenerationToken {
        let nanoseconds = HistoryDates.nanoseconds(date)
        return try pastToken { handle throws(StoreError) in try handle.log.sequence(atNanoseconds: nanoseconds) }
    }

    /// Names the state that the stores had after the transactions of a history token: what a
    /// ``NSPersistentHistoryTransaction/token`` saw. Stores that the token does not name are as they are now.
    ///
    /// - Throws: `CocoaError` 134301 when the token is of none of the stores, or a store does not retain its history
    ///   from
    ///   there on.
    /// - Complexity: O(1).
    public final func queryGeneration(at token: NSPersistentHistoryToken) throws -> NSQueryGenerationToken {
        let handles = persistentStores.compactMap(\.handle)
        guard handles.contains(where: { token.sequences[$0.identity.uuidString] != nil }) else {
            throw HistoryState.expired("None of the stores is one that \(token) is of.")
        }
        for handle in handles where handle.custom == nil {
            _ = try HistoryState(handle.log).sequence(after: token, handle)
        }
        return try pastToken { handle in token.sequences[handle.identity.uuidString] ?? handle.log.snapshot.sequence }
    }

    /// Names the state that a store had after a transaction; other stores are as they are now.
    ///
    /// - Parameters:
    ///   - number: a ``NSPersistentHistoryTransaction/transactionNumber``; 0 for the empty store before the first.
    ///   - store: nil for the only store that there is.
    /// - Throws: `CocoaError` 134070 when the store does not retain its history from there on, has no such transaction
    ///   yet, or is not one of the coordinator's.
    /// - Complexity: O(1).
    public final func queryGeneration(
        atTransaction number: Int64, of store: NSPersistentStore? = nil
    ) throws -> NSQueryGenerationToken {
        let handles = (store.map { [$0] } ?? persistentStores).compactMap(\.handle).filter { $0.custom == nil }
        guard handles.count == 1, persistentStores.contains(where: { $0.handle === handles[0] }) else {
            throw NSManagedObjectContext.generationError(
                "A transaction number needs one store of the coordinator, whose history it counts.")
        }
        let newest = handles[0].log.snapshot.sequence
        guard number >= 0, UInt64(number) <= newest else {
            throw NSManagedObjectContext.generationError(
                "There is no transaction \(number): the newest is \(newest).")
        }
        return try pastToken { handle in handle === handles[0] ? UInt64(number) : handle.log.snapshot.sequence }
    }

    private func pastToken(
        _ sequence: (StoreHandle) throws(StoreError) -> UInt64
    ) throws -> NSQueryGenerationToken {
        var sequences: [String: UInt64] = [:]
        for handle in persistentStores.compactMap(\.handle) {
            guard handle.custom == nil else {
                // What such a store once was is not in a log.
                sequences[handle.identity.uuidString] = handle.log.snapshot.sequence
                continue
            }
            do throws(StoreError) {
                let point = try sequence(handle)
                let start = HistoryState(handle.log).start
                guard point + 1 >= start else {
                    throw StoreError(.expired, "the earliest point that is retained is transaction \(start - 1)")
                }
                sequences[handle.identity.uuidString] = point
            } catch  where error.code == .expired {
                throw NSManagedObjectContext.generationError(
                    "The store \(handle.identity.uuidString) does not retain that point of the past: \(error.message).")
            } catch {
                throw StoreFailure.cocoaError(error, reading: handle)
            }
        }
        return NSQueryGenerationToken(past: sequences)
    }
}
