import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Commits that read what no row's version shows.
@Suite struct ConflictKeyTests {
    private static func open(_ fs: any FileSystem = SimulatedFileSystem()) throws -> LogStore {
        try LogStore.open("/store", in: fs, options: StoreTests.options(), schema: SampleSchema.schema)
    }

    private static func change(_ name: UInt64) -> ConflictKey { ConflictKey(kind: 1, name, isExclusive: true) }
    private static func reliance(_ name: UInt64) -> ConflictKey { ConflictKey(kind: 1, name, isExclusive: false) }

    /// A transaction that inserts a department and holds conflict keys as of a snapshot.
    private static func transaction(
        _ store: LogStore, _ keys: [ConflictKey], asOf sequence: UInt64
    ) throws(StoreError) -> WriteTransaction {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.department)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.department, count: 1))
        writer.set(0, "Research")
        writer.endRow()
        for key in keys { transaction.hold(key, asOf: sequence) }
        return transaction
    }

    /// What the commit is refused with; nil if it succeeds.
    private static func refusal(_ store: LogStore, _ keys: [ConflictKey], asOf sequence: UInt64) -> StoreError? {
        do {
            _ = try store.commit(try transaction(store, keys, asOf: sequence))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [false, true], [false, true])
    func oneChangesWhatAnotherGoesBy(_ first: Bool, _ second: Bool) throws {
        let store = try Self.open()
        let basis = store.snapshot.sequence
        let firstKey = first ? Self.change(7) : Self.reliance(7)
        let secondKey = second ? Self.change(7) : Self.reliance(7)
        let accepted = Self.refusal(store, [firstKey], asOf: basis)
        #expect(accepted == nil)
        let other = Self.refusal(store, [Self.change(8)], asOf: basis)
        #expect(other == nil)
        let refused = Self.refusal(store, [Self.change(9), secondKey], asOf: basis)
        let mayBoth = !first && !second
        #expect((refused == nil) == mayBoth)
        if let refused { #expect(refused.code == .conflict && refused.conflicts.isEmpty) }
        // Whoever has seen the other commit may go on.
        let again = Self.refusal(store, [secondKey], asOf: store.snapshot.sequence)
        #expect(again == nil)
    }

    /// A commit that failed has changed nothing, and its sequence number is given to another one.
    @Test func aCommitThatFailedHoldsNothing() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs)
        let basis = store.snapshot.sequence
        fs.inject(.init(.fail(.noSpace), of: .write, repetition: .always))
        let failed = Self.refusal(store, [Self.change(7)], asOf: basis)
        #expect(failed?.code == .io)
        fs.removeFaults()
        let other = Self.refusal(store, [Self.change(8)], asOf: basis)
        #expect(other == nil)
        let again = Self.refusal(store, [Self.change(7)], asOf: basis)
        #expect(again == nil)
    }

    /// Whoever went by a snapshot that is older than what is remembered has to look again.
    @Test func forgottenKeysRefuse() throws {
        let store = try Self.open()
        let basis = store.snapshot.sequence
        var many: [ConflictKey] = []
        for name in 0...UInt64(ConflictKeys.maximumCount) { many.append(Self.change(name)) }
        let first = Self.refusal(store, many, asOf: basis)
        #expect(first == nil)
        let between = store.snapshot.sequence
        let second = Self.refusal(store, [Self.change(1 << 20)], asOf: between)
        #expect(second == nil)
        let old = Self.refusal(store, [Self.change(1 << 21)], asOf: basis)
        #expect(old?.code == .conflict)
        let same = Self.refusal(store, [Self.change(1 << 20)], asOf: between)
        #expect(same?.code == .conflict)
        let new = Self.refusal(store, [Self.change(1 << 20)], asOf: store.snapshot.sequence)
        #expect(new == nil)
    }

    @Test func whatIsReferredToMustExist() throws {
        let store = try Self.open()
        let department = try StoreTests.makeDepartment(store)
        let first = try Self.transaction(store, [], asOf: 0)
        first.requireExistence(of: department)
        _ = try store.commit(first)
        let version = try #require(try store.snapshot.row(department)).version
        let deletion = store.makeTransaction()
        try deletion.delete(department, replacing: version)
        _ = try store.commit(deletion)
        let second = try Self.transaction(store, [], asOf: 0)
        second.requireExistence(of: department)
        let error = #expect(throws: StoreError.self) { try store.commit(second) }
        #expect(error?.conflicts == [department])
    }
}
