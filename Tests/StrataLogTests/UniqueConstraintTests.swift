import Dispatch
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

@Suite struct UniqueConstraintTests {
    private static func open(_ fs: any FileSystem) throws -> LogStore {
        let store = try LogStore.open("/store", in: fs, options: StoreTests.options(), schema: SampleSchema.schema)
        // The name alone, and the age and the last string together.
        let (root, entities) = (SampleSchema.person, [SampleSchema.person])
        store.enforce([[0], [1, 5]].map { UniqueConstraint(root: root, entities: entities, slots: $0) })
        return store
    }

    private struct Person {
        var name: String?
        var age: Int16?
        var mail: String?

        /// The second constraint's values.
        var pair: String? { age.flatMap { age in mail.map { "\(age) \($0)" } } }
    }

    private static func write(_ person: Person, _ writer: EntityWriter) {
        if let name = person.name { writer.set(0, name) }
        if let age = person.age { writer.set(1, age) }
        if let mail = person.mail { writer.set(5, mail) }
        writer.endRow()
    }

    @discardableResult
    private static func insert(_ store: LogStore, _ person: Person) throws -> ObjectRef {
        let key = store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        write(person, writer)
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    @Test func aCommitThatFailsGivesItsValuesBack() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs)
        let first = try Self.insert(store, Person(name: "first", age: nil, mail: nil))
        fs.inject(.init(.fail(.noSpace), of: .write, repetition: .always))
        #expect(throws: StoreError.self) { try Self.insert(store, Person(name: "second", age: 1, mail: "x")) }
        let row = try #require(try store.snapshot.row(first))
        let deletion = store.makeTransaction()
        try deletion.delete(first, replacing: row.version)
        #expect(throws: StoreError.self) { try store.commit(deletion) }
        fs.removeFaults()
        // What was not deleted is still in the way, what was not inserted is not.
        let error = #expect(throws: StoreError.self) {
            try Self.insert(store, Person(name: "first", age: nil, mail: nil))
        }
        #expect(error?.code == .conflict && error?.uniqueConflicts.map(\.holder) == [first])
        #expect(error?.uniqueConflicts.first?.isHolderStored == true && error?.uniqueConflicts.first?.constraint == 0)
        try Self.insert(store, Person(name: "second", age: 1, mail: "x"))
        #expect(throws: StoreError.self) { try Self.insert(store, Person(name: "third", age: 1, mail: "x")) }
        try Self.insert(store, Person(name: "third", age: 1, mail: nil))
        try Self.insert(store, Person(name: "fourth", age: 1, mail: nil))
    }

    @Test func oneOfManyAtOnceWins() throws {
        let store = try Self.open(MemoryFileSystem())
        let accepted = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for value in 0..<200 {
                let person = Person(name: "name \(value)", age: Int16(number), mail: nil)
                if (try? Self.insert(store, person)) != nil { accepted.withLock { $0 += 1 } }
            }
        }
        #expect(accepted.withLock { $0 } == 200)
        #expect(store.snapshot.count(entity: SampleSchema.person) == 200)
    }

    /// Random transactions of several changes each against a dictionary; now and then the index is built anew.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func randomTransactions(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let fs = MemoryFileSystem()
        var store = try Self.open(fs)
        var people: [ObjectRef: Person] = [:]
        for step in 0..<400 {
            if step % 100 == 99 {
                try store.close()
                store = try Self.open(fs)
            }
            let (transaction, next) = try Self.change(people, in: store, &random)
            let isValid = Self.isUnique(next.values.compactMap(\.name)) && Self.isUnique(next.values.compactMap(\.pair))
            let code = Self.commit(transaction, to: store)
            #expect(code == (isValid ? nil : .conflict), "seed \(seed), step \(step)")
            if code == nil { people = next }
        }
    }

    private static func isUnique(_ values: [String]) -> Bool { Set(values).count == values.count }

    private static func commit(_ transaction: WriteTransaction, to store: LogStore) -> StoreError.Code? {
        do {
            _ = try store.commit(transaction)
        } catch {
            return error.code
        }
        return nil
    }

    private static func change(
        _ people: [ObjectRef: Person], in store: LogStore, _ random: inout SeededGenerator
    ) throws -> (WriteTransaction, [ObjectRef: Person]) {
        var next = people
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        var untouched = people.keys.sorted()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let person = Person(
                name: Bool.random(using: &random) ? "\(Int.random(in: 0..<60, using: &random))" : nil,
                age: Int16.random(in: 0..<8, using: &random),
                mail: Bool.random(using: &random) ? "\(Int.random(in: 0..<8, using: &random))" : nil)
            let kind = Int.random(in: 0..<4, using: &random)
            guard kind > 1, let index = untouched.indices.randomElement(using: &random) else {
                let key = store.allocateKeys(root: SampleSchema.person, count: 1)
                writer.beginInsert(key: key)
                write(person, writer)
                next[ObjectRef(entity: SampleSchema.person, key: key)] = person
                continue
            }
            let ref = untouched.remove(at: index)
            let row = try #require(try store.snapshot.row(ref))
            if kind == 2 {
                try writer.beginUpdate(key: ref.key, replacing: row.version, changed: SlotSet([0, 1, 5]))
                write(person, writer)
                next[ref] = person
            } else {
                try transaction.delete(ref, replacing: row.version)
                next[ref] = nil
            }
        }
        return (transaction, next)
    }
}
