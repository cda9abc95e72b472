import Foundation
import Testing

@testable import Strata

/// How predicate strings are read and printed.
@Suite struct PredicateParsingTests {
    struct Printed: CustomTestStringConvertible, Sendable {
        let format: String
        let text: String

        init(_ format: String, _ text: String) {
            self.format = format
            self.text = text
        }

        var testDescription: String { format }
    }

    @Test(arguments: [
        Printed("a = 1 and b = 2 or c = 3", "(a == 1 AND b == 2) OR c == 3"),
        Printed("a = 1 or b = 2 and c = 3", "a == 1 OR (b == 2 AND c == 3)"),
        Printed("a=1&&b=2&&c=3", "a == 1 AND b == 2 AND c == 3"),
        Printed("a=1||b=2||c=3", "a == 1 OR b == 2 OR c == 3"),
        Printed("(a=1 and b=2) and c=3", "(a == 1 AND b == 2) AND c == 3"),
        Printed("not a=1 and b=2", "(NOT a == 1) AND b == 2"),
        Printed("!a=1", "NOT a == 1"), Printed("NOT (a=1 or b=2)", "NOT (a == 1 OR b == 2)"),
        Printed("not not a = 1", "NOT NOT a == 1"), Printed("((((a))) = ((1)))", "a == 1"),
        Printed("none a.b = 1", "NOT ANY a.b == 1"), Printed("some a.b = 1", "ANY a.b == 1"),
        Printed("all a.b in {1,2}", "ALL a.b IN {1, 2}"), Printed("a == YES", "a == 1"),
        Printed("a == false", "a == 0"),
        Printed("a <> null", "a != nil"), Printed("a =< 1", "a <= 1"), Printed("a => 1", "a >= 1"),
        Printed("a contains[cd] 'x'", "a CONTAINS[cd] \"x\""), Printed("a ==[CD]'x'", "a ==[cd] \"x\""),
        Printed("1 + 2 * 3 == 7", "(1 + (2 * 3)) == 7"), Printed("1 - 2 - 3 == 0", "((1 - 2) - 3) == 0"),
        Printed("2 ** 3 ** 2 == 64", "((2 ** 3) ** 2) == 64"), Printed("-2 ** 2 == 4", "(-2 ** 2) == 4"),
        Printed("2 * 3 ** 2 == 18", "(2 * (3 ** 2)) == 18"), Printed("a & 1 == 0", "(a & 1) == 0"),
        Printed("a | b & c == 0", "(a | (b & c)) == 0"), Printed("a << 1 + 2 == 0", "(a << (1 + 2)) == 0"),
        Printed("a + -b == 1", "(a + (0 - b)) == 1"), Printed("a - -1 == 1", "(a - -1) == 1"),
        Printed("#size > 1", "#size > 1"), Printed("size > 1", "#size > 1"), Printed("#and.or = 1", "#and.or == 1"),
        Printed("self.a = 1", "a == 1"), Printed("self = 1", "SELF == 1"), Printed("a.@COUNT = 1", "a.@COUNT == 1"),
        Printed("$a.b = $c", "$a.b == $c"), Printed("a[first].b = 1", "a[FIRST].b == 1"),
        Printed("a['x'] = 1", "a[\"x\"] == 1"),
        Printed("SUM({1,2}) = 3", "sum({1, 2}) == 3"), Printed("now() > a", "now() > a"),
        Printed("ternary(a=1,2,3) = 2", "TERNARY(a == 1, 2, 3) == 2"),
        Printed("subquery(a,$x,$x.b=1).@count>0", "SUBQUERY(a, $x, $x.b == 1).@count > 0"),
        Printed("cast(a,'NSDate') > 1", "CAST(a, \"NSDate\") > 1"),
        Printed("a < CAST(616870800.5, \"NSDate\")", "a < CAST(616870800.500000, \"NSDate\")"),
        Printed("function(a,'b:',1) = 2", "FUNCTION(a, \"b:\", 1) == 2"), Printed("a = 'it\\'s'", "a == \"it's\""),
        Printed("a = \"q\\\"\\n\\u00e9\\x41\"", "a == \"q\\\"\\né" + "A\""), Printed("a = '%@ %%'", "a == \"%@ %%\""),
        Printed("TRUEPREDICATE and falsepredicate", "TRUEPREDICATE AND FALSEPREDICATE"),
        Printed("a between{1,2}", "a BETWEEN {1, 2}"), Printed("a = .5", "a == 0.5"), Printed("a = 1e3", "a == 1000.0"),
        Printed("größe = 1", "größe == 1"), Printed("a union b = c", "(a UNION b) == c"),
        Printed("fetch(a, b, yes) = 1", "FETCH(a, b, YES) == 1"), Printed("any x=1 and y=2", "ANY x == 1 AND y == 2"),
        Printed("FUNCTION(SELF, 'valueForKeyPath:', 'a b') = 1", "FUNCTION(SELF, \"valueForKeyPath:\", \"a b\") == 1"),
    ])
    func printsAsApple(_ test: Printed) throws {
        let predicate = try NSPredicate.parse(test.format)
        #expect(predicate.formatString == test.text)
        #expect(predicate.description == test.text || predicate is NSCompoundPredicate == false)
        #expect(try NSPredicate.parse(test.text) == predicate)
    }

    struct Faulty: CustomTestStringConvertible, Sendable {
        let format: String
        let position: Int

        init(_ format: String, _ position: Int) {
            self.format = format
            self.position = position
        }

        var testDescription: String { format }
    }

    @Test(arguments: [
        Faulty("", 0), Faulty("a", 1), Faulty("a ==", 4), Faulty("== 1", 0), Faulty("a == 1 b", 7),
        Faulty("(a == 1", 7),
        Faulty("a == 'x", 5), Faulty("a == 1 AND", 10), Faulty("a IN {1, 2", 10), Faulty("a ==[x] 1", 5),
        Faulty("a == %q", 5),
        Faulty("a == %@", 5), Faulty("a == $", 6), Faulty("a. == 1", 3), Faulty("a == 12x", 7), Faulty("a < b < c", 0),
        Faulty("ANY a", 4), Faulty("ANY (a = 1 AND b = 2)", 4), Faulty("a == NOT b", 10), Faulty("é == ü ~ ö", 7),
        Faulty("SUBQUERY(a, x, TRUEPREDICATE).@count = 1", 12), Faulty("a = '\\uD800'", 7),
        Faulty("a == @", 6), Faulty("a ; b", 2),
        Faulty("a = 1e999", 4), Faulty("1", 1), Faulty("CAST(1) = 2", 0), Faulty("a = 0x", 4),
        Faulty("TRUEPREDICATE = 1", 0),
    ])
    func faultyStringsGivePositionAndReason(_ test: Faulty) throws {
        let error = try #require(throws: PredicateFormatError.self) { try NSPredicate.parse(test.format) }
        #expect(error.position == test.position, "\(error)")
        #expect(!error.reason.isEmpty)
    }

    @Test func argumentsFillPlaceholders() throws {
        let predicate = NSPredicate(format: "%K == %@ AND %K.%K < %ld AND x > %.2f", "a", "it's", "b", "c", 3, 1.5)
        #expect(predicate.formatString == "a == \"it's\" AND b.c < 3 AND x > 1.5")
        #expect(NSPredicate(format: "a IN %@", argumentArray: [[1, 2]]).formatString == "a IN {1, 2}")
        #expect(NSPredicate(format: "a == %d", true).formatString == "a == 1")
        let spaced = NSPredicate(format: "%K == nil", "a b")
        #expect(spaced.formatString == "FUNCTION(SELF, \"valueForKeyPath:\", \"a b\") == nil")
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == %d", arguments: ["x"]) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("%K == 1", arguments: [1]) }
    }

    @Test func constantsPrintAndReadBack() throws {
        let constants: [Any?] = [
            nil, 1, -5, 1.5, -0.25, 1e300, true, "x", "\u{1}\"\\", Date(timeIntervalSinceReferenceDate: 0.1), UUID(),
            Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_789), Data([1, 2, 3]),
            URL(string: "https://a.b/c?d"), Decimal(string: "9.99"), Decimal(string: "1234567890.12345678901234567"),
            [1, 2], Set(["a", "b"]), [[1], [2]],
            Double.infinity, Int.min, Int.max, Float(0.5), NSNumber(value: false), NSOrderedSet(array: [3, 1]),
        ]
        for constant in constants {
            let predicate = NSPredicate(format: "a == %@", constant)
            let copy = try NSPredicate.parse(predicate.formatString)
            #expect(copy == predicate, "\(predicate.formatString)")
            #expect(copy.hash == predicate.hash, "\(predicate.formatString)")
        }
    }

    @Test func depthIsLimited() throws {
        let limit = PredicateFormatError.maximumDepth
        func nested(_ count: Int) -> String {
            String(repeating: "(", count: count) + "a == 1" + String(repeating: ")", count: count)
        }
        _ = try NSPredicate.parse(nested(limit))
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(nested(limit + 1)) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(nested(200_000)) }
        let negations = String(repeating: "NOT ", count: 9999) + "a=1"
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(negations) }
        let chain = Array(repeating: "1", count: limit - 1).joined(separator: "+")
        _ = try NSPredicate.parse(chain + " == a")
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(chain + "+1 == a") }
        let indexes = "a" + String(repeating: "[0]", count: 9999) + "=1"
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(indexes) }
    }

    @Test func lengthIsLimited() throws {
        let limit = PredicateFormatError.maximumLengthBytes
        let start = "a == '"
        let text = start + String(repeating: "x", count: limit - start.count - 1) + "'"
        _ = try NSPredicate.parse(text)
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(text + " ") }
    }

    @Test func longChainsAreFlatAndQuick() throws {
        let text = Array(repeating: "a == 1", count: 20_000).joined(separator: " OR ")
        let compound = try #require(try NSPredicate.parse(text) as? NSCompoundPredicate)
        #expect(compound.subpredicates.count == 20_000)
        let list = "a IN {" + (0..<50_000).map(String.init).joined(separator: ",") + "}"
        #expect(try NSPredicate.parse(list).evaluate(with: ["a": 49_999]))
    }

    @Test func equalityCopyAndHash() {
        let first = NSPredicate(format: "a == 1 AND ANY b.c LIKE[c] 'x'")
        let second = NSPredicate(format: "a = 1.0 && SOME b.c like[c] \"x\"")
        #expect(first == second)
        #expect(first.hash == second.hash)
        #expect(first.copy() as? NSPredicate == first)
        #expect(first != NSPredicate(format: "a == 1 AND ANY b.c LIKE 'x'"))
        #expect(first != NSPredicate(format: "a == 1 OR ANY b.c LIKE[c] 'x'"))
        #expect(NSPredicate(format: "a == nil") != NSPredicate(format: "a == 0"))
    }

    @Test func treesCanBeWalked() throws {
        let predicate = try #require(NSPredicate(format: "ANY a.b >=[cd] sum($x) + 1") as? Strata.NSComparisonPredicate)
        #expect(predicate.comparisonPredicateModifier == .any)
        #expect(predicate.predicateOperatorType == .greaterThanOrEqualTo)
        #expect(predicate.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(predicate.leftExpression.expressionType == .keyPath)
        #expect(predicate.leftExpression.keyPath == "a.b")
        #expect(predicate.rightExpression.function == "add:to:")
        let arguments = try #require(predicate.rightExpression.arguments)
        #expect(arguments[0].function == "sum:")
        #expect(arguments[0].arguments?.first?.variable == "x")
        #expect(arguments[1].constantValue as? Int == 1)
        let built = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "a.b"),
            rightExpression: NSExpression(
                forFunction: "add:to:",
                arguments: [NSExpression(forFunction: "sum:", arguments: [NSExpression(forVariable: "x")]), 1]),
            modifier: .any, type: .greaterThanOrEqualTo, options: [.caseInsensitive, .diacriticInsensitive])
        #expect(built == predicate)
        #expect(built.predicateFormat == "ANY a.b >=[cd] (sum($x) + 1)")
    }

    @Test func expressionsAreEvaluated() throws {
        let sum = try NSExpression.parse("4 + 5 - 2**3")
        #expect(sum.expressionValue(with: nil, context: nil) as? Int == 1)
        #expect(NSExpression(format: "7 / 2").expressionValue(with: nil, context: nil) as? Int == 3)
        #expect(NSExpression(format: "7 / 2.0").expressionValue(with: nil, context: nil) as? Double == 3.5)
        #expect(NSExpression(format: "7 / 0").expressionValue(with: nil, context: nil) == nil)
        let overflow = NSExpression(format: "9223372036854775807 + 1").expressionValue(with: nil, context: nil)
        #expect(overflow as? Double == 0x1p63)
        let context = NSMutableDictionary(dictionary: ["x": 5])
        #expect(NSExpression(format: "$x * %d", 2).expressionValue(with: nil, context: context) as? Int == 10)
        #expect(NSExpression(forAggregate: [1, NSExpression(forKeyPath: "a")]).description == "{1, a}")
        #expect(throws: PredicateFormatError.self) { try NSExpression.parse("a == 1") }
    }

    @Test func faultyFormatStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "name == AND 3")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("at position 8"))
    }
}
