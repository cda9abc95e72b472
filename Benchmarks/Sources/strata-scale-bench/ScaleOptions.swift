import BenchSupport
import Foundation

/// What the command line asks for.
struct ScaleOptions {
    static let usage = """
        usage: strata-scale-bench [--sizes ROWS,...] [--only fill,...] [--contestants NAME,...] [--dir DIRECTORY]
          --sizes        (default 1000000,10000000,100000000)
          --only         \(ScaleTask.allCases.map(\.rawValue).joined(separator: " ")) (default all; without fill nothing works)
          --contestants  \(ScaleContestant.allCases.map(\.rawValue).joined(separator: " ")) (default all)
          --dir          where the stores are written; a folder below it is made and removed (default: the temporary one)
        """

    var sizes = [1_000_000, 10_000_000, 100_000_000]
    var tasks = ScaleTask.allCases
    var contestants = ScaleContestant.allCases
    var directory = NSTemporaryDirectory()

    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments, usage: Self.usage)
        while try reader.next() {
            switch reader.name {
            case "--sizes": sizes = try reader.counts()
            case "--only": tasks = try reader.choice(of: ScaleTask.allCases)
            case "--contestants": contestants = try reader.choice(of: ScaleContestant.allCases)
            case "--dir": directory = reader.value
            default: throw reader.unknown()
            }
        }
        guard sizes.allSatisfy({ $0 >= 100_000 }) else { throw BenchFailure("--sizes begin at 100000\n\(Self.usage)") }
        guard tasks.first == .fill else { throw BenchFailure("--only without fill\n\(Self.usage)") }
    }
}
