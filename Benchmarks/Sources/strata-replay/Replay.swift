import StrataIO
import StrataLog
import SystemPackage

/// Measures reading the past: the history from its beginning, states of earlier transactions, the difference of two
/// states. Over a store in memory, so that the disk plays no part.
///
///     strata-replay [CHANGES-A-TRANSACTION:UPDATES]...     (1000:1000000 10:1000000 1:200000)
@main
struct Replay {
    private static let objectCount = 100_000
    private static let entity: UInt16 = 1

    private let store: LogStore
    private let perTransaction: Int
    private let updateCount: Int
    private var seed: UInt64 = 88_172_645_463_325_252

    static func main() throws {
        var jobs = CommandLine.arguments.dropFirst().compactMap { argument -> (Int, Int)? in
            let numbers = argument.split(separator: ":").compactMap { Int($0) }
            return numbers.count == 2 && numbers.allSatisfy { $0 > 0 } ? (numbers[0], numbers[1]) : nil
        }
        if jobs.isEmpty { jobs = [(1_000, 1_000_000), (10, 1_000_000), (1, 200_000)] }
        for (perTransaction, updates) in jobs {
            var replay = try Replay(perTransaction: perTransaction, updateCount: updates)
            try replay.update()
            try replay.readHistory()
            try replay.readPast()
            try replay.compare()
        }
    }

    private init(perTransaction: Int, updateCount: Int) throws {
        self.perTransaction = perTransaction
        self.updateCount = updateCount
        let person = EntityLayout(
            id: Self.entity, rootID: Self.entity, name: "Person",
            slots: [
                SlotLayout(.string), SlotLayout(.int64), SlotLayout(.double), SlotLayout(.reference, postingsID: 1),
            ])
        let team = EntityLayout(id: 2, rootID: 2, name: "Team", slots: [SlotLayout(.string)])
        var options = LogOptions()
        options.durability = .os
        // Replaced rows stay, so that every past state can be opened.
        options.retention = LogRetention(rowsFloor: 0)
        store = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: options, schema: Schema(entities: [person, team]))
        let first = try store.allocateKeys(root: Self.entity, count: Self.objectCount)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: Self.entity)
        for index in 0..<Self.objectCount {
            writer.beginInsert(key: first + UInt64(index))
            writer.set(0, "name \(index)")
            writer.set(1, Int64(index))
            writer.set(2, Double(index))
            writer.set(3, ObjectRef(entity: 2, key: UInt64(index % 100 + 1)))
            writer.endRow()
        }
        _ = try store.commit(transaction)
    }

    private mutating func random() -> UInt64 {
        seed ^= seed << 13
        seed ^= seed >> 7
        seed ^= seed << 17
        return seed
    }

    private mutating func update() throws {
        var changed = SlotSet()
        changed.insert(1)
        for _ in 0..<updateCount / perTransaction {
            let snapshot = store.snapshot
            let transaction = store.makeTransaction()
            transaction.author = "bench"
            let writer = transaction.writer(for: Self.entity)
            var seen: Set<UInt64> = []
            while seen.count < perTransaction {
                let key = random() % UInt64(Self.objectCount) + 1
                guard seen.insert(key).inserted,
                    let row = try snapshot.row(ObjectRef(entity: Self.entity, key: key))
                else { continue }
                try writer.beginUpdate(key: key, replacing: row.version, changed: changed)
                for slot in [0, 2, 3] { try writer.copy(slot, from: row, slot: slot) }
                writer.set(1, Int64(truncatingIfNeeded: random()))
                writer.endRow()
            }
            _ = try store.commit(transaction)
        }
    }

    private func readHistory() throws {
        var changes = 0
        let seconds = try timed {
            var reader = try store.history(after: 1)
            while let transaction = try reader.next() { changes += transaction.changeCount }
        }
        report("history", "changes_per_s", Double(changes) / seconds)
    }

    private func readPast() throws {
        let newest = store.snapshot.sequence
        for back in [1, 10, 100, 1_000, newest - 1] where back < newest {
            var past: Snapshot?
            let seconds = try timed { past = try store.snapshot(at: newest - back) }
            report("past", "open_ms_\(back)_back", seconds * 1e3)
            let reading = try timed {
                for key in 1...UInt64(1_000) { _ = try past?.row(ObjectRef(entity: Self.entity, key: key)) }
            }
            report("past", "read_us_per_row_\(back)_back", reading * 1e3)
        }
    }

    private func compare() throws {
        var count = 0
        let seconds = try timed {
            var difference = try store.difference(from: 1, to: store.snapshot.sequence)
            while try difference.next() != nil { count += 1 }
        }
        report("difference", "objects_per_s", Double(count) / seconds)
    }

    private func timed(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let duration = try clock.measure(body).components
        return Double(duration.seconds) + Double(duration.attoseconds) * 1e-18
    }

    private func report(_ workload: String, _ metric: String, _ value: Double) {
        print("\(workload)\t\(perTransaction)_per_transaction\t\(metric)\t\(value)")
    }
}
