import BenchSupport
import Foundation

/// Many clients at once: a service over four entities, on Strata, SQLite and GRDB.
///
/// The parent process only starts children, one for each line, store and contestant and run, and compares what they
/// print: no contestant sees another's memory, caches or threads.
@main
struct ServiceBench {
    static func main() async {
        do {
            var arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--job" {
                arguments.removeFirst()
                try await Job(arguments: arguments).run()
            } else {
                let agreed = try Supervisor(Options(arguments)).run()
                exit(agreed ? 0 : 1)
            }
        } catch {
            FileHandle.standardError.write(Data("strata-service-bench: \(error)\n".utf8))
            exit(2)
        }
    }
}
