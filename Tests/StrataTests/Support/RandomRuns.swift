import Foundation

/// Which seeds the random suites of the object graph run with, and for how long.
///
/// - `STRATA_SEED`: the first seed instead of the usual one, to repeat a run that failed; only that one.
/// - `STRATA_SOAK`: how many times the usual number of seeds; with `STRATA_SEED`, how many from that one on.
/// - `STRATA_OPERATIONS`: the number of operations of each run.
enum RandomRuns {
    private static let environment = ProcessInfo.processInfo.environment

    static func seeds(from first: UInt64, count: Int) -> [UInt64] {
        let factor = environment["STRATA_SOAK"].flatMap(Int.init) ?? 1
        let given = environment["STRATA_SEED"].flatMap(UInt64.init)
        let total = (given == nil ? count : 1) * max(factor, 1)
        return (0..<UInt64(total)).map { (given ?? first) &+ $0 }
    }

    static func operations(_ usual: Int) -> Int {
        environment["STRATA_OPERATIONS"].flatMap(Int.init) ?? usual
    }
}
