import Dispatch
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

@Suite struct UniqueConstraintTests {
    /// What knows the stored values: ordered indexes in either direction, or a table.
    enum Knowledge: String, CaseIterable, Sendable {
        case table
        case index
        case descendingIndex
    }

    private static func open(_ fs: any FileSystem, _ knowledge: Knowledge = .index) throws -> LogStore {
        let store = try LogStore.open("/store", in: fs, options: StoreTests.options(), schema: SampleSchema.schema)
        // The name alone, and the age and the last string together.
        let (root, entities) = (SampleSchema.person, [SampleSchema.person])
        store.enforce([[0], [1, 5]].map { UniqueConstraint(root: root, entities: entities, slots: $0) })
        if knowledge == .table {
            // Those of a checkpoint go.
            try store.maintain([])
        } else {
            let kinds: [[(Int, ValueKind)]] = [[(0, .string)], [(1, .int16), (5, .string)]]
            try store.maintain(
                kinds.map { elements in
                    OrderedIndexDefinition(
                        root: root, entities: entities,
                        elements: elements.map {
                            .init(slot: $0.0, kind: $0.1, isDescending: knowledge == .descendingIndex)
                        })
                })
        }
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
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        write(person, writer)
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    @Test(arguments: Knowledge.allCases) func aCommitThatFailsGivesItsValuesBack(_ knowledge: Knowledge) throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs, knowledge)
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

    @Test(arguments: Knowledge.allCases) func oneOfManyAtOnceWins(_ knowledge: Knowledge) throws {
        let store = try Self.open(MemoryFileSystem(), knowledge)
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

    /// Random transactions of several changes each against a dictionary; now and then the store is opened anew, with
    /// what knew the values before or something else.
    @Test(arguments: 1...12 as ClosedRange<UInt64>) func randomTransactions(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let fs = MemoryFileSystem()
        let kinds = Knowledge.allCases
        var store = try Self.open(fs, kinds[Int(seed % 3)])
        var people: [ObjectRef: Person] = [:]
        for step in 0..<400 {
            if step % 100 == 99 {
                try store.close()
                store = try Self.open(fs, seed > 6 ? kinds[random.below(3)] : kinds[Int(seed % 3)])
            }
            if step % 100 == 50, step % 200 != 50 { try store.checkpoint() }
            let (transaction, next) = try Self.change(people, in: store, &random)
            let isValid = Self.isUnique(next.values.compactMap(\.name)) && Self.isUnique(next.values.compactMap(\.pair))
            let code = Self.commit(transaction, to: store)
            #expect(code == (isValid ? nil : .conflict), "seed \(seed), step \(step)")
            if code == nil { people = next }
        }
    }

    /// Some names are longer than an index looks at and differ only behind that.
    private static func name(_ random: inout SeededGenerator) -> String {
        let number = random.below(60)
        return number < 5 ? String(repeating: "long", count: 300) + "\(number)" : "\(number)"
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
                name: Bool.random(using: &random) ? Self.name(&random) : nil,
                age: Int16.random(in: 0..<8, using: &random),
                mail: Bool.random(using: &random) ? "\(Int.random(in: 0..<8, using: &random))" : nil)
            let kind = Int.random(in: 0..<4, using: &random)
            guard kind > 1, let index = untouched.indices.randomElement(using: &random) else {
                let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
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

    // MARK: Where the values are known

    private static func tableByteCount(_ store: LogStore) -> Int {
        store.writer.withLock { $0?.uniqueness?.memoryByteCount ?? -1 }
    }

    @Test func anOpenedStoreKnowsWithoutReadingItsRows() throws {
        let fs = MemoryFileSystem()
        var store = try Self.open(fs)
        let names = (0..<500).map { "name \($0)" }
        for name in names { try Self.insert(store, Person(name: name, age: nil, mail: nil)) }
        try store.close()
        store = try Self.open(fs)
        let error = #expect(throws: StoreError.self) {
            try Self.insert(store, Person(name: "name 77", age: nil, mail: nil))
        }
        #expect(error?.uniqueConflicts.count == 1)
        try Self.insert(store, Person(name: "new", age: nil, mail: nil))
        #expect(Self.tableByteCount(store) == 0)
        // Without an index, it is a table of all rows, which goes when the index is there.
        try store.close()
        store = try Self.open(fs, .table)
        try Self.insert(store, Person(name: "newer", age: nil, mail: nil))
        #expect(Self.tableByteCount(store) > 500 * 12)
        try store.maintain([
            OrderedIndexDefinition(
                root: SampleSchema.person, entities: [SampleSchema.person],
                elements: [.init(slot: 0, kind: .string)])
        ])
        try Self.insert(store, Person(name: "newest", age: nil, mail: nil))
        #expect(throws: StoreError.self) { try Self.insert(store, Person(name: "newer", age: nil, mail: nil)) }
        #expect(throws: StoreError.self) { try Self.insert(store, Person(name: "name 3", age: nil, mail: nil)) }
        try Self.insert(store, Person(name: "last", age: nil, mail: nil))
        #expect(Self.tableByteCount(store) == 0)
    }

    @Test func aDamagedIndexIsNoObstacle() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs)
        for number in 0..<300 { try Self.insert(store, Person(name: "name \(number)", age: nil, mail: nil)) }
        try store.checkpoint()
        let place = try #require(store.snapshot.ordered.list.first?.base?.directory?.entries.first)
        let path = try #require(
            try fs.list("/store").filter { $0.hasSuffix(".chk") }.max().map { FilePath("/store").appending($0) })
        try fs.corrupt(path, .flipBit(offset: Int(place.offset) + 20, bit: 3))
        for name in ["name 7", "name 150", "name 299"] {
            let error = #expect(throws: StoreError.self) {
                try Self.insert(store, Person(name: name, age: nil, mail: nil))
            }
            #expect(error?.code == .conflict && error?.uniqueConflicts.count == 1)
        }
        try Self.insert(store, Person(name: "other", age: nil, mail: nil))
        // The rows have told it.
        #expect(Self.tableByteCount(store) > 300 * 12)
    }
}
