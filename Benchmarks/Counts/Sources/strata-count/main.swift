import Foundation
import HotPaths

// strata-count list          the hot paths, each with how many operations a round has
// strata-count NAME ROUNDS   prepares a path and runs it so many times
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "list" {
    for path in HotPath.all { print(path.name, path.operations) }
    exit(0)
}
guard let name = arguments.first, let rounds = arguments.dropFirst().first.flatMap({ Int($0) }),
    let path = HotPath.all.first(where: { $0.name == name })
else {
    print("usage: strata-count list | strata-count NAME ROUNDS")
    exit(64)
}
let run = try path.prepare()
for _ in 0..<rounds { try run() }
