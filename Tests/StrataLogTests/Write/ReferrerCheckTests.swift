import Dispatch
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Deletions of objects to which others commit references at the same time.
@Suite struct ReferrerCheckTests {
    private static func deletion(of department: ObjectRef, in store: LogStore) throws -> WriteTransaction {
        let version = try #require(try store.snapshot.row(department)).version
        let transaction = store.makeTransaction()
        transaction.requireUnreferred(deleted: department.entity, by: [SampleSchema.postings])
        try transaction.delete(department, replacing: version)
        return transaction
    }

    private static func reference(to department: ObjectRef, in store: LogStore) throws -> WriteTransaction {
        let transaction = store.makeTransaction()
        transaction.requireExistence(of: department)
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
        writer.set(4, department)
        writer.endRow()
        return transaction
    }

    /// The referrers have been looked for once when another transaction is committed.
    @Test func aReferenceBetweenTheCheckAndTheCommit() throws {
        let store = try LogStore.open(
            "/store", in: SimulatedFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        let deletion = try Self.deletion(of: department, in: store)
        deletion.whenEncoded = {
            #expect(throws: Never.self) { try store.commit(try Self.reference(to: department, in: store)) }
        }
        let error = #expect(throws: StoreError.self) { try store.commit(deletion) }
        #expect(error?.code == .conflict && error?.conflicts == [department])
        #expect(try store.snapshot.row(department) != nil)
    }

    /// Whether they come in one group or one after the other, one of both is refused.
    @Test func aReferenceAndADeletionAtOnce() throws {
        let store = try LogStore.open(
            "/store", in: SimulatedFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        for _ in 0..<50 {
            let department = try StoreTests.makeDepartment(store)
            nonisolated(unsafe) let transactions = [
                try Self.deletion(of: department, in: store), try Self.reference(to: department, in: store),
            ]
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                do throws(StoreError) {
                    _ = try store.commit(transactions[index])
                } catch {
                    #expect(error.code == .conflict && error.conflicts == [department])
                }
            }
            let isThere = try store.snapshot.row(department) != nil
            let referrers = try store.snapshot.referrers(postings: SampleSchema.postings, to: department)
            #expect(referrers.count == (isThere ? 1 : 0))
        }
    }
}
