import BenchSupport
import Foundation
import OO7Load

/// The operations of OO7 over objects, SQLite and GRDB.
///
/// The parent process only starts children, one for each operation, contestant and run, and compares what they print:
/// no contestant sees another's memory, caches or threads, and the first time of each operation is that of a store that
/// was just opened.
@main
struct OO7Bench {
    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--job" {
                try Job(Array(arguments.dropFirst())).run()
            } else {
                exit(try OO7Bench(options: Options(arguments)).run() ? 0 : 1)
            }
        } catch {
            ChildJob.announce("strata-oo7-bench: \(error)")
            exit(2)
        }
    }

    let options: Options

    /// - Returns: whether every job ran and all read the same.
    private func run() throws -> Bool {
        let base = Folder(options.directory)
            .appending("strata-oo7-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try base.create()
        defer { try? base.remove() }
        var results = OO7Report(options: options)
        let tasks = ["fill"] + options.operations.map(\.rawValue) + ["state"]
        for run in 1...options.runs {
            for size in options.sizes {
                try base.clear()
                for task in tasks {
                    for contestant in options.contestants { start(task, size, contestant, run, base, &results) }
                }
            }
        }
        print(results.text)
        return results.isSound
    }

    /// The others are still worth measuring when one fails.
    private func start(
        _ task: String, _ size: OO7Size, _ contestant: Contestant, _ run: Int, _ base: Folder,
        _ results: inout OO7Report
    ) {
        ChildJob.announce("run \(run) of \(options.runs): \(size.rawValue)-\(task) \(contestant.rawValue)")
        let folder = base.appending(contestant.rawValue)
        do {
            try folder.create()
            let lines = try ChildJob.run([contestant.rawValue, folder.path, size.rawValue, task])
            for line in lines { results.add(line) }
        } catch {
            results.failures.append("\(error)")
            ChildJob.announce("\(error)")
        }
    }
}
