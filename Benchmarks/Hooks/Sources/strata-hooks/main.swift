import Foundation
import HotPaths
import Metrics
import StrataService

// strata-hooks list                   the hot paths, each with how many operations a round has
// strata-hooks none|all NAME ROUNDS   prepares a path and runs it so many times, with nobody or StrataService listening
let arguments = Array(CommandLine.arguments.dropFirst())
let request = (name: "request", operations: 200)
if arguments == ["list"] {
    for path in HotPath.all { print(path.name, path.operations) }
    print(request.name, request.operations)
    exit(0)
}
let path = HotPath.all.first { $0.name == arguments.dropFirst().first }
let isServed = arguments.dropFirst().first == request.name
guard arguments.count == 3, ["none", "all"].contains(arguments[0]), let rounds = Int(arguments[2]),
    path != nil || isServed
else {
    print("usage: strata-hooks list | strata-hooks none|all NAME ROUNDS")
    exit(64)
}
// As a service has it: metrics are counted, lines below `info` are not written, and a status is kept.
let isInstalled = arguments[0] == "all"
if isInstalled { MetricsSystem.bootstrap(StrataMetricsText()) }
let books = isInstalled || isServed ? try ServedBooks(isInstalled ? (isServed ? .all : .status) : .nothing) : nil
// The stores of the other paths belong to no service.
let telemetry = isInstalled && !isServed ? StrataTelemetry.start() : nil
if let path {
    let run = try path.prepare()
    for _ in 0..<rounds { try run() }
} else {
    for round in 0..<rounds {
        try books?.answer(round * request.operations..<(round + 1) * request.operations)
    }
}
telemetry?.stop()
try books?.end()
