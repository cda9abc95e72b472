import Foundation
import Testing

/// How much the sweeps do, and whether they run at all.
enum Effort {
    /// `STRATA_SOAK=10` visits ten times as many states.
    static let factor = max(1, number("STRATA_SOAK") ?? 1)

    /// The first seed of randomised runs: another one each time, or `STRATA_SEED`.
    static let seed = number("STRATA_SEED").map(UInt64.init) ?? UInt64.random(in: 0..<1 << 40)

    /// In release, or with `STRATA_SWEEPS=1`: unoptimised, the sweeps take longer than all other tests together.
    static let runsSweeps = !isDebug || number("STRATA_SWEEPS") == 1

    static let isDebug = {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug
    }()

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
