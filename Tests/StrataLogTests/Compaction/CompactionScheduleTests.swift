import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Writers, readers, checkpointer, compactor, merger, retention and pins take turns in an order drawn from a seed, and
/// a dictionary says what the store should show.
///
/// The compactor is interrupted after each of its records; segments are as short as the schedule wants them.
@Suite struct CompactionScheduleTests {
    static let count: UInt64 = BuildMode.isDebug ? 50 : UInt64(Effort.repetitions(10_000))

    @Test func schedules() throws {
        let first = Effort.seeds(0).lowerBound
        for seed in first..<first + Self.count {
            let schedule = Schedule(seed: seed)
            do {
                try schedule.run()
            } catch {
                Issue.record("schedule \(seed): \(error)")
            }
            if let problem = schedule.problem {
                Issue.record("schedule \(seed): \(problem)")
                return
            }
        }
    }
}

/// One schedule.
private final class Schedule {
    typealias Person = StoreModel.Person

    /// A transaction that was begun and is committed later.
    private struct Begun {
        var transaction: WriteTransaction
        var changes: [ObjectRef: Person?]
        /// What it read, as of which state.
        var state: Int
    }

    private struct Pin {
        var snapshot: Snapshot
        var state: Int
    }

    private static let path = FilePath("/store")
    private let fileSystem = MemoryFileSystem()
    private let seed: UInt64
    private var generator: SeededGenerator
    private var store: LogStore
    /// Contents after each transaction.
    private var states: [[ObjectRef: Person]] = [[:]]
    private var begun: [Begun] = []
    private var pins: [Pin] = []
    private var follower: HistoryReader?
    private var followed: UInt64 = 0
    private var isCompacting = false
    private(set) var problem: String?

    init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        do {
            store = try LogStore.open(
                Self.path, in: fileSystem, options: Self.options, schema: SampleSchema.schema)
        } catch {
            fatalError("a store in memory cannot be opened: \(error)")
        }
    }

    private static var options: LogOptions {
        var options = StoreWorkload.options()
        options.checkpointTailBytes = 1 << 30
        options.compactionStepBytes = 512
        return options
    }

    private func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
        if !condition, problem == nil { problem = what() }
    }

    func run() throws {
        let steps = 20 + generator.below(40)
        for _ in 0..<steps where problem == nil { try step() }
        try checkPins()
        pins = []
        begun = []
        try check("at the end")
        let report = try store.verify()
        expect(report.problems.isEmpty, "verify: \(report.problems)")
        try reopen(withoutCheckpoints: generator.chance(0.7))
        try check("opened again")
        let again = try store.verify()
        expect(again.problems.isEmpty, "verify after opening: \(again.problems)")
    }

    private func step() throws {
        switch generator.below(isCompacting ? 10 : 16) {
        case 0, 1: try begin()
        case 2, 3, 4: try commit()
        case 5: try leaveSegment()
        case 6: try takePin()
        case 7: if !pins.isEmpty { try checkPin(pins.remove(at: generator.below(pins.count))) }
        case 8: try generator.chance(0.5) ? store.checkpoint() : follow()
        case 9: try check("in between")
        case 10: if generator.chance(0.3) { setRetention() }
        case 11: if generator.chance(0.3) { try reopen(withoutCheckpoints: generator.chance(0.5)) }
        case 12, 13: try merge()
        default: try compact()
        }
    }

    /// Merges blocks of few rows, mostly with commits between reading and writing them.
    private func merge() throws {
        guard generator.chance(0.8) else { return try store.mergeFreshRows(all: generator.chance(0.5)) }
        isCompacting = true
        defer { isCompacting = false }
        try store.mergeFreshRows { [self] in
            for _ in 0..<generator.below(4) where problem == nil { try step() }
        }
    }

    private func leaveSegment() throws {
        try store.withWriter { writer throws(StoreError) in try writer.leaveSegment() }
    }

    private func setRetention() {
        var retention = LogRetention()
        if generator.chance(0.6) { retention.historyFloor = UInt64(generator.below(states.count)) }
        if generator.chance(0.2) { retention.rowsFloor = UInt64(generator.below(states.count)) }
        store.setRetention(retention)
    }

    private func compact() throws {
        isCompacting = true
        defer { isCompacting = false }
        let stopsAfter = generator.chance(0.3) ? generator.below(6) : Int.max
        var calls = 0
        var failure: (any Error)?
        do {
            try store.compact { [self] _ in
                calls += 1
                do {
                    for _ in 0..<generator.below(3) where problem == nil { try step() }
                } catch {
                    failure = error
                }
                return calls <= stopsAfter && failure == nil
            }
        } catch {
            guard error.code == .cancelled else { throw error }
        }
        if let failure { throw failure }
    }

    // MARK: Writing

    private func person() -> Person {
        var person = Person(
            name: "name \(generator.below(100))", age: Int16(generator.below(100)), department: .null, notes: nil)
        if generator.chance(0.5) {
            person.department = ObjectRef(entity: SampleSchema.department, key: UInt64(generator.below(3) + 1))
        }
        if generator.chance(0.02) { person.notes = [UInt8](repeating: UInt8(generator.below(9)), count: 66_000) }
        return person
    }

    private func begin() throws {
        guard begun.count < 3 else { return }
        let state = states.count - 1
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        var changes: [ObjectRef: Person?] = [:]
        var untouched = states[state].keys.sorted()
        for _ in 0..<(generator.below(5) + 1) {
            let existing = untouched.isEmpty ? nil : untouched.remove(at: generator.below(untouched.count))
            switch (generator.below(4), existing) {
            case (0, let ref?), (1, let ref?):
                let row = try row(ref)
                var new = person()
                var changed = SlotSet()
                for slot in [0, 1, 4] { changed.insert(slot) }
                // The large value is taken over from the row that was read.
                new.notes = states[state][ref]?.notes
                try writer.beginUpdate(key: ref.key, replacing: row.version, changed: changed)
                write(new, to: writer, notesOf: row)
                changes[ref] = new
            case (2, let ref?):
                try transaction.delete(ref, replacing: try row(ref).version)
                changes[ref] = .some(nil)
            default:
                let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
                let new = person()
                writer.beginInsert(key: key)
                write(new, to: writer, notesOf: nil)
                changes[ObjectRef(entity: SampleSchema.person, key: key)] = new
            }
        }
        begun.append(Begun(transaction: transaction, changes: changes, state: state))
    }

    private func row(_ ref: ObjectRef) throws -> Row {
        guard let row = try store.snapshot.row(ref) else {
            throw StoreError(.corruption, "object \(ref.key) is missing")
        }
        return row
    }

    private func write(_ person: Person, to writer: EntityWriter, notesOf row: Row?) {
        writer.set(0, person.name)
        writer.set(1, person.age)
        writer.set(4, person.department)
        if let row {
            do {
                try writer.copy(6, from: row, slot: 6)
            } catch {
                expect(false, "a value cannot be taken over: \(error)")
            }
        } else if let notes = person.notes {
            notes.withUnsafeBytes { writer.set(6, bytes: $0) }
        }
        writer.endRow()
    }

    private func commit() throws {
        if begun.isEmpty { try begin() }
        let entry = begun.remove(at: generator.below(begun.count))
        let newest = states[states.count - 1]
        let read = states[entry.state]
        // An update that wrote the same values again is a change all the same.
        let isStale = entry.changes.keys.contains { ref in
            read[ref] != nil && (newest[ref] == nil || lastChange[ref, default: 0] > entry.state)
        }
        let receipt: CommitReceipt
        do {
            receipt = try store.commit(entry.transaction)
        } catch {
            guard error.code == .conflict else { throw error }
            return expect(isStale, "a conflict where nothing had changed: \(error)")
        }
        expect(!isStale, "a transaction was committed over changes that it had not seen")
        var contents = newest
        for (ref, person) in entry.changes {
            contents[ref] = person
            lastChange[ref] = states.count
        }
        states.append(contents)
        expect(receipt.sequence == UInt64(states.count - 1), "transaction \(receipt.sequence) of \(states.count - 1)")
    }

    private var lastChange: [ObjectRef: Int] = [:]

    // MARK: Reading

    private func takePin() throws {
        guard pins.count < 4 else { return }
        pins.append(Pin(snapshot: store.snapshot, state: states.count - 1))
    }

    private func checkPins() throws {
        for pin in pins { try checkPin(pin) }
    }

    private func checkPin(_ pin: Pin) throws {
        if generator.chance(0.5) { store.dropCache() }
        try check(pin.snapshot, states[pin.state], "pin of \(pin.state)")
    }

    private func check(_ hint: String) throws {
        try check(store.snapshot, states[states.count - 1], hint)
    }

    private func check(_ snapshot: Snapshot, _ expected: [ObjectRef: Person], _ hint: String) throws {
        var found: [ObjectRef: Person] = [:]
        try snapshot.forEachRun(root: SampleSchema.person) { run throws(StoreError) in
            for index in 0..<run.count {
                let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                found[ObjectRef(entity: SampleSchema.person, key: run.firstKey + UInt64(index))] =
                    try StoreModel.person(row, store)
            }
            return true
        }
        expect(found == expected, "\(hint): wrong contents")
        expect(snapshot.count(entity: SampleSchema.person) == expected.count, "\(hint): wrong count")
        for key in 1...UInt64(3) {
            let department = ObjectRef(entity: SampleSchema.department, key: key)
            let members = expected.filter { $0.value.department == department }.keys.sorted()
            let listed = try snapshot.referrers(postings: SampleSchema.postings, to: department)
            expect(listed == members, "\(hint): wrong members of \(key)")
        }
    }

    /// Follows the history: every transaction once, in order, but for those that were given up.
    private func follow() throws {
        if follower == nil {
            follower = try store.history(after: followed)
        } else {
            try follower?.advance(to: store.snapshot)
        }
        let floor = store.historyFloor
        while let transaction = try follower?.next() {
            expect(
                transaction.sequence == followed + 1 || followed < floor,
                "the history went from \(followed) to \(transaction.sequence)")
            followed = transaction.sequence
            guard Int(followed) < states.count else { return expect(false, "the history has too much") }
            let before = states[Int(followed) - 1]
            let after = states[Int(followed)]
            for group in transaction.groups {
                for key in group.keys {
                    let ref = ObjectRef(entity: group.entity, key: key)
                    let isRight =
                        switch group.kind {
                        case .insert: before[ref] == nil && after[ref] != nil
                        case .update: before[ref] != nil && after[ref] != nil
                        case .delete: before[ref] != nil && after[ref] == nil
                        }
                    expect(isRight, "the history of \(followed) has a wrong \(group.kind) of \(key)")
                }
            }
        }
        // What compaction dropped in the meantime is passed over.
        followed = max(followed, floor)
        expect(followed == UInt64(states.count - 1), "the history ends at \(followed)")
        if generator.chance(0.3) { follower = nil }
    }

    /// Closes the store, or forgets to, and opens it again.
    private func reopen(withoutCheckpoints: Bool) throws {
        try checkPins()
        pins = []
        begun = []
        follower = nil
        let retention = store.retention
        try store.close()
        if withoutCheckpoints {
            for name in try fileSystem.list(Self.path) where name.hasSuffix(".chk") {
                try fileSystem.unlink(Self.path.appending(name))
            }
        }
        store = try LogStore.open(Self.path, in: fileSystem, options: Self.options, schema: SampleSchema.schema)
        store.setRetention(retention)
    }
}
