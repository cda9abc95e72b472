import CoreData
import StrataTestKit
import Testing

/// Everything together against dictionaries: edits of every kind, saves that work and saves that fail, two contexts
/// with every merge policy, a child, undo, refreshing, batch requests, fetches, a controller, pinned generations,
/// reopening.
///
/// ``RandomRuns`` says how to repeat a failure and how to run more.
@Suite struct WholeGraphTests {
    private static let count = RandomRuns.operations(1_000)

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 20_261_122, count: BuildMode.isDebug ? 4 : 12))
    func everythingAgreesWithTheModel(_ kind: StoreKind, _ seed: UInt64) throws {
        let session = try WholeSession(kind, seed)
        for operation in 0..<Self.count {
            do { try session.step() } catch {
                session.fail("threw \(error)\n  after: \(session.log.suffix(16).joined(separator: "; "))")
            }
            guard let problem = session.problem else { continue }
            Issue.record("\(kind), seed \(seed), operation \(operation): \(problem)")
            return
        }
    }
}
