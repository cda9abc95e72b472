import BenchSupport
import Foundation

/// Starts the jobs, interleaved so that a slow minute of the machine hits every contestant, and reports.
struct Supervisor {
    private let options: Options
    private let base: Folder

    init(_ options: Options) {
        self.options = options
        base = Folder(options.directory).appending("strata-db-bench-\(ProcessInfo.processInfo.processIdentifier)")
    }

    /// Returns whether every job ran and all checks agreed.
    func run() throws -> Bool {
        try base.create()
        defer { try? base.remove() }
        var results = Results()
        for run in 1...options.runs {
            try base.clear()
            var filled: Set<ContestantName> = []
            var broken: Set<ContestantName> = []
            for group in options.groups {
                for contestant in group.contestants where !broken.contains(contestant) {
                    ChildJob.announce("run \(run) of \(options.runs): \(group.rawValue) \(contestant.rawValue)")
                    do {
                        try measure(group, contestant, &results, &filled)
                    } catch {
                        // The others are still worth measuring; this one only what needs no filled store.
                        if group.needsFilledStore || group == .fillbatch { broken.insert(contestant) }
                        results.failures.append("\(error)")
                        ChildJob.announce("\(error)")
                    }
                }
            }
        }
        print(Report(results: results, options: options).text)
        return results.disagreements.isEmpty && results.failures.isEmpty
    }

    private func measure(
        _ group: Group, _ contestant: ContestantName, _ results: inout Results, _ filled: inout Set<ContestantName>
    ) throws {
        let store = base.appending(contestant.rawValue)
        switch group {
        case .fillbatch:
            try store.clear()
            try start(group, contestant, store, &results)
            filled.insert(contestant)
        case .fillsync, .overwrite, .tomany, .batch, .storm, .objects:
            let own = base.appending("\(contestant.rawValue)-\(group.rawValue)")
            try own.clear()
            try start(group, contestant, own, &results)
            try own.remove()
        case .openkilled:
            let own = base.appending("\(contestant.rawValue)-killed")
            try own.clear()
            try start(group, contestant, own, &results, expectsKill: true)
            try start(group, contestant, own, &results)
            try own.remove()
        default:
            if !filled.contains(contestant) {
                var unused = Results()
                try store.clear()
                try start(.fillbatch, contestant, store, &unused)
                filled.insert(contestant)
            }
            let times = group == .open ? 3 : 1
            for _ in 0..<times { try start(group, contestant, store, &results) }
            if group == .deletes { filled.remove(contestant) }
        }
    }

    private func start(
        _ group: Group, _ contestant: ContestantName, _ folder: Folder, _ results: inout Results,
        expectsKill: Bool = false
    ) throws {
        let rowCount = contestant == .grdb ? options.grdbRowCount : options.rowCount
        let lines = try ChildJob.run(
            [
                group.rawValue, contestant.rawValue, folder.path, String(rowCount), String(recordByteCount(results)),
            ], expectsKill: expectsKill)
        for line in lines { results.add(line: line) }
    }

    /// Bytes that the engine writes for a commit of one row: the raw logs write records of this size. 0 before it is
    /// known.
    private func recordByteCount(_ results: Results) -> Int {
        Int(results.value(.fillsync, .engine, "record_bytes") ?? 0)
    }
}
