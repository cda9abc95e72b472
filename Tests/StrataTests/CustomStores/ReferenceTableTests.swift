import Foundation
import Testing

@testable import Strata

@Suite struct ReferenceTableTests {
    /// Foundation's hash of a decimal ended in a stack overflow: a custom store could not name objects by decimals.
    @Test(arguments: ["7", "-7", "0", "12.5", "0.1", "100000000000000000000", "-3.0000000001"])
    func decimalsNameObjectsByTheirValue(_ text: String) throws {
        let table = ReferenceTable()
        let decimal = try #require(Decimal(string: text))
        let key = table.key(root: 1, NSDecimalNumber(string: text))
        #expect(table.key(root: 1, decimal) == key)
        #expect(table.key(root: 1, NSDecimalNumber(decimal: decimal)) == key)
        #expect(table.key(root: 1, NSDecimalNumber(decimal: decimal + 1)) != key)
        #expect(table.reference(root: 1, key: key) as? NSDecimalNumber == NSDecimalNumber(decimal: decimal))
        if let integer = Int64(text) {
            #expect(table.key(root: 1, integer) == key && table.key(root: 1, NSNumber(value: integer)) == key)
            #expect(table.key(root: 1, text: text) == key)
        }
    }
}
