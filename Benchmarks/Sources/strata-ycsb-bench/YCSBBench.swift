import BenchSupport
import Foundation
import YCSBLoad

/// The core workloads of YCSB over objects, SQLite and GRDB.
///
/// The parent process only starts children, one for each line, contestant and run, and compares what they print: no
/// contestant sees another's memory, caches or threads.
@main
struct YCSBBench {
    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--job" {
                try Job(Array(arguments.dropFirst())).run()
            } else {
                exit(try YCSBBench(options: Options(arguments)).run() ? 0 : 1)
            }
        } catch {
            ChildJob.announce("strata-ycsb-bench: \(error)")
            exit(2)
        }
    }

    let options: Options

    /// - Returns: whether every job ran and all read the same.
    private func run() throws -> Bool {
        let base = Folder(options.directory)
            .appending("strata-ycsb-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try base.create()
        defer { try? base.remove() }
        var results = YCSBReport(options: options)
        for run in 1...options.runs {
            try base.clear()
            for contestant in options.contestants { start("fill", 1, contestant, run, base, &results) }
            for workload in options.workloads {
                for threads in options.threads {
                    for contestant in options.contestants {
                        start(workload.rawValue, threads, contestant, run, base, &results)
                    }
                }
            }
        }
        print(results.text)
        return results.isSound
    }

    /// The others are still worth measuring when one fails.
    private func start(
        _ workload: String, _ threads: Int, _ contestant: Contestant, _ run: Int, _ base: Folder,
        _ results: inout YCSBReport
    ) {
        ChildJob.announce("run \(run) of \(options.runs): \(workload)-\(threads) \(contestant.rawValue)")
        let folder = base.appending(contestant.rawValue)
        do {
            try folder.create()
            let lines = try ChildJob.run([
                contestant.rawValue, folder.path, workload, String(threads), String(options.seconds),
                String(options.recordCount),
            ])
            for line in lines { results.add(line) }
        } catch {
            results.failures.append("\(error)")
            ChildJob.announce("\(error)")
        }
    }
}
