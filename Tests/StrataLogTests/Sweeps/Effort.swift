import Foundation
import StrataTestKit
import Testing

/// How much the sweeps do, and whether they run at all.
enum Effort {
    /// `STRATA_SOAK=10` visits ten times as many states.
    static let factor = max(1, number("STRATA_SOAK") ?? 1)

    /// Neither a soak nor a search for mutants, both of which name what they take: `make test`, for one.
    static let isSample = number("STRATA_SOAK") == nil && number("STRATA_SHARE") == nil

    /// `STRATA_SHARE=4` takes a fourth of the seeds: for mutants, each of which meets the sweeps. So does a sample.
    private static let share = max(1, number("STRATA_SHARE") ?? (isSample ? 4 : 1))

    /// How many times a sweep repeats what a soak repeats so many times.
    static func repetitions(_ count: Int) -> Int { (count * factor + share - 1) / share }

    /// The first seed of randomised runs: another one each time, or `STRATA_SEED`.
    static let seed = number("STRATA_SEED").map(UInt64.init) ?? UInt64.random(in: 0..<1 << 40)

    /// The seeds of a sweep: from `STRATA_SEED` on, or from 0; those of a sample are others each day.
    static func seeds(_ count: Int) -> Range<UInt64> {
        let first = number("STRATA_SEED").map(UInt64.init) ?? (isSample ? day * 1_000 : 0)
        return first..<first + UInt64(count == 0 ? 0 : repetitions(count))
    }

    /// The places of a sweep that goes through many. A sample has one out of `step` in a row, others each day, and at
    /// no fixed distance: what happens there comes in periods of its own.
    static func places(_ all: ClosedRange<Int>, every step: Int) -> [Int] {
        guard isSample else { return Array(all) }
        var random = SeededGenerator(seed: day)
        return stride(from: all.lowerBound, through: all.upperBound, by: step).map {
            min($0 + random.below(step), all.upperBound)
        }
    }

    private static let day = UInt64(Date().timeIntervalSince1970 / 86_400)

    /// In release, or with `STRATA_SWEEPS=1`: unoptimised, the sweeps take longer than all other tests together.
    static let runsSweeps = !BuildMode.isDebug || number("STRATA_SWEEPS") == 1

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}

extension Trait where Self == ConditionTrait {
    /// A suite that visits many states; see ``Effort/runsSweeps``.
    static var sweep: Self {
        .enabled(if: Effort.runsSweeps, "sweeps run in release, or with STRATA_SWEEPS=1")
    }
}
