import BenchSupport
import Foundation
import ServiceLoad

/// Starts the jobs, interleaved so that a slow minute of the machine hits every contestant, and reports.
struct Supervisor {
    private let options: Options
    private let base: Folder

    init(_ options: Options) {
        self.options = options
        base = Folder(options.directory).appending("strata-service-bench-\(ProcessInfo.processInfo.processIdentifier)")
    }

    /// Returns whether every job ran and all checks agreed.
    func run() throws -> Bool {
        try base.create()
        defer { try? base.remove() }
        var results = Results()
        for run in 1...options.runs {
            for shape in options.shapes {
                try base.clear()
                for contestant in options.contestants {
                    attempt("fill", shape, contestant, run, &results)
                }
                for line in options.lines {
                    for contestant in options.contestants { attempt(line.name, shape, contestant, run, &results) }
                }
            }
        }
        print(Report(results: results, options: options).text)
        return results.disagreements.isEmpty && results.failures.isEmpty
    }

    /// The others are still worth measuring when one fails.
    private func attempt(_ line: String, _ shape: Shape, _ contestant: Contestant, _ run: Int, _ results: inout Results)
    {
        ChildJob.announce("run \(run) of \(options.runs): \(shape.rawValue) \(line) \(contestant.rawValue)")
        do {
            try start(line, shape, contestant, &results)
        } catch {
            results.failures.append("\(error)")
            ChildJob.announce("\(error)")
        }
    }

    private func start(_ line: String, _ shape: Shape, _ contestant: Contestant, _ results: inout Results) throws {
        let folder = base.appending(contestant.rawValue)
        try folder.create()
        let lines = try ChildJob.run([
            contestant.rawValue, shape.rawValue, folder.path, line, String(options.seconds),
        ])
        for line in lines { results.add(line: line) }
    }
}
