import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// Commits that are taken back while they wait for others. Meant to be run under the thread sanitizer, too.
@Suite struct CommitTicketTests {
    /// A file system whose next flush waits until it is let go on.
    private final class HeldFileSystem: ForwardingFileSystem {
        let base: any FileSystem = MemoryFileSystem()
        let isHeld = Mutex(false)
        let hasBegun = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)

        func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
            HeldFile(base: try base.open(path, mode), fileSystem: self)
        }

        func holdIfAsked() {
            let holds = isHeld.withLock { held in
                defer { held = false }
                return held
            }
            if !holds { return }
            hasBegun.signal()
            mayGoOn.wait()
        }
    }

    private final class HeldFile: ForwardingFile {
        let base: any File
        private let fileSystem: HeldFileSystem

        init(base: any File, fileSystem: HeldFileSystem) {
            self.base = base
            self.fileSystem = fileSystem
        }

        func syncData() throws(Errno) {
            fileSystem.holdIfAsked()
            try base.syncData()
        }

        func sync() throws(Errno) {
            fileSystem.holdIfAsked()
            try base.sync()
        }
    }

    /// A transaction that inserts a department; its key.
    private static func department(
        _ store: LogStore
    ) throws(StoreError) -> (transaction: WriteTransaction, ref: ObjectRef) {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.department)
        let key = try store.allocateKeys(root: SampleSchema.department, count: 1)
        writer.beginInsert(key: key)
        writer.set(0, "Research")
        writer.endRow()
        return (transaction, ObjectRef(entity: SampleSchema.department, key: key))
    }

    /// Commits one on a thread of its own.
    private static func start(_ store: LogStore, _ ticket: CommitTicket, _ outcome: Outcome) {
        outcome.done.enter()
        Thread {
            do throws(StoreError) {
                let (transaction, ref) = try department(store)
                _ = try store.commit(transaction, ticket: ticket)
                outcome.result.withLock { $0 = .success(ref) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            outcome.done.leave()
        }.start()
    }

    private final class Outcome: Sendable {
        let result = Mutex<Result<ObjectRef, StoreError>?>(nil)
        let done = DispatchGroup()
        var error: StoreError.Code? {
            if case .failure(let error)? = result.withLock({ $0 }) { return error.code }
            return nil
        }
    }

    private static func open(_ fileSystem: HeldFileSystem) throws -> LogStore {
        var options = StoreTests.options()
        options.durability = .full
        return try LogStore.open("/s", in: fileSystem, options: options, schema: SampleSchema.schema)
    }

    @Test(arguments: [false, true]) func aWaitingCommitIsTakenBackAndOneThatLeadsIsNot(_ asks: Bool) throws {
        let fileSystem = HeldFileSystem()
        let store = try Self.open(fileSystem)
        fileSystem.isHeld.withLock { $0 = true }
        let (leader, follower, other) = (Outcome(), Outcome(), Outcome())
        let leaderTicket = CommitTicket()
        Self.start(store, leaderTicket, leader)
        fileSystem.hasBegun.wait()
        // These wait for the leader's flush.
        let isUnwanted = Flag()
        let ticket = asks ? CommitTicket(isUnwanted: { isUnwanted.isSet.load(ordering: .relaxed) }) : CommitTicket()
        Self.start(store, ticket, follower)
        Self.start(store, CommitTicket(), other)
        while store.waitingCommits < 2 { usleep(200) }
        leaderTicket.withdraw()
        if asks { isUnwanted.isSet.store(true, ordering: .relaxed) } else { ticket.withdraw() }
        // The flush has not ended, and does not before this returns.
        follower.done.wait()
        #expect(follower.error == .cancelled && store.waitingCommits == 1)
        fileSystem.mayGoOn.signal()
        leader.done.wait()
        other.done.wait()
        #expect(leader.error == nil && other.error == nil)
        #expect(store.snapshot.count(entity: SampleSchema.department) == 2 && store.snapshot.sequence == 2)
        // The store goes on.
        _ = try store.commit(try Self.department(store).transaction)
        #expect(store.snapshot.count(entity: SampleSchema.department) == 3)
        try store.close()
    }

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    @Test func aTicketTakenBackBeforeKeepsTheCommitFromWaiting() throws {
        let fileSystem = HeldFileSystem()
        let store = try Self.open(fileSystem)
        fileSystem.isHeld.withLock { $0 = true }
        let (leader, follower) = (Outcome(), Outcome())
        Self.start(store, CommitTicket(), leader)
        fileSystem.hasBegun.wait()
        let ticket = CommitTicket()
        ticket.withdraw()
        Self.start(store, ticket, follower)
        follower.done.wait()
        #expect(follower.error == .cancelled)
        fileSystem.mayGoOn.signal()
        leader.done.wait()
        #expect(store.snapshot.count(entity: SampleSchema.department) == 1)
        try store.close()
    }

    /// Whoever takes back while others lead, follow and end: each commit is there or has been taken back.
    @Test func commitsThatAreTakenBackAtAnyTimeAreThereOrNot() throws {
        let store = try LogStore.open(
            "/s", in: SlowFlushFileSystem(MemoryFileSystem(), microseconds: 200), options: StoreTests.options(),
            schema: SampleSchema.schema)
        let committed = Atomic<Int>(0)
        let withdrawn = Atomic<Int>(0)
        let rows = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<25 {
                guard let (transaction, ref) = try? Self.department(store) else { continue }
                let ticket = CommitTicket()
                if (thread + round) % 2 == 0 {
                    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(round * 20)) {
                        ticket.withdraw()
                    }
                }
                do {
                    _ = try store.commit(transaction, ticket: ticket)
                    committed.wrappingAdd(1, ordering: .relaxed)
                } catch {
                    #expect((error as? StoreError)?.code == .cancelled)
                    withdrawn.wrappingAdd(1, ordering: .relaxed)
                }
                let isThere = (try? store.snapshot.row(ref)) != nil
                rows.withLock { $0 += isThere ? 1 : 0 }
            }
        }
        let count = committed.load(ordering: .relaxed)
        #expect(count + withdrawn.load(ordering: .relaxed) == 200)
        #expect(store.snapshot.count(entity: SampleSchema.department) == count)
        #expect(Int(store.snapshot.sequence) == count && rows.withLock { $0 } == count)
        try store.close()
    }
}
