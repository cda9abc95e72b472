import BenchSupport
import Foundation
import OO7Load

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: strata-oo7-bench [--size small,medium] [--runs RUNS] [--only t1,...] [--contestants NAME,...]
                                [--dir DIRECTORY]
          --size         \(OO7Size.allCases.map(\.rawValue).joined(separator: " ")) (default small)
          --runs         runs, interleaved contestant by contestant (default 3)
          --only         \(OO7Operation.allCases.map(\.rawValue).joined(separator: " ")) (default all)
          --contestants  \(Contestant.allCases.map(\.rawValue).joined(separator: " ")) (default all)
          --dir          where the stores are written; a folder below it is made and removed (default: the temporary one)
        """

    var sizes = [OO7Size.small]
    var runs = 3
    var operations = OO7Operation.allCases
    var contestants = Contestant.allCases
    var directory = NSTemporaryDirectory()

    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments, usage: Self.usage)
        while try reader.next() {
            switch reader.name {
            case "--size": sizes = try reader.choice(of: OO7Size.allCases)
            case "--runs": runs = try reader.count()
            case "--dir": directory = reader.value
            case "--only": operations = try reader.choice(of: OO7Operation.allCases)
            case "--contestants": contestants = try reader.choice(of: Contestant.allCases)
            default: throw reader.unknown()
            }
        }
    }
}
