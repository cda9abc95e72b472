import CoreData
import Foundation
import Strata
import Testing

/// A format that comes again is not parsed again: the predicate is that of parsing it with its arguments.
@Suite struct FormatTemplateTests {
    /// Formats with arguments for several uses of each.
    private static var uses: [(format: String, arguments: [[Any?]])] {
        let part = NSPredicate(format: "name == 'x'")
        let sum = NSExpression(format: "age + 1")
        return [
            (
                "age == %@ AND name > %@",
                [[1, "a"], [2.5, "b"], [nil, NSNull()], [NSNumber(value: 3), Date.distantPast]]
            ),
            ("%K == %@", [["age", 1], ["owner.name", "x"], ["SELF", 2], ["", 3], [4, 5]]),
            ("%K BEGINSWITH[cd] %@ OR NOT (%K IN %@)", [["name", "é", "age", [1, 2]], ["a.b", "", "c", [Int]()]]),
            ("age BETWEEN {%@, %@}", [[1, 2], ["a", "b"], [nil, 1]]),
            ("age IN {1, %d, %f}", [[2, 3], [2.5, 4], ["x", 1]]),
            ("age == %d AND size < %f AND name == %s", [[1, 2, "x"], [2.5, 3.5, "y"], [1, 2, 3]]),
            ("name MATCHES %@", [["a.*"], ["((("]]),
            ("ANY tags.name == %@ AND ALL sizes > %d", [["x", 1], ["y", 2]]),
            ("NONE tags.name CONTAINS[c] %@", [["x"], ["y"]]),
            // What an argument is decides how these are read.
            ("%@", [[part], [sum], [1]]),
            ("%@ AND age == 1", [[part], [1]]),
            ("age == %@", [[sum], [1], [part], []]),
            ("%@.name == 'x'", [[sum], ["a"]]),
            ("owner.%K == 1", [["age"], ["name"]]),
            ("%K.%K == 1", [["owner", "age"]]),
            ("age + %@ == 3", [[1], [2]]),
            ("-%@ == age", [[1], [2]]),
            ("CAST(%@, 'NSNumber') == age", [["1"], ["2"]]),
            ("FUNCTION(%@, %@) == 1", [["a", "length"], ["b", "count"]]),
            ("SUBQUERY(items, $x, $x.age == %@).@count > %d", [[1, 2], [3, 4]]),
            ("items[%@] == %@", [[0, 1], [1, 2]]),
            ("age == $limit AND name == %@", [["a"], ["b"]]),
            ("TRUEPREDICATE AND age == %@", [[1], [2]]),
            ("age == 1 AND", [[], []]),
            ("age === %@", [[1], [2]]),
        ]
    }

    private func parsed(_ format: String, _ arguments: [Any?]) -> (NSPredicate?, String) {
        do {
            return (try NSPredicate.parse(format, arguments: arguments), "")
        } catch {
            return (nil, error.reason)
        }
    }

    @Test func isThePredicateOfParsing() {
        var spaces = 0
        for (format, uses) in Self.uses {
            for _ in 0..<3 {
                for arguments in uses {
                    // Another format, which was never seen, and says the same.
                    spaces += 1
                    let expected = parsed(format + String(repeating: " ", count: spaces), arguments)
                    let found = parsed(format, arguments)
                    #expect(found.0 == expected.0, "\(format), \(arguments)")
                    #expect(found.0?.formatString == expected.0?.formatString, "\(format), \(arguments)")
                    #expect(found.1 == expected.1, "\(format), \(arguments)")
                }
            }
        }
    }

    @Test func evaluatesWithItsOwnArguments() {
        for number in 0..<50 {
            let predicate = NSPredicate(format: "age >= %d AND name LIKE[c] %@", number, "N\(number)*")
            for age in [number - 1, number] {
                let object: [String: Any] = ["age": age, "name": "n\(number)x"]
                #expect(predicate.evaluate(with: object) == (age == number))
            }
            #expect(!predicate.evaluate(with: ["age": number, "name": "n\(number + 1)x"]))
        }
    }

    @Test func manyThreadsMakePredicatesOfOneFormat() async {
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<200).count { round in
                        let number = task * 1_000 + round
                        return !NSPredicate(format: "age == %d", number).evaluate(with: ["age": number])
                    }
                }
            }
            for await wrong in group { #expect(wrong == 0) }
        }
    }
}
