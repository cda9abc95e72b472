import Testing

@testable import Strata

/// How the program says what happens to calls from the wrong queue when it is started.
@Suite struct ConcurrencySettingTests {
    private static func name(_ mode: ConcurrencyDebugging) -> String {
        switch mode {
        case .off: "off"
        case .warn: "warn"
        case .stop: "stop"
        case .report: "report"
        }
    }

    @Test(
        arguments: [
            (["app", "-com.apple.CoreData.ConcurrencyDebug", "1"], [:], "stop"),
            (["app", "-com.apple.CoreData.ConcurrencyDebug", "3"], [:], "stop"),
            (["app", "-com.apple.CoreData.ConcurrencyDebug", "0"], ["STRATA_CONCURRENCY_DEBUG": "1"], "off"),
            (["app", "-com.apple.CoreData.ConcurrencyDebug"], ["STRATA_CONCURRENCY_DEBUG": "off"], "off"),
            (["app"], ["STRATA_CONCURRENCY_DEBUG": "YES"], "stop"),
            (["app"], ["STRATA_CONCURRENCY_DEBUG": "warn"], "warn"),
        ] as [([String], [String: String], String)])
    func argumentsComeBeforeTheEnvironment(
        _ arguments: [String], _ environment: [String: String], _ expected: String
    ) {
        #expect(
            Self.name(ConcurrencyDebugging.initial(arguments: arguments, environment: environment)) == expected)
    }

    @Test func theBuildDecidesWhenNobodySays() {
        let mode = Self.name(
            ConcurrencyDebugging.initial(arguments: ["app", "1"], environment: ["STRATA_CONCURRENCY_DEBUG": "?"]))
        #if DEBUG
        #expect(mode == "warn")
        #else
        #expect(mode == "off")
        #endif
    }
}
