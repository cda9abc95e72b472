import Foundation
import Testing

/// The three ways of importing this module make the same predicates.
@Suite struct PredicateImportTests {
    @Test func importStylesAgree() {
        for predicates in [
            PredicateImportFoundationAndStrata.make(), PredicateImportCoreData.make(), PredicateImportBoth.make(),
        ] {
            #expect(predicates[0].evaluate(with: ["age": 3]))
            #expect(predicates[1].evaluate(with: ["age": 3]))
            #expect(!predicates[1].evaluate(with: ["age": 4]))
        }
    }
}
