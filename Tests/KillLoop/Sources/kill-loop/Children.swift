import StrataIO
import StrataLog
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the processes that the loop starts do.
enum Children {
    /// Commits planned transactions until it is killed, and tells each acknowledged sequence number on standard output.
    static func commitForever(_ path: FilePath) throws {
        let store = try LogStore.open(path, in: PosixFileSystem(), options: Plan.options(), schema: Plan.schema)
        tell(store.snapshot.sequence)
        var live: [UInt64] = []
        try store.snapshot.forEachRun(root: Plan.entity) { run in
            live += (0..<UInt64(run.count)).map { run.firstKey + $0 }
            return true
        }
        while true {
            let sequence = store.snapshot.sequence + 1
            let steps = Plan.steps(sequence: sequence, live: live.count)
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: Plan.entity)
            var random = sequence &* 77
            func takeOne() throws -> (UInt64, RowVersion) {
                random = Plan.mix(random)
                let key = live.remove(at: Int(random % UInt64(live.count)))
                guard let row = try store.snapshot.row(ObjectRef(entity: Plan.entity, key: key)) else {
                    throw Finding(description: "object \(key) is gone")
                }
                return (key, row.version)
            }
            for _ in 0..<steps.deletions {
                let (key, version) = try takeOne()
                try transaction.delete(ObjectRef(entity: Plan.entity, key: key), replacing: version)
            }
            var kept: [UInt64] = []
            for _ in 0..<steps.updates {
                let (key, version) = try takeOne()
                try writer.beginUpdate(key: key, replacing: version, changed: SlotSet([0, 1, 2, 3]))
                Plan.write(key: key, sequence: sequence, to: writer)
                kept.append(key)
            }
            let first = try store.allocateKeys(root: Plan.entity, count: steps.inserts)
            for key in first..<first + UInt64(steps.inserts) {
                writer.beginInsert(key: key)
                Plan.write(key: key, sequence: sequence, to: writer)
                kept.append(key)
            }
            live += kept
            let receipt = try store.commit(transaction)
            guard receipt.sequence == sequence else {
                throw Finding(description: "commit \(sequence) was acknowledged as \(receipt.sequence)")
            }
            tell(sequence)
        }
    }

    private static func tell(_ sequence: UInt64) {
        // Eight bytes go into a pipe whole or not at all.
        let count = withUnsafeBytes(of: sequence.littleEndian) { write(1, $0.baseAddress, $0.count) }
        if count != 8 { exit(3) }
    }

    /// Opens the store read-only again and again, beside whoever writes it, and checks it each time; tells how often.
    static func readRepeatedly(_ path: FilePath, milliseconds: Int) throws {
        let end = now() + milliseconds
        var newest: UInt64 = 0
        var count: UInt64 = 0
        while now() < end {
            let store = try LogStore.open(path, in: PosixFileSystem(), options: Plan.options(.readOnly), schema: nil)
            let sequence = try Checker.check(store)
            guard sequence >= newest else {
                throw Finding(description: "a reader saw transaction \(newest), and then only \(sequence)")
            }
            newest = sequence
            count += 1
            try store.close()
        }
        tell(count)
    }

    /// Opens the store read-only and follows it until it is killed: tells the number of each transaction after
    /// `told`, once it has been looked at. Now and then compares the whole store with its history.
    static func followForever(_ path: FilePath, after told: UInt64) throws {
        var opened: LogStore?
        while opened == nil {
            do {
                opened = try LogStore.open(path, in: PosixFileSystem(), options: Plan.options(.readOnly), schema: nil)
            } catch {
                guard error.code == .notFound else { throw error }
                usleep(1000)
            }
        }
        guard let store = opened else { return }
        let arrivals = Arrivals()
        let follower = store.follow { arrivals.put($0) }
        var checker = Checker()
        var count = 0
        while true {
            let snapshot = count == 0 ? store.snapshot : try arrivals.take()
            guard snapshot.sequence >= checker.last else {
                throw Finding(description: "a follower saw transaction \(checker.last), and then \(snapshot.sequence)")
            }
            let before = checker.last
            try checker.follow(store, to: snapshot)
            if count % 64 == 0 { try checker.compare(snapshot, store) }
            for sequence in before..<checker.last where sequence + 1 > told { tell(sequence + 1) }
            count += 1
            withExtendedLifetime(follower) {}
        }
    }

    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
    }
}
