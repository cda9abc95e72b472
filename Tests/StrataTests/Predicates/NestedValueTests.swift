import CoreData
import Foundation
import Testing

/// Values that come in optionals and existentials of several kinds are what they hold.
@Suite struct NestedValueTests {
    private static func value(_ index: Int) -> Any? {
        switch index {
        case 0: "30"
        case 1: Optional<Any>.some("30") as Any
        case 2: Optional<Any>.some(Optional<Any>.some("30") as Any) as Any
        case 3: String?("30") as Any
        case 4: "30" as NSString
        case 5: (["30"] as [any Hashable & Sendable])[0] as Any
        case 6: Substring("30")
        default: (any Hashable)?("30") as Any
        }
    }

    @Test(arguments: 0..<8) func aTextIsFound(_ index: Int) {
        let value = Self.value(index)
        let object = ["name": "30"] as NSDictionary
        #expect(NSPredicate(format: "name == %@", argumentArray: [value ?? NSNull()]).evaluate(with: object))
        #expect(NSPredicate(format: "name IN %@", [value]).evaluate(with: object))
        #expect(!NSPredicate(format: "name != %@", argumentArray: [value ?? NSNull()]).evaluate(with: object))
    }

    /// A number that is declared as one of its ancestors stays what it is.
    @Test func aDecimalDeclaredAsANumberKeepsItsDigits() {
        let number: NSNumber = NSDecimalNumber(string: "0.1000000000000000000000001")
        let object = ["n": number] as NSDictionary
        #expect(NSPredicate(format: "n > %@", NSDecimalNumber(string: "0.1")).evaluate(with: object))
        let truth: NSObject = NSNumber(value: true)
        #expect(NSPredicate(format: "n == %@", argumentArray: [truth]).evaluate(with: ["n": 1] as NSDictionary))
        #expect(NSPredicate(format: "n == %@", argumentArray: [number as Any]).evaluate(with: object))
    }
}
