import BenchSupport
import ServiceLoad

/// What one child process does.
struct Job {
    private static let floorByteCount = 400
    private static let warmingShare = 0.25

    private let contestant: Contestant
    private let shape: Shape
    private let folder: Folder
    /// Nil for filling.
    private let line: LoadLine?
    private let seconds: Double
    private let emitter: Emitter

    /// - Parameter arguments: contestant, shape, folder, line or `fill`, seconds.
    init(arguments: [String]) throws {
        guard arguments.count == 5, let contestant = Contestant(rawValue: arguments[0]),
            let shape = Shape(rawValue: arguments[1]), let seconds = Double(arguments[4])
        else { throw BenchFailure("a job takes contestant, store, folder, line and seconds") }
        self.contestant = contestant
        self.shape = shape
        self.seconds = seconds
        folder = Folder(arguments[2])
        line = LoadLine.all.first { $0.name == arguments[3] }
        emitter = Emitter(peer: contestant.rawValue)
    }

    func run() async throws {
        guard let line else { return try fill() }
        let store = try contestant.open(in: folder)
        let runner = try LoadRunner(store)
        let before = try store.orderCount()
        if line.writes { settleDisks() }
        let result: LoadResult
        if contestant == .strataTasks {
            _ = try await runner.runAsTasks(line, seconds: seconds * Self.warmingShare)
            result = try await runner.runAsTasks(line, seconds: seconds)
        } else {
            let clients = try runner.makeClients(for: line)
            _ = try runner.runOnThreads(clients, line, seconds: seconds * Self.warmingShare)
            result = try runner.runOnThreads(clients, line, seconds: seconds)
        }
        try emit(line, result)
        let expected = before + runner.insertedCount
        let found = try store.orderCount()
        guard found == expected else { throw BenchFailure("\(found) orders instead of \(expected)") }
        try store.close()
    }

    private func fill() throws {
        let filled = try contestant.open(in: folder, toFill: true)
        try filled.fill(oneByOne: shape == .single)
        try filled.close()
        let store = try contestant.open(in: folder)
        let client = try store.makeClient()
        for (kind, digest) in try Agreement.digests(client) {
            emitter.emit(shape.rawValue, "check_\(kind.rawValue)", exactly: digest, "digest")
        }
        try store.close()
    }

    private func emit(_ line: LoadLine, _ result: LoadResult) throws {
        let workload = "\(shape.rawValue) \(line.name)"
        func emit(_ metric: Metric, _ value: Double) { emitter.emit(workload, metric.rawValue, value, metric.unit) }
        emit(.rate, result.requestsPerSecond)
        emit(.p50, result.latencies.milliseconds(50))
        emit(.p99, result.latencies.milliseconds(99))
        emit(.p999, result.latencies.milliseconds(99.9))
        emit(.longest, result.latencies.longestMilliseconds())
        emit(.resident, Double(result.memory.residentBytes) / 1_048_576)
        emit(.peak, result.memory.peakMebibytes)
        emit(.threads, Double(result.threads))
        for share in line.mix.shares where line.mix.shares.count > 1 {
            for (name, percent) in [("p50", 50.0), ("p99", 99.0)] {
                let value = result.latencies.milliseconds(percent, of: share.kind)
                emitter.emit(workload, "\(share.kind.rawValue)_\(name)", value, "ms")
            }
        }
        if line.readersBeside > 0 { emit(.besideRate, Double(result.besides.count()) / result.seconds) }
        guard line.writes, contestant == .strata else { return }
        var floor = DiskFloor()
        try floor.measure(beside: folder, byteCount: Self.floorByteCount)
        emit(.floor50, floor.median)
        emit(.floor99, floor.percentile99)
    }
}
