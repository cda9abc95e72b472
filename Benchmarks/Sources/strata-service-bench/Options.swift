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
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--help" || name == "-h" {
                print(Self.usage)
                exit(0)
            }
            guard let value = rest.popFirst() else { throw BenchFailure("\(name) needs a value\n\(Self.usage)") }
            let list = value.split(separator: ",").map(String.init)
            switch name {
            case "--seconds":
                guard let number = Double(value), number > 0 else { throw BenchFailure("--seconds takes a number") }
                seconds = number
            case "--runs":
                guard let number = Int(value), number > 0 else { throw BenchFailure("--runs takes a number") }
                runs = number
            case "--dir": directory = value
            case "--only": lines = LoadLine.all.filter { line in list.contains { line.name.hasPrefix($0) } }
            case "--stores": shapes = Shape.allCases.filter { list.contains($0.rawValue) }
            case "--contestants": contestants = Contestant.allCases.filter { list.contains($0.rawValue) }
            default: throw BenchFailure("unknown option \(name)\n\(Self.usage)")
            }
        }
        guard !lines.isEmpty, !shapes.isEmpty, !contestants.isEmpty else {
            throw BenchFailure("nothing is left to measure\n\(Self.usage)")
        }
    }
}
