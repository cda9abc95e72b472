import BenchSupport
import YCSBLoad

/// What one child process does: fills a store, or runs a workload.
struct Job {
    private static let warmingShare = 0.25

    private let contestant: Contestant
    private let folder: Folder
    /// Nil for filling.
    private let workload: YCSBWorkload?
    private let threads: Int
    private let seconds: Double
    private let recordCount: Int

    /// - Parameter arguments: contestant, folder, workload or `fill`, threads, seconds, records.
    init(_ arguments: [String]) throws {
        guard arguments.count == 6, let contestant = Contestant(rawValue: arguments[0]),
            let threads = Int(arguments[3]), let seconds = Double(arguments[4]), let count = Int(arguments[5])
        else { throw BenchFailure("a job takes contestant, folder, workload, threads, seconds and records") }
        self.contestant = contestant
        folder = Folder(arguments[1])
        workload = YCSBWorkload(rawValue: arguments[2])
        (self.threads, self.seconds, recordCount) = (threads, seconds, count)
    }

    func run() throws {
        let emitter = Emitter(peer: contestant.rawValue)
        guard let workload else { return try fill(emitter) }
        let store = try contestant.open(in: folder)
        let runner = try YCSBRunner(store)
        if workload.writes { settleDisks() }
        _ = try runner.run(workload, threads: threads, seconds: seconds * Self.warmingShare)
        let result = try runner.run(workload, threads: threads, seconds: seconds)
        let found = try store.recordCount()
        guard found == runner.expectedCount else {
            throw BenchFailure("\(found) records instead of \(runner.expectedCount)")
        }
        try store.close()
        let line = "\(workload.rawValue)-\(threads)"
        emitter.emit(line, "operations_per_s", result.operationsPerSecond, "operations/s")
        emitter.emit(line, "read_p50", result.readMicroseconds(50), "us")
        emitter.emit(line, "read_p99", result.readMicroseconds(99), "us")
        guard workload.writes else { return }
        emitter.emit(line, "write_p50", result.writeMicroseconds(50), "us")
        emitter.emit(line, "write_p99", result.writeMicroseconds(99), "us")
    }

    private func fill(_ emitter: Emitter) throws {
        let filled = try contestant.open(in: folder, toFill: true)
        try filled.fill(recordCount)
        try filled.close()
        let store = try contestant.open(in: folder)
        let digest = try YCSBAgreement.digest(store.makeClient(), recordCount: recordCount)
        try store.close()
        emitter.emit("fill", "check", exactly: digest, "digest")
    }
}
