import Foundation
import HotPaths
import Logging
import Metrics
import StrataService

// strata-hooks list                   the hot paths, each with how many operations a round has
// strata-hooks none|all NAME ROUNDS   prepares a path and runs it so many times, with nobody or StrataService listening
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments == ["list"] {
    for path in HotPath.all { print(path.name, path.operations) }
    exit(0)
}
guard arguments.count == 3, ["none", "all"].contains(arguments[0]), let rounds = Int(arguments[2]),
    let path = HotPath.all.first(where: { $0.name == arguments[1] })
else {
    print("usage: strata-hooks list | strata-hooks none|all NAME ROUNDS")
    exit(64)
}
// As a service has it: metrics are counted, lines below `info` are not written.
MetricsSystem.bootstrap(StrataMetricsText())
let telemetry = arguments[0] == "all" ? StrataTelemetry.start() : nil
let run = try path.prepare()
for _ in 0..<rounds { try run() }
telemetry?.stop()
