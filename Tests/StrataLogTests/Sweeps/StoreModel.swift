import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// What a store should hold, kept as naively as possible: a dictionary per transaction.
struct StoreModel {
    struct Person: Equatable {
        var name: String
        var age: Int16
        var department: ObjectRef
        var notes: [UInt8]?
    }

    typealias Contents = [ObjectRef: Person]

    /// Contents after each transaction; index 0 is the empty store.
    private(set) var states: [Contents] = [[:]]

    var newest: Contents { states[states.count - 1] }

    mutating func commit(_ contents: Contents) {
        states.append(contents)
    }

    /// Forgets what came after a transaction: it did not survive.
    mutating func cut(after sequence: UInt64) {
        states.removeSubrange((Int(sequence) + 1)...)
    }

    /// Compares a store with the model at the store's own sequence number, row by row, with the index, counts and
    /// relationships.
    func check(_ store: LogStore, at past: Snapshot? = nil, _ hint: @autoclosure () -> String) throws {
        let snapshot = past ?? store.snapshot
        let sequence = Int(snapshot.sequence)
        guard sequence < states.count else {
            Issue.record("\(hint()): the store shows transaction \(sequence), which was never made")
            return
        }
        let expected = states[sequence]
        var found: Contents = [:]
        for root in [SampleSchema.person] {
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                for index in 0..<run.count {
                    let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                    guard row.ref.key == run.firstKey + UInt64(index) else {
                        Issue.record("\(hint()): the row of \(run.firstKey + UInt64(index)) is that of \(row.ref.key)")
                        continue
                    }
                    found[row.ref] = try Self.person(row, store)
                }
                return true
            }
        }
        #expect(found == expected, "\(hint()): wrong contents at transaction \(sequence)")
        #expect(snapshot.count(entity: SampleSchema.person) == expected.count, "\(hint()): wrong count")
        var members: [ObjectRef: [ObjectRef]] = [:]
        for (ref, person) in expected where !person.department.isNull {
            members[person.department, default: []].append(ref)
        }
        for key in 1...UInt64(3) {
            let department = ObjectRef(entity: SampleSchema.department, key: key)
            let listed = try snapshot.referrers(postings: SampleSchema.postings, to: department)
            #expect(listed == (members[department] ?? []).sorted(), "\(hint()): wrong members of \(key)")
            let count = try snapshot.referrerCount(postings: SampleSchema.postings, to: department)
            #expect(count == listed.count, "\(hint()): wrong number of members of \(key)")
        }
        try checkIndexes(snapshot, expected, hint())
    }

    /// By age and then by name backwards; by name, of those who are fifty or older; by department.
    static let definitions: [OrderedIndexDefinition] = {
        let (root, entities) = (SampleSchema.person, [SampleSchema.person])
        let fifty = withUnsafeBytes(of: Int16(50).littleEndian) { OrderedKey.component($0, .int16) }
        return [
            OrderedIndexDefinition(
                root: root, entities: entities,
                elements: [.init(slot: 1, kind: .int16), .init(slot: 0, kind: .string, isDescending: true)]),
            OrderedIndexDefinition(
                root: root, entities: entities, elements: [.init(slot: 0, kind: .string)],
                filter: .within(slot: 1, kind: .int16, ranges: [OrderedRange(lower: fifty, upper: nil)])),
            OrderedIndexDefinition(
                root: root, entities: entities, elements: [.init(slot: 4, kind: .reference, isDescending: true)]),
        ]
    }()

    /// Compares every ordered index with the model's objects in the order that its definition asks for.
    private func checkIndexes(_ snapshot: Snapshot, _ contents: Contents, _ hint: @autoclosure () -> String) throws {
        for index in snapshot.orderedIndexes where index.isReady {
            let number = Self.definitions.firstIndex(of: index.definition) ?? -1
            let refs = contents.keys.filter { number != 1 || (contents[$0]?.age ?? 0) >= 50 }.sorted()
            func order(_ left: Person, _ right: Person) -> Int {
                func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
                let names =
                    left.name.utf8.lexicographicallyPrecedes(right.name.utf8) ? -1 : left.name == right.name ? 0 : 1
                switch number {
                case 0: return left.age == right.age ? -names : sign(left.age, right.age)
                case 1: return names
                default: return -sign(left.department.key, right.department.key)
                }
            }
            for descending in [false, true] {
                var found: [ObjectRef] = []
                _ = try index.forEach(in: .all, descending: descending) {
                    found.append($0)
                    return true
                }
                let expected = refs.sorted { left, right in
                    guard let a = contents[left], let b = contents[right] else { return false }
                    let order = order(a, b) * (descending ? -1 : 1)
                    return order == 0 ? left < right : order < 0
                }
                #expect(found == expected, "\(hint()): index \(number), descending \(descending)")
            }
            #expect(index.count == refs.count, "\(hint()): index \(number) counts wrong")
        }
    }

    static func person(_ row: Row, _ store: LogStore) throws(StoreError) -> Person {
        let block = row.block
        func text(_ slot: Int) throws(StoreError) -> [UInt8]? {
            let column = try block.column(slot)
            if column.isNull(row.index) { return nil }
            return column.isExternal(row.index)
                ? try store.read(column.external(row.index)) : [UInt8](column.bytes(row.index))
        }
        return Person(
            name: String(decoding: try text(0) ?? [], as: UTF8.self), age: try block.column(1).int16(row.index),
            department: try block.column(4).reference(row.index), notes: try text(6))
    }

    /// Checks that the history from the beginning has every transaction once, in order.
    func checkHistory(_ store: LogStore, _ hint: @autoclosure () -> String) throws {
        var history = try store.history(after: 0)
        var expected: UInt64 = 0
        var alive: Set<ObjectRef> = []
        while let transaction = try history.next() {
            expected += 1
            #expect(transaction.sequence == expected, "\(hint()): history out of order")
            for group in transaction.groups {
                let refs = group.keys.map { ObjectRef(entity: group.entity, key: $0) }
                switch group.kind {
                case .insert: alive.formUnion(refs)
                case .update: #expect(alive.isSuperset(of: refs), "\(hint()): update of an object that is not there")
                case .delete: alive.subtract(refs)
                }
            }
        }
        #expect(expected == store.snapshot.sequence, "\(hint()): history ends at \(expected)")
        #expect(alive == Set(states[Int(expected)].keys), "\(hint()): replayed history gives other objects")
    }
}

/// A seeded workload over one store, which records what was acknowledged and what the store should hold then.
final class StoreWorkload {
    static let path = FilePath("/store")

    var model = StoreModel()
    private(set) var acknowledged = 0
    private var generator: SeededGenerator
    private let fileSystem: SimulatedFileSystem
    /// What the store is opened in: the file system, or a process's view of it.
    private var process: any FileSystem
    private let options: LogOptions
    private var store: LogStore?
    /// Whether segments are compacted now and then.
    private let compacts: Bool
    /// Called after each acknowledged transaction and each opening.
    var onCommit: (LogStore) throws -> Void = { _ in }

    init(
        seed: UInt64, fileSystem: SimulatedFileSystem, options: LogOptions = StoreWorkload.options(),
        compacts: Bool = false
    ) {
        self.compacts = compacts
        generator = SeededGenerator(seed: seed)
        self.fileSystem = fileSystem
        process = fileSystem
        self.options = options
    }

    /// Goes on in another process with what the one before has left.
    func resume(in process: any FileSystem) throws {
        store = nil
        self.process = process
        model.cut(after: try opened().snapshot.sequence)
    }

    static func options(_ durability: LogOptions.Durability = .full) -> LogOptions {
        var options = LogOptions()
        options.durability = durability
        options.segmentMaximumBytes = 64 << 10
        options.preallocationMinimumBytes = 4096
        options.checkpointTailBytes = 24 << 10
        options.checkpointsInBackground = false
        options.cacheMaximumBytes = 1 << 20
        options.newStoreUUID = StoreUUID(high: 0x1234, low: 0x5678)
        options.clock = { 1_000_000_000 }
        options.compaction.isAutomatic = false
        options.freshBlockDueCount = 8
        options.compactionStepBytes = 2048
        options.compactionWaitMilliseconds = 0
        return options
    }

    static func open(_ fileSystem: any FileSystem, _ options: LogOptions) throws -> LogStore {
        let store = try LogStore.open(path, in: fileSystem, options: options, schema: SampleSchema.schema)
        try store.maintain(StoreModel.definitions)
        return store
    }

    func opened() throws -> LogStore {
        if let store { return store }
        let new = try Self.open(process, options)
        store = new
        return new
    }

    /// Runs `count` random steps: commits of one to many rows, now and then a checkpoint, a metadata change, or
    /// closing and opening again.
    func run(steps count: Int) throws {
        _ = try opened()
        fileSystem.mark("0")
        for _ in 0..<count { try step() }
    }

    func close() throws {
        try store?.close()
        store = nil
    }

    private func step() throws {
        if compacts, generator.chance(0.15) { return try compact() }
        if compacts, generator.chance(0.15) { return try merge() }
        switch generator.below(20) {
        case 0: try opened().checkpoint()
        case 1: try opened().setMetadata(bytes(generator.below(300)))
        case 2: try close()
        case 3: store = nil  // The process forgets to close.
        default: try commit()
        }
    }

    /// Compacts, now and then with commits in between or not to the end. After a commit that was refused it only goes
    /// on compacting: the model has noted a transaction then that the store does not have.
    private func compact() throws {
        defer { failure = nil }
        let interrupts = generator.chance(0.2)
        var steps = 0
        do {
            try opened().compact { [self] _ in
                steps += 1
                if interrupts, steps > 2 { return false }
                if failure == nil, generator.chance(0.2) {
                    do {
                        try commit()
                    } catch {
                        failure = error
                    }
                }
                return true
            }
        } catch let error as StoreError where error.code == .cancelled {
            // As asked for.
        }
        if let failure { throw failure }
    }

    /// Merges blocks of few rows, now and then with a commit between reading and writing them.
    private func merge() throws {
        try opened().mergeFreshRows { [self] in
            if generator.chance(0.3) { try commit() }
        }
    }

    /// Of a commit inside of a compaction.
    private var failure: (any Error)?

    private func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() % 7) }
    }

    private func randomPerson() -> StoreModel.Person {
        var person = StoreModel.Person(
            name: "name \(generator.below(1000))", age: Int16(generator.below(100)), department: .null, notes: nil)
        if generator.chance(0.7) {
            person.department = ObjectRef(entity: SampleSchema.department, key: UInt64(generator.below(3) + 1))
        }
        if generator.chance(0.2) { person.notes = bytes(generator.below(6000)) }
        if generator.chance(0.02) { person.notes = bytes(70_000) }
        return person
    }

    /// One random transaction.
    func commit() throws {
        let store = try opened()
        let transaction = store.makeTransaction()
        transaction.author = generator.chance(0.5) ? "author" : nil
        var contents = model.newest
        var untouched = contents.keys.sorted()
        let writer = transaction.writer(for: SampleSchema.person)
        for _ in 0..<(generator.chance(0.1) ? 40 : generator.below(4) + 1) {
            let existing = untouched.isEmpty ? nil : untouched.remove(at: generator.below(untouched.count))
            switch (generator.below(3), existing) {
            case (1, let ref?):
                let person = randomPerson()
                var changed = SlotSet()
                for slot in [0, 1, 4, 6] { changed.insert(slot) }
                try writer.beginUpdate(key: ref.key, replacing: try version(of: ref, store), changed: changed)
                write(person, to: writer)
                contents[ref] = person
            case (2, let ref?):
                try transaction.delete(ref, replacing: try version(of: ref, store))
                contents[ref] = nil
            default:
                let person = randomPerson()
                let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
                writer.beginInsert(key: key)
                write(person, to: writer)
                contents[ObjectRef(entity: SampleSchema.person, key: key)] = person
            }
        }
        // The model knows the transaction before the store does: it may survive without being acknowledged.
        model.commit(contents)
        let receipt = try store.commit(transaction)
        acknowledged = Int(receipt.sequence)
        fileSystem.mark("\(receipt.sequence)")
        try onCommit(store)
    }

    private func version(of ref: ObjectRef, _ store: LogStore) throws -> RowVersion {
        try #require(try store.snapshot.row(ref)).version
    }

    private func write(_ person: StoreModel.Person, to writer: EntityWriter) {
        writer.set(0, person.name)
        writer.set(1, person.age)
        writer.set(4, person.department)
        if let notes = person.notes { notes.withUnsafeBytes { writer.set(6, bytes: $0) } }
        writer.endRow()
    }
}
