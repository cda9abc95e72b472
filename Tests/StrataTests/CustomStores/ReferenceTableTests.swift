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
        }
        // What a URI says.
        #expect(table.key(root: 1, text: text) == key)
        #expect(table.key(root: 1, text: text + " ") != key)
    }

    /// An integer that 64 bits have room for only without a sign was not the decimal that it equals, and a URI of
    /// either led to a new text.
    @Test(arguments: [UInt64.max, UInt64(Int64.max) + 1, UInt64(Int64.max), 7])
    func integersAndDecimalsAreOne(_ integer: UInt64) throws {
        for isDecimalFirst in [true, false] {
            let table = ReferenceTable()
            let (decimal, number) = (NSDecimalNumber(string: "\(integer)"), NSNumber(value: integer))
            let key = table.key(root: 1, isDecimalFirst ? decimal : number)
            #expect(table.key(root: 1, isDecimalFirst ? number : decimal) == key)
            #expect(table.key(root: 1, integer) == key && table.key(root: 1, Decimal(integer)) == key)
            #expect(table.key(root: 1, text: "\(integer)") == key)
            #expect(table.key(root: 1, NSNumber(value: -1)) != key)
        }
    }

    /// Whoever names objects by texts gets texts, as long as they are no integers of 64 bits.
    @Test func aTextOfDigitsIsAText() {
        let table = ReferenceTable()
        let text = "100000000000000000000"
        let key = table.key(root: 1, text: text)
        #expect(table.reference(root: 1, key: key) as? String == text)
        #expect(table.key(root: 1, text) == key)
        // Then the text is the one that is known.
        #expect(table.key(root: 1, NSDecimalNumber(string: text)) != key)
        #expect(table.key(root: 1, text: text) == key)
    }
}
