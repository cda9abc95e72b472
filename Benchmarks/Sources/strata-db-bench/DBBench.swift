import BenchSupport
import Foundation

/// Runs that need nothing from outside the repository, named as db_bench names them where it has them.
///
/// The parent process only starts children, one for each group and contestant and run, and compares what they print:
/// no contestant sees another's memory, caches or threads.
@main
struct DBBench {
    static func main() {
        do {
            var arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--job" {
                arguments.removeFirst()
                try Job(arguments: arguments).run()
            } else {
                let options = try Options(arguments)
                let agreed = try Supervisor(options).run()
                exit(agreed ? 0 : 1)
            }
        } catch {
            FileHandle.standardError.write(Data("strata-db-bench: \(error)\n".utf8))
            exit(2)
        }
    }
}
