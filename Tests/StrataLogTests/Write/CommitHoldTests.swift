import Foundation
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Commits that wait for one that has been refused again and again.
@Suite struct CommitHoldTests {
    private static func open() throws -> LogStore {
        try LogStore.open(
            "/store", in: SimulatedFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
    }

    private static func department(_ store: LogStore) throws(StoreError) -> WriteTransaction {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.department)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.department, count: 1))
        writer.set(0, "department")
        writer.endRow()
        return transaction
    }

    /// A commit on a thread of its own.
    private final class Commit: @unchecked Sendable {
        // Unchecked: set by the thread before it signals.
        private var outcome: Result<CommitReceipt, any Error>?
        private let isDone = DispatchSemaphore(value: 0)

        init(_ store: LogStore, ticket: CommitTicket? = nil) {
            Thread { [self] in
                outcome = Result { try store.commit(try CommitHoldTests.department(store), ticket: ticket) }
                isDone.signal()
            }.start()
        }

        func result() throws -> CommitReceipt {
            isDone.wait()
            return try #require(outcome).get()
        }
    }

    private static func wait(until count: Int, in store: LogStore) {
        while store.gate.waitingCount < count { Thread.sleep(forTimeInterval: 0.001) }
    }

    @Test func othersComeAfterTheHolder() throws {
        let store = try Self.open()
        let hold = try #require(store.holdCommits(patience: .seconds(3_600)))
        let others = (0..<3).map { _ in Commit(store) }
        Self.wait(until: 3, in: store)
        let before = store.snapshot.sequence
        let transaction = try Self.department(store)
        transaction.hold = hold
        let receipt = try store.commit(transaction)
        #expect(receipt.sequence == before + 1 && store.gate.waitingCount == 3)
        hold.release()
        for other in others { #expect(try other.result().sequence > receipt.sequence) }
        #expect(try Commit(store).result().sequence == before + 5)
    }

    /// What the holder does before it commits may wait for another commit.
    @Test func nobodyWaitsForever() throws {
        let store = try Self.open()
        let hold = try #require(store.holdCommits(patience: .seconds(3_600)))
        hold.setPatience(.milliseconds(1))
        #expect(throws: Never.self) { try Commit(store).result() }
        hold.setPatience(.seconds(-1))
        #expect(throws: Never.self) { try Commit(store).result() }
        #expect(store.gate.waitingCount == 0)
        hold.release()
    }

    @Test func theHoldersThreadDoesNotWait() throws {
        let store = try Self.open()
        let hold = try #require(store.holdCommits(patience: .seconds(3_600)))
        _ = try store.commit(Self.department(store))
        hold.release()
    }

    @Test func oneHoldsAtATime() throws {
        let store = try Self.open()
        var hold = store.holdCommits(patience: .seconds(3_600))
        #expect(hold != nil && store.holdCommits(patience: .seconds(1)) == nil)
        hold?.release()
        let second = try #require(store.holdCommits(patience: .seconds(3_600)))
        // It is over already, and nobody else's.
        hold = nil
        let other = Commit(store)
        Self.wait(until: 1, in: store)
        second.release()
        _ = try other.result()
        do {
            // Whoever forgets to release it lets go of it.
            _ = try #require(store.holdCommits(patience: .seconds(3_600)))
        }
        _ = try Commit(store).result()
    }

    @Test(arguments: [false, true]) func whoWaitsMayTakeItsCommitBack(_ isAsked: Bool) throws {
        let store = try Self.open()
        let hold = try #require(store.holdCommits(patience: .seconds(3_600)))
        let isUnwanted = LockedFlag()
        let ticket = isAsked ? CommitTicket { isUnwanted.value } : CommitTicket()
        let other = Commit(store, ticket: ticket)
        Self.wait(until: 1, in: store)
        if isAsked { isUnwanted.value = true } else { ticket.withdraw() }
        let error = #expect(throws: StoreError.self) { try other.result() }
        #expect(error?.code == .cancelled && store.gate.waitingCount == 0)
        hold.release()
    }
}

private final class LockedFlag: @unchecked Sendable {
    // Unchecked: the lock guards it.
    private let lock = NSLock()
    private var flag = false

    var value: Bool {
        get { lock.withLock { flag } }
        set { lock.withLock { flag = newValue } }
    }
}
