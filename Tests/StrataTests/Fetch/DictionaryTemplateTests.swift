import Foundation
import StrataRuntime
import StrataTestKit
import Testing

@testable import Strata

/// Dictionaries of a template against those that Foundation makes.
@Suite struct DictionaryTemplateTests {
    private static func expected(_ names: [String], _ values: [AnyObject?]) -> NSDictionary {
        let made = NSMutableDictionary()
        for (name, value) in zip(names, values) where value != nil { made[name] = value }
        return made
    }

    private static func value(_ random: inout SeededGenerator) -> AnyObject? {
        switch random.below(5) {
        case 0: nil
        case 1: NSNumber(value: random.below(10))
        case 2: "a text of more than fifteen bytes \(random.below(10))" as NSString
        case 3: NSDate(timeIntervalSinceReferenceDate: Double(random.below(10)))
        default: NSDecimalNumber(value: random.below(10))
        }
    }

    /// More columns than have a bit each, and more combinations of nulls than are kept, are among them.
    @Test(arguments: [0, 1, 2, 8, 64, 65]) func dictionariesAreFoundations(_ count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let names = (0..<count).map { "name \($0)" }
        var template = DictionaryTemplate(names)
        for _ in 0..<500 {
            let values = names.map { _ in Self.value(&random) }
            let made = template.dictionary(values)
            #expect(type(of: made) == NSDictionary.self)
            #expect(made == Self.expected(names, values))
            for (name, value) in zip(names, values) { #expect((made.object(forKey: name) == nil) == (value == nil)) }
            #expect(made.object(forKey: "another name") == nil)
        }
    }

    @Test func ofTwoValuesUnderOneNameTheLastCounts() {
        var template = DictionaryTemplate(["a", "b", "a"])
        let (first, last) = (NSNumber(value: 1), NSNumber(value: 2))
        #expect(template.dictionary([first, nil, last]) == ["a": last])
        #expect(template.dictionary([first, nil, nil]) == ["a": first])
    }

    @Test func dictionariesOutliveTheirTemplateAndTurnIntoSwifts() throws {
        func make() -> NSDictionary {
            var template = DictionaryTemplate(["number", "text"])
            return template.dictionary([NSNumber(value: 7), "seven" as NSString])
        }
        let made = make()
        let swift = try #require(made as? [String: Any])
        #expect(swift["number"] as? Int == 7)
        #expect(swift["text"] as? String == "seven")
        let changed = try #require(made.mutableCopy() as? NSMutableDictionary)
        changed["number"] = 8
        #expect(made["number"] as? Int == 7)
        #expect(made.copy() as? NSDictionary == made)
    }
}
