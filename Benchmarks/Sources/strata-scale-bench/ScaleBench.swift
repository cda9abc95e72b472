import BenchSupport
import Foundation

/// The same work at sizes ten and a hundred times as large.
///
/// The parent process only starts children, one for each task, contestant and size, and compares what they print.
@main
struct ScaleBench {
    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--job" {
                try ScaleJob(Array(arguments.dropFirst())).run()
            } else {
                exit(try ScaleBench(options: ScaleOptions(arguments)).run() ? 0 : 1)
            }
        } catch {
            ChildJob.announce("strata-scale-bench: \(error)")
            exit(2)
        }
    }

    let options: ScaleOptions

    /// - Returns: whether every job ran and all read the same.
    private func run() throws -> Bool {
        let base = Folder(options.directory)
            .appending("strata-scale-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try base.create()
        defer { try? base.remove() }
        var report = ScaleReport(options: options)
        for size in options.sizes {
            for contestant in options.contestants {
                // One store at a time: a hundred million rows take 15 GB.
                try base.clear()
                for task in options.tasks where task.isOffered(by: contestant) {
                    start(task, contestant, size, base, &report)
                }
            }
        }
        print(report.text)
        return report.isSound
    }

    /// The others are still worth measuring when one fails.
    private func start(
        _ task: ScaleTask, _ contestant: ScaleContestant, _ size: Int, _ folder: Folder, _ report: inout ScaleReport
    ) {
        ChildJob.announce("\(size) rows: \(task.rawValue) \(contestant.rawValue)")
        let isAfterPages = task == .updates || task == .deletes
        let index = isAfterPages && options.tasks.contains(.pages) ? "indexed" : "plain"
        do {
            let lines = try ChildJob.run([task.rawValue, contestant.rawValue, folder.path, "\(size)", index])
            for line in lines {
                ChildJob.announce(String(line))
                report.add(line)
            }
        } catch {
            report.failures.append("\(error)")
            ChildJob.announce("\(error)")
        }
    }
}
