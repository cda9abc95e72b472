import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// States of before a migration, by the schema of then.
@Suite struct PastSchemaTests {
    /// Of ``SampleSchema``: persons are gone, with their relationships.
    private static let withoutPersons: Schema = {
        let department = EntityLayout(
            id: SampleSchema.department, rootID: SampleSchema.department, name: "Department",
            slots: [SlotLayout(.string, lift: SlotLift(source: 0))])
        return Schema(entities: [department], model: [1], isMigration: true)
    }()

    /// Updates and inserts some persons as ``LiftingTests/migrated`` has them.
    private func change(_ store: LogStore, _ refs: some Sequence<ObjectRef>) throws {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        for ref in refs {
            var changed = SlotSet()
            changed.insert(2)
            try writer.beginUpdate(
                key: ref.key, replacing: try #require(try store.snapshot.row(ref)).version, changed: changed)
            writer.set(2, "changed")
            writer.endRow()
        }
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
        writer.set(2, "later")
        writer.endRow()
        _ = try store.commit(transaction)
    }

    /// Every state is shown whole: rows with what is gone from them, counts, relationships that are gone.
    @Test(arguments: [false, true]) func everyStateOfBeforeAMigrationCanBeLookedAt(losesEntity: Bool) throws {
        for _ in 0..<4 {
            let seed = UInt64.random(in: 0...UInt64.max)
            let workload = StoreWorkload(seed: seed, fileSystem: SimulatedFileSystem())
            try workload.run(steps: 40)
            let store = try workload.opened()
            try store.register(losesEntity ? Self.withoutPersons : LiftingTests.migrated)
            if !losesEntity { try change(store, workload.model.newest.keys.sorted().prefix(5)) }
            let newest = store.snapshot.sequence
            for sequence in workload.model.states.indices.shuffled().prefix(15) {
                let past = try store.past(at: UInt64(sequence), schemaVersion: 1)
                #expect(past.schemaVersion == 1)
                #expect(past.snapshot.sequence == UInt64(sequence))
                try workload.model.check(past, "seed \(seed), transaction \(sequence)")
                var history = try past.history(after: 0)
                var last: UInt64 = 0
                while let transaction = try history.next() { last = transaction.sequence }
                #expect(last == UInt64(sequence), "seed \(seed): the history goes on behind \(sequence)")
                #expect(throws: StoreError.self) { try past.commit(Self.insertion(past)) }
                try past.close()
            }
            #expect(store.snapshot.sequence == newest)
            try workload.close()
        }
    }

    private static func insertion(_ store: LogStore) -> WriteTransaction {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: 1_000_000)
        writer.endRow()
        return transaction
    }

    /// Compaction may make a state expire, but never change it.
    @Test(arguments: [false, true]) func statesOfACompactedStoreAreRightOrExpired(losesEntity: Bool) throws {
        var expired = 0
        for _ in 0..<6 {
            let seed = UInt64.random(in: 0...UInt64.max)
            let workload = StoreWorkload(seed: seed, fileSystem: SimulatedFileSystem())
            try workload.run(steps: 40)
            let store = try workload.opened()
            try store.register(losesEntity ? Self.withoutPersons : LiftingTests.migrated)
            if !losesEntity { try change(store, workload.model.newest.keys.sorted().prefix(5)) }
            let held = try store.past(at: UInt64(workload.model.states.count - 1), schemaVersion: 1)
            try store.compact()
            for sequence in workload.model.states.indices {
                do {
                    let past = try store.past(at: UInt64(sequence), schemaVersion: 1)
                    try workload.model.check(past, "seed \(seed), transaction \(sequence)")
                } catch let error as StoreError {
                    #expect(error.code == .expired, "seed \(seed), transaction \(sequence): \(error)")
                    expired += 1
                }
            }
            // What was opened before keeps what it reads.
            try workload.model.check(held, "seed \(seed), held")
            try workload.close()
        }
        #expect(expired > 0)
    }

    /// Compaction writes rows as the newest schema has them: their values are taken back where they are all there.
    @Test func movedRowsAreTakenBackWhereNothingIsLost() throws {
        let fileSystem = MemoryFileSystem()
        let store = try LiftingTests.store(fileSystem, rows: 300)
        var renamed = SampleSchema.schema
        renamed.isMigration = true
        renamed.model = [1]
        for entity in renamed.entities.indices {
            let slots = renamed.entities[entity].slots
            renamed.entities[entity].slots = slots.indices.reversed().map { slot in
                SlotLayout(
                    slots[slot].kind, postingsID: slots[slot].postingsID,
                    preservedInHistory: slots[slot].preservedInHistory, lift: SlotLift(source: slot))
            }
            renamed.entities[entity].slots.append(
                SlotLayout(.int64, lift: SlotLift(fill: Array(repeating: 1, count: 8))))
        }
        let sequence = store.snapshot.sequence
        try store.register(renamed)
        _ = try store.compact()
        let past = try store.past(at: sequence, schemaVersion: 1)
        let snapshot = past.snapshot
        #expect(snapshot.count(entity: SampleSchema.person) == 300)
        for key in [1, 17, 300] as [UInt64] {
            let row = try #require(try snapshot.row(ObjectRef(entity: SampleSchema.person, key: key)))
            #expect(row.block.slotCount == 8)
            #expect(try row.block.column(0).string(row.index) == "person \(key)")
            #expect(try row.block.column(1).int16(row.index) == Int16(key))
            #expect(try row.block.column(5).string(row.index) == "p\(key)@example.org")
            #expect(try row.block.column(6).isNull(row.index))
        }
        let department = ObjectRef(entity: SampleSchema.department, key: 1)
        #expect(try snapshot.referrers(postings: SampleSchema.postings, to: department).count == 300)
        try past.close()
        try store.close()
    }

    @Test func whatIsNotThereIsRefused() throws {
        let store = try LiftingTests.store(rows: 3)
        for (sequence, version) in [(99, 1), (1, 2), (1, 0)] as [(UInt64, UInt16)] {
            #expect {
                _ = try store.past(at: sequence, schemaVersion: version)
            } throws: { ($0 as? StoreError)?.code == .invalidArgument }
        }
        try store.close()
    }
}
