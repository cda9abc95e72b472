import BenchSupport
import Foundation
import YCSBLoad

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: strata-ycsb-bench [--records COUNT] [--seconds SECONDS] [--runs RUNS] [--workloads a,...] [--threads 1,...]
                                 [--contestants NAME,...] [--dir DIRECTORY]
          --records      of 1,000 bytes each (default 100,000, at least 2)
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
        var reader = OptionReader(arguments, usage: Self.usage)
        while try reader.next() {
            switch reader.name {
            case "--records": recordCount = max(2, try reader.count())
            case "--seconds": seconds = try reader.seconds()
            case "--runs": runs = try reader.count()
            case "--dir": directory = reader.value
            case "--workloads": workloads = try reader.choice(of: YCSBWorkload.order)
            case "--threads": threads = try reader.counts()
            case "--contestants": contestants = try reader.choice(of: Contestant.allCases)
            default: throw reader.unknown()
            }
        }
    }
}
