import Foundation
import StrataTestKit
import Testing

/// Random programs over random models and data, against an oracle of dictionaries that knows nothing of the product.
///
/// - `STRATA_SEED`: the first seed instead of the usual one, to repeat a failure; only that one.
/// - `STRATA_SOAK`: how many times the usual number of seeds, with `STRATA_SEED` from that one on.
/// - `STRATA_PROFILE`: only that size of data.
@Suite(.serialized, .enabled(if: TrialChild.folderOfTask == nil)) struct RandomProgramTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static func seeds(_ profile: Profile) -> Range<UInt64> {
        let given = environment["STRATA_SEED"].flatMap { UInt64($0) }
        let factor = environment["STRATA_SOAK"].flatMap { UInt64($0) } ?? 1
        let usual: UInt64 =
            switch profile {
            case .graph: BuildMode.isDebug ? 8 : 150
            case .rows: BuildMode.isDebug ? 1 : 6
            case .bulk: BuildMode.isDebug ? 0 : 1
            }
        let first = given ?? 1
        let isOne = given != nil && environment["STRATA_SOAK"] == nil
        return first..<first + (isOne ? 1 : usual * max(factor, 1))
    }

    @Test(arguments: Profile.allCases)
    func theProductDoesWhatTheOracleSays(_ profile: Profile) throws {
        if let only = Self.environment["STRATA_PROFILE"], only != profile.rawValue { return }
        let trials = Self.seeds(profile).flatMap { seed in
            StorePlace.allCases.map { Trial(seed: seed, profile: profile, place: $0) }
        }
        let patience = Self.environment["STRATA_PATIENCE"].flatMap(Int.init) ?? 3
        let limit = BuildMode.isDebug ? 240.0 : 60.0
        let (operations, findings) = try Campaign(limit: limit, patience: patience).run(trials)
        print("random programs, \(profile): \(trials.count) programs, \(operations) operations")
        for finding in findings {
            print("seed \(finding.trial.seed), \(finding.trial.place), \(profile): \(finding.result)")
        }
        for finding in Self.distinct(findings) {
            var minimiser = Minimiser(finding.trial, finding.result, seconds: 60, limit: limit)
            try minimiser.minimise()
            Issue.record("\(minimiser.result)\n\(ProgramPrinter(minimiser.trial, minimiser.result).text)")
        }
    }

    /// One of each way to fail.
    private static func distinct(_ findings: [Campaign.Finding]) -> [Campaign.Finding] {
        findings.reduce(into: []) { kept, finding in
            if !kept.contains(where: { $0.result.resembles(finding.result) }) { kept.append(finding) }
        }
    }
}
