import BenchSupport
import DataSet
import ObjectPeople

/// What one child process does.
struct ScaleJob {
    /// Rows that are made before the clock runs.
    private static let rowsAtOnce = 1_000_000
    private static let openings = 5
    private static let reads = 1_000_000
    private static let readsBefore = 200_000
    private static let updates = 300_000
    private static let deletions = 100_000

    private let task: ScaleTask
    private let contestant: ScaleContestant
    private let folder: Folder
    private let rowCount: Int
    /// Whether pages were read before: then the index is kept.
    private let isIndexed: Bool
    private let emitter: Emitter

    /// - Parameter arguments: task, contestant, folder, rows, and whether there is an index.
    init(_ arguments: [String]) throws {
        guard arguments.count == 5, let task = ScaleTask(rawValue: arguments[0]),
            let contestant = ScaleContestant(rawValue: arguments[1]), let rowCount = Int(arguments[3])
        else { throw BenchFailure("a job takes task, contestant, folder, rows and whether there is an index") }
        self.task = task
        self.contestant = contestant
        folder = Folder(arguments[2])
        self.rowCount = rowCount
        isIndexed = arguments[4] == "indexed"
        emitter = Emitter(peer: contestant.rawValue)
    }

    private func emit(_ metric: String, _ value: Double) { emitter.emit("\(rowCount)", metric, value, "") }

    private func check(_ metric: String, _ value: UInt64) {
        emitter.emit("\(rowCount)", "check_\(metric)", exactly: value, "digest")
    }

    private func store() throws -> any Contestant {
        try contestant.open(in: folder, rowCount: rowCount, isIndexed: isIndexed)
    }

    func run() throws {
        switch task {
        case .fill: try fill()
        case .open: try open()
        case .points: try readPoints()
        case .scans: try scan()
        case .pages: try readPages()
        case .updates: try update()
        case .deletes: try delete()
        }
        emit("\(task.rawValue)_peak_mib", MemoryUse().peakMebibytes)
    }

    // MARK: Tasks

    /// 10,000 rows a durable transaction.
    private func fill() throws {
        let people = try store()
        let before = WriteCounters(devicesOf: folder.path)
        var (seconds, payload) = (0.0, 0)
        for group in Workload.batches(rowCount, of: Self.rowsAtOnce) {
            let rows = group.map { PersonRow(id: UInt64($0) + 1) }
            let packed = PackedPeople(rows)
            payload += packed.byteCount
            settleDisks()
            seconds += try timed {
                if let graph = people as? PeopleGraph {
                    try graph.insertInBatches(rows, packed: packed)
                } else {
                    for batch in Workload.batches(rows.count) { try people.insert(rows[batch], packed: packed) }
                }
            }.seconds
        }
        let after = WriteCounters(devicesOf: folder.path)
        emit("fill_rows_per_s", Double(rowCount) / seconds)
        emit("fill_write_amp", Double(after.systemCallBytes - before.systemCallBytes) / Double(payload))
        emit("close_s", try timed { try people.close() }.seconds)
        emit("bytes_per_row", Double(folder.allocatedBytes) / Double(rowCount))
    }

    private func open() throws {
        var times: [Double] = []
        let expected = PersonRow(id: 1).digest
        for _ in 0..<Self.openings {
            let (seconds, people) = try timed {
                let people = try store()
                let manner: ReadManner = contestant == .objects ? .strings : .allFields
                guard try people.read([1], manner) == expected else { throw BenchFailure("the first row is wrong") }
                return people
            }
            times.append(seconds * 1e3)
            try people.close()
        }
        // What a program that opens one store waits for, and what opening takes once nothing is used for the first
        // time.
        emit("open_first_ms", times[0])
        emit("open_ms", median(times))
    }

    private func readPoints() throws {
        let people = try store()
        var random = SplitMix64(7)
        func ids(_ count: Int) -> [UInt64] { (0..<count).map { _ in random.next() % UInt64(rowCount) + 1 } }
        _ = try people.read(ids(Self.readsBefore), .allFields)
        let wanted = ids(Self.reads)
        let (seconds, digest) = try timed { try people.read(wanted, .allFields) }
        emit("points_per_s", Double(Self.reads) / seconds)
        check("points", digest ?? 0)
        try people.close()
    }

    private func scan() throws {
        let people = try store()
        for query in [ScanQuery.predicate, .groupSum] {
            for moment in ["first", "again"] {
                let (seconds, digest) = try timed { try people.scan(query) }
                emit("\(query.rawValue)_\(moment)_rows_per_s", Double(rowCount) / seconds)
                check(query.rawValue, digest ?? 0)
            }
        }
        try people.close()
    }

    /// Makes the index, and scrolls.
    private func readPages() throws {
        guard let people = try contestant.open(in: folder, rowCount: rowCount, isIndexed: false) as? any IndexedReads
        else { throw BenchFailure("\(contestant.rawValue) has no index") }
        emit("index_rows_per_s", Double(rowCount) / (try timed { try people.buildIndex() }.seconds))
        let starts = PageOrder.cursors.starts(Workload.pages, rowCount: rowCount)
        let (seconds, digest) = try timed { try people.readPages(starts, idsOnly: false) }
        emit("page_rows_per_s", Double(Workload.pages * Workload.pageCount) / seconds)
        check("pages", digest)
        try people.close()
    }

    /// Evenly over all rows, 1,000 a durable transaction.
    private func update() throws {
        guard let people = try store() as? any ScoreStore else {
            throw BenchFailure("\(contestant.rawValue) changes no rows")
        }
        var random = SplitMix64(21)
        var seconds = 0.0
        settleDisks()
        for _ in 0..<Self.updates / Workload.stormUpdatesPerCommit {
            let changes = (0..<Workload.stormUpdatesPerCommit).map { _ in
                let bits = random.next()
                return (id: updatedID(bits, of: rowCount), score: newScore(bits))
            }
            seconds += try timed { try people.updateScores(changes) }.seconds
        }
        emit("updates_per_s", Double(Self.updates) / seconds)
        check("updates", try people.scan(.groupSum) ?? 0)
        try people.close()
    }

    /// Evenly over all rows, 10,000 a durable transaction.
    private func delete() throws {
        let people = try store()
        let step = UInt64(rowCount / Self.deletions)
        let ids = (0..<UInt64(Self.deletions)).map { $0 * step + 1 }
        settleDisks()
        let (seconds, _) = try timed {
            for batch in Workload.batches(ids.count) { try people.delete(Array(ids[batch])) }
        }
        emit("deletes_per_s", Double(ids.count) / seconds)
        check("deletes", try people.scan(.groupSum) ?? 0)
        try people.close()
    }
}
