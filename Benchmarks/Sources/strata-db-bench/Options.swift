import BenchSupport
import Foundation

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: strata-db-bench [--n ROWS] [--runs RUNS] [--only GROUP,...] [--dir DIRECTORY] [--grdb-n ROWS]
          --n        Person rows (default 1000000)
          --runs     runs, interleaved contestant by contestant (default 3)
          --only     groups: \(Group.allCases.map(\.rawValue).joined(separator: " "))
          --dir      where the stores are written; a folder below it is made and removed (default: the temporary one)
          --grdb-n   rows for GRDB, which is slow (default 100000, at most --n)
        """

    var rowCount = 1_000_000
    var runs = 3
    var groups = Group.allCases
    var directory = NSTemporaryDirectory()
    var grdbRowCount = 100_000

    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments, usage: Self.usage)
        while try reader.next() {
            switch reader.name {
            case "--n": rowCount = try reader.count()
            case "--runs": runs = try reader.count()
            case "--grdb-n": grdbRowCount = try reader.count()
            case "--dir": directory = reader.value
            case "--only": groups = try reader.choice(of: Group.allCases)
            default: throw reader.unknown()
            }
        }
        grdbRowCount = min(grdbRowCount, rowCount)
    }
}
