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
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--help" || name == "-h" {
                print(Self.usage)
                exit(0)
            }
            guard let value = rest.popFirst() else { throw BenchFailure("\(name) needs a value\n\(Self.usage)") }
            switch name {
            case "--n": rowCount = try Self.positive(name, value)
            case "--runs": runs = try Self.positive(name, value)
            case "--grdb-n": grdbRowCount = try Self.positive(name, value)
            case "--dir": directory = value
            case "--only": groups = try Self.groups(value)
            default: throw BenchFailure("unknown option \(name)\n\(Self.usage)")
            }
        }
        grdbRowCount = min(grdbRowCount, rowCount)
    }

    private static func positive(_ name: String, _ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw BenchFailure("\(name) takes a number, not \(text)") }
        return number
    }

    private static func groups(_ list: String) throws -> [Group] {
        let asked = try list.split(separator: ",").map { name in
            guard let group = Group(rawValue: String(name)) else {
                throw BenchFailure("no group is called \(name)\n\(usage)")
            }
            return group
        }
        return Group.allCases.filter(asked.contains)
    }
}
