import CoreData
import Foundation
import StrataTestKit
import Testing

/// Everything together against dictionaries: edits of every kind, saves that work and saves that fail, two contexts with
/// every merge policy, a child, undo, refreshing, batch requests, fetches, a controller, pinned generations, reopening.
///
/// To repeat a failure exactly, set SWIFT_DETERMINISTIC_HASHING, too: the order of sets comes into play.
/// `STRATA_OPERATIONS` is the number of operations of each run, `STRATA_SEED` the first seed, `STRATA_SOAK` a factor for
/// the number of runs.
@Suite struct WholeGraphTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds: [UInt64] = {
        let first = environment["STRATA_SEED"].flatMap(UInt64.init) ?? 20_261_122
        let factor = environment["STRATA_SOAK"].flatMap(UInt64.init) ?? 1
        return Array(first..<first + (environment["STRATA_SEED"] == nil ? 12 * factor : 1))
    }()
    private static let count = environment["STRATA_OPERATIONS"].flatMap(Int.init) ?? 1_000

    /// Two faults that are known and not mended, see "Known gaps" in docs/durability.md: they depend on the order of
    /// sets, so that they come and go. Everything else fails the test.
    private static func isKnown(_ problem: String) -> Bool {
        ["memberCount", "watching", "watchers"].contains {
            problem.contains("\($0) is ") || problem.contains("\($0): ")
        }
    }

    @Test(arguments: StoreKind.allCases, seeds) func everythingAgreesWithTheModel(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        let session = try WholeSession(kind, seed)
        for operation in 0..<Self.count {
            do { try session.step() } catch {
                session.fail("threw \(error)\n  after: \(session.log.suffix(16).joined(separator: "; "))")
            }
            guard let problem = session.problem else { continue }
            let text = "\(kind), seed \(seed), operation \(operation): \(problem)"
            if Self.isKnown(problem) {
                withKnownIssue("derived counts and links after conflicts", isIntermittent: true) {
                    Issue.record("\(text)")
                }
            } else {
                Issue.record("\(text)")
            }
            return
        }
    }
}
