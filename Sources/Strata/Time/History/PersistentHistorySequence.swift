import Foundation
import StrataLog
import Synchronization

/// The history of a coordinator's stores: first what has been saved since a token, then what is saved from now on.
///
/// The way for a service to consume changes: remember the ``NSPersistentHistoryTransaction/token`` of the last
/// transaction that was dealt with, and go on from it after a restart. Nothing is missed and nothing comes twice.
/// Transactions of one store come in their order. Those who iterate are not told about each other, and nothing is
/// buffered for them: the log is the buffer. Iterating ends when the task is cancelled, and when the coordinator is
/// closed; what was not read by then is there after the last token the next time.
///
/// Follows the saves and batch requests of this process's contexts, and of read-only stores those of the process that
/// writes them.
public struct PersistentHistorySequence: AsyncSequence, Sendable {
    /// A transaction.
    public typealias Element = NSPersistentHistoryTransaction
    /// Reading the stores may fail.
    public typealias Failure = any Error

    let coordinator: NSPersistentStoreCoordinator
    let token: NSPersistentHistoryToken?

    /// An iterator that begins at the sequence's token. Each has a place of its own in the history.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(HistoryCursor(coordinator, token))
    }

    /// Belongs to one task.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let cursor: HistoryCursor
        private var buffer: ArraySlice<NSPersistentHistoryTransaction> = []

        init(_ cursor: HistoryCursor) {
            self.cursor = cursor
        }

        /// The next transaction; waits for one to be saved. Nil when the task has been cancelled, or the coordinator
        /// closed.
        ///
        /// - Throws: `CocoaError` 134301 when the history has been deleted up to here, the store's error when it cannot
        ///   be read.
        public mutating func next() async throws -> NSPersistentHistoryTransaction? {
            while true {
                if Task.isCancelled { return nil }
                if let transaction = buffer.popFirst() { return transaction }
                let waiters = cursor.coordinator.historyWaiters
                let generation = waiters.generation
                do {
                    buffer = try await cursor.read()[...]
                } catch is CancellationError {
                    return nil
                }
                guard buffer.isEmpty else { continue }
                if cursor.coordinator.isClosed.load(ordering: .acquiring) { return nil }
                await waiters.wait(after: generation)
            }
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// What is saved to the stores: from the token on, or from the beginning of the history with nil, and then live.
    public func persistentHistory(after token: NSPersistentHistoryToken?) -> PersistentHistorySequence {
        PersistentHistorySequence(coordinator: self, token: token)
    }
}

/// How far somebody has read the history of each store. Used by one task, which waits while it reads.
package final class HistoryCursor: @unchecked Sendable {
    // Unchecked: `read` hands the state to the queue and waits for it.
    let coordinator: NSPersistentStoreCoordinator
    private let token: NSPersistentHistoryToken?
    private var cursors: [String: Cursor] = [:]

    private struct Cursor {
        var sequence: UInt64
        var reader: HistoryReader?
    }

    /// Transactions read at a time from one store.
    private static let maximumCount = 64
    package init(_ coordinator: NSPersistentStoreCoordinator, _ token: NSPersistentHistoryToken?) {
        self.coordinator = coordinator
        self.token = token
    }

    /// The next transactions; none when everything has been read.
    func read() async throws -> [NSPersistentHistoryTransaction] {
        let control = RequestControl()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The disk is not read on the threads that tasks share.
                ContextPool.shared.async {
                    continuation.resume(with: Result { try self.readNow(control) })
                }
            }
        } onCancel: {
            control.cancel()
        }
    }

    /// As ``read()``, on the calling thread.
    package func readNow() throws -> [NSPersistentHistoryTransaction] { try readNow(nil) }

    private func readNow(_ control: RequestControl?) throws -> [NSPersistentHistoryTransaction] {
        var found: [NSPersistentHistoryTransaction] = []
        let handles = coordinator.persistentStores.compactMap(\.handle).filter { $0.custom == nil }
        if let token, cursors.isEmpty, !handles.isEmpty,
            !handles.contains(where: { $0.sequence(of: token) != nil })
        {
            throw HistoryState.expired("None of the stores is one that \(token) is of.")
        }
        for handle in handles {
            do {
                found += try read(handle, control)
            } catch let error as StoreError {
                if error.code == .cancelled, let control { throw control.error }
                // It was closed between the two steps.
                if error.code == .closed { continue }
                throw StoreFailure.cocoaError(error, reading: handle)
            }
        }
        if handles.count > 1 { found.sort { $0.timestamp < $1.timestamp } }
        return found
    }

    private func read(_ handle: StoreHandle, _ control: RequestControl?) throws -> [NSPersistentHistoryTransaction] {
        handle.startFollowing()
        try handle.catchUp()
        let uuid = handle.identity.uuidString
        let conversion = HistoryConversion(handle, control)
        func gap() -> any Error {
            HistoryState.expired("The history of the store \(uuid) was deleted before it was read.")
        }
        var cursor: Cursor
        if let known = cursors[uuid] {
            cursor = known
            guard cursor.sequence + 1 >= conversion.history.start else { throw gap() }
        } else {
            cursor = Cursor(sequence: try conversion.history.sequence(after: token, handle))
        }
        // The place is given back only when reading went well, so that an error does not skip anything.
        let snapshot = handle.log.snapshot
        guard snapshot.sequence > cursor.sequence else {
            cursors[uuid] = cursor
            return []
        }
        var reader: HistoryReader
        if var known = cursor.reader {
            try known.advance(to: snapshot)
            reader = known
        } else {
            reader = try handle.log.history(after: cursor.sequence)
        }
        var found: [NSPersistentHistoryTransaction] = []
        while found.count < Self.maximumCount, let entry = try reader.next() {
            try control?.checkRead()
            // A compaction may have taken the next ones away since the beginning was looked up.
            guard entry.sequence == cursor.sequence + 1 else { throw gap() }
            found.append(try conversion.transaction(entry))
            cursor.sequence = entry.sequence
        }
        cursor.reader = reader
        cursors[uuid] = cursor
        return found
    }
}
