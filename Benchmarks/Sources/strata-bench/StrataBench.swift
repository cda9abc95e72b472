import BenchSupport
import Foundation

/// Speaks the peers' protocol: `strata-bench engine|objects MODE DIR N` prints the lines of one mode.
@main
struct StrataBench {
    static let usage = "usage: strata-bench engine|objects load|loadi|open|opencold|delete|storm DIR N"

    static func main() {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count == 5, let variant = Variant(rawValue: arguments[1]),
                let mode = Mode(rawValue: arguments[2]), let count = Int(arguments[4]), count > 0
            else { throw BenchFailure(usage) }
            try mode.run(Session(variant: variant, folder: Folder(arguments[3]), rowCount: count))
        } catch {
            FileHandle.standardError.write(Data("strata-bench: \(error)\n".utf8))
            exit(1)
        }
    }
}
