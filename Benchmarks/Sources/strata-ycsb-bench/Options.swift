import BenchSupport
import Foundation
import YCSBLoad

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: strata-ycsb-bench [--records COUNT] [--seconds SECONDS] [--runs RUNS] [--workloads a,...] [--threads 1,...]
                                 [--contestants NAME,...] [--dir DIRECTORY]
          --records      of 1,000 bytes each (default 100,000)
          --seconds      of each line (default 3)
          --runs         runs, interleaved contestant by contestant (default 3)
          --workloads    \(YCSBWorkload.order.map(\.rawValue).joined(separator: " ")) (default all)
          --threads      how many clients (default 1,4,16)
          --contestants  \(Contestant.allCases.map(\.rawValue).joined(separator: " ")) (default all)
          --dir          where the stores are written; a folder below it is made and removed (default: the temporary one)
        """

    var recordCount = 100_000
    var seconds = 3.0
    var runs = 3
    var workloads = YCSBWorkload.order
    var threads = [1, 4, 16]
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
            case "--records": recordCount = try Self.number(name, value)
            case "--runs": runs = try Self.number(name, value)
            case "--seconds":
                guard let number = Double(value), number > 0 else { throw BenchFailure("--seconds takes a number") }
                seconds = number
            case "--dir": directory = value
            case "--workloads": workloads = YCSBWorkload.order.filter { list.contains($0.rawValue) }
            case "--threads": threads = try list.map { try Self.number(name, $0) }
            case "--contestants": contestants = Contestant.allCases.filter { list.contains($0.rawValue) }
            default: throw BenchFailure("unknown option \(name)\n\(Self.usage)")
            }
        }
        guard !workloads.isEmpty, !threads.isEmpty, !contestants.isEmpty, recordCount > 1 else {
            throw BenchFailure("nothing is left to measure\n\(Self.usage)")
        }
    }

    private static func number(_ name: String, _ value: String) throws -> Int {
        guard let number = Int(value), number > 0 else { throw BenchFailure("\(name) takes a number from 1 on") }
        return number
    }
}
