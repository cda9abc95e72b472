import StrataRuntime
import Testing

@testable import Strata

/// What Strata assumes of Swift's runtime beyond its documentation holds with this toolchain; see docs/unsafe.md. Debug
/// builds look for themselves, so this suite runs in release, too (`make test-sweep`).
@Suite struct RuntimeAssumptionTests {
    @Test(arguments: RuntimeChecks.all.map(\.name)) func theRuntimeIsAsAssumed(_ name: String) throws {
        let check = try #require(RuntimeChecks.all.first { $0.name == name }?.check)
        #expect(check() == nil)
    }

    @Test func initialisersAreFoundByMetatypes() {
        #expect(DynamicInitialization.check() == nil)
    }

    /// A form of the lists of types that is not known leaves registration; nothing may be read from them then.
    @Test func theListsOfTypesAreKnown() {
        #expect(ClassLists.isKnown)
    }
}
