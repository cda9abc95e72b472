import BenchSupport
import Foundation
import ServiceLoad

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: strata-service-bench [--seconds SECONDS] [--runs RUNS] [--only LINE,...] [--stores single,bulk]
                                    [--contestants NAME,...] [--dir DIRECTORY]
          --seconds      of each line (default 3)
          --runs         runs, interleaved contestant by contestant (default 3)
          --only         lines, or what they begin with: \(LoadLine.all.map(\.name).joined(separator: " "))
          --stores       orders written one by one, or in bulk (default both)
          --contestants  \(Contestant.allCases.map(\.rawValue).joined(separator: " ")) (default all)
          --dir          where the stores are written; a folder below it is made and removed (default: the temporary one)
        """

    var seconds = 3.0
    var runs = 3
    var lines = LoadLine.all
    var shapes = Shape.allCases
    var contestants = Contestant.allCases
    var directory = NSTemporaryDirectory()

    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments, usage: Self.usage)
        while try reader.next() {
            switch reader.name {
            case "--seconds": seconds = try reader.seconds()
            case "--runs": runs = try reader.count()
            case "--dir": directory = reader.value
            case "--only": lines = try reader.choice(of: LoadLine.all) { $0.name.hasPrefix($1) }
            case "--stores": shapes = try reader.choice(of: Shape.allCases)
            case "--contestants": contestants = try reader.choice(of: Contestant.allCases)
            default: throw reader.unknown()
            }
        }
    }
}
