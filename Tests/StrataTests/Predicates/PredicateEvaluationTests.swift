import Foundation
import Testing

@testable import Strata

/// What predicates mean, against values known from Apple's behaviour.
@Suite struct PredicateEvaluationTests {
    struct Case: CustomTestStringConvertible, @unchecked Sendable {
        let format: String
        let arguments: [Any?]
        let expected: Bool

        init(_ format: String, _ arguments: Any?..., is expected: Bool = true) {
            self.format = format
            self.arguments = arguments
            self.expected = expected
        }

        var testDescription: String { format }
    }

    static var person: [String: Any] {
        [
            "name": "Élodie Durand", "nick": "elo",
            "age": 32, "height": 1.75, "balance": NSDecimalNumber(string: "9.99"),
            "isActive": true, "born": Date(timeIntervalSinceReferenceDate: 1000), "empty": "",
            "flags": 6, "missing": NSNull(),
            "tags": ["swift", "linux", "c"], "tagSet": NSSet(array: ["swift", "linux"]),
            "id": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID(),
            "boss": ["name": "Ana", "age": 50] as [String: Any],
            "children": [
                ["name": "Max", "age": 4, "pets": [["kind": "cat"], ["kind": "dog"]]],
                ["name": "Zoé", "age": 8, "pets": [["kind": "fish"]]],
                ["name": "Bob", "age": 4],
            ] as [[String: Any]],
            "nobody": [Any](), "scores": [3, 1, 2], "map": ["color": "red"],
        ]
    }

    func check(_ test: Case) throws {
        let predicate = try NSPredicate.parse(test.format, arguments: test.arguments)
        #expect(predicate.evaluate(with: Self.person) == test.expected, "\(predicate.formatString)")
    }

    @Test(arguments: [
        Case("age == 32"), Case("age = 32.0"), Case("age != 32", is: false), Case("age <> 31"), Case("age > 31.5"),
        Case("age => 32"), Case("age =< 32"), Case("age < 32", is: false), Case("%d == age", 32),
        Case("isActive == YES"), Case("isActive == 1"), Case("isActive != TRUE", is: false),
        Case("isActive == %@", true),
        Case("balance == 9.99"), Case("balance > 9"), Case("balance == %@", Decimal(string: "9.99")),
        Case("height BETWEEN {1.7, 1.8}"), Case("age BETWEEN %@", [32, 40]), Case("age BETWEEN {33, 40}", is: false),
        Case("age BETWEEN %@", NSSet(array: [30, 40]), is: false),
        Case("age == %@", NSNumber(value: 32)), Case("age == %@", Int16(32)), Case("age == %@", UInt64.max, is: false),
        Case("%@ > 9223372036854775807", UInt64.max), Case("age == 0x20"), Case("age == 0o40"), Case("age == 0b100000"),
        Case("height < 1.8e0"), Case("-age == -32"), Case("age == \"32\"", is: false),
        Case("9007199254740993 == 9007199254740992.0", is: false),
    ])
    func numbers(_ test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("missing == nil"), Case("missing == NULL"), Case("unknown = NIL"), Case("unknown != nil", is: false),
        Case("nil == nil"), Case("unknown < 3", is: false), Case("unknown > 3", is: false),
        Case("unknown <= nil", is: false),
        Case("unknown != 3"), Case("unknown == 3", is: false), Case("name != nil"), Case("NOT unknown == 3"),
        Case("unknown IN {1, 2}", is: false), Case("unknown BETWEEN {1, 2}", is: false),
        Case("unknown CONTAINS 'a'", is: false),
        Case("unknown LIKE '*'", is: false), Case("unknown MATCHES '.*'", is: false), Case("boss.friend.name == nil"),
        Case("name == %@", nil, is: false), Case("unknown == %@", nil), Case("unknown == %@", NSNull()),
        Case("age == name", is: false), Case("age != name"), Case("age < name", is: false),
    ])
    func missingValues(_ test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("nick == 'elo'"), Case("nick == 'ELO'", is: false), Case("nick ==[c] 'ELO'"), Case("nick == [c] 'ELO'"),
        Case("name ==[cd] 'elodie durand'"), Case("name ==[d] 'Elodie Durand'"),
        Case("name ==[c] 'elodie durand'", is: false),
        Case("name BEGINSWITH 'Élo'"), Case("name BEGINSWITH 'Elo'", is: false), Case("name BEGINSWITH[d] 'Elo'"),
        Case("name ENDSWITH[c] 'DURAND'"), Case("name CONTAINS[cd] 'DIE DU'"), Case("name CONTAINS ' '"),
        Case("name CONTAINS ''", is: false), Case("empty == ''"), Case("'od' IN name"), Case("'OD' IN[c] name"),
        Case("nick IN {'a', 'elo'}"), Case("nick IN[c] {'A', 'ELO'}"), Case("nick IN {'a'}", is: false),
        Case("name LIKE '*Durand'"), Case("name LIKE '?lodie*'"), Case("name LIKE 'lodie*'", is: false),
        Case("name LIKE[cd] 'e?odie d*d'"), Case("nick LIKE 'e'", is: false), Case("'a*b' LIKE 'a\\\\*b'"),
        Case("'axb' LIKE 'a\\\\*b'", is: false), Case("'' LIKE '*'"), Case("'' LIKE ''"), Case("'aXbXc' LIKE '*X?'"),
        Case("nick MATCHES 'e.o'"), Case("nick MATCHES 'e'", is: false), Case("nick MATCHES[c] 'E[A-Z]O'"),
        Case("nick MATCHES 'e|elo'"), Case("name MATCHES[cd] 'elodie\\\\s+\\\\w+'"),
        Case("nick MATCHES '('", is: false),
        Case("nick MATCHES 'e)(lo'", is: false), Case("nick ==[n] 'elo'"), Case("nick ==[cn] 'ELO'", is: false),
        Case("nick < 'f'"), Case("nick >[c] 'ELN'"), Case("'Z' < 'a'"), Case("'Z' <[c] 'a'", is: false),
        Case("'straße' ==[c] 'STRASSE'"), Case("age LIKE '32'", is: false), Case("age CONTAINS 3", is: false),
        Case("nick <[l] 'F'"), Case("nick.length == 3"), Case("nick.uppercaseString == 'ELO'"),
    ])
    func strings(_ test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("age IN {31, 32}"), Case("age IN %@", [31, 32]), Case("age IN %@", Set([32])),
        Case("age IN %@", NSSet(array: [32.0])),
        Case("age IN %@", NSOrderedSet(array: [1, 32])), Case("age IN %@", ["x": 32]),
        Case("age IN %@", [33], is: false),
        // Another form of the same letters: equal to a locale, not to a store.
        Case("name ==[l] %@", "E\u{301}lodie Durand"), Case("name IN[l] %@", ["E\u{301}lodie Durand"]),
        Case("name IN[cl] %@", ["e\u{301}lodie durand", 3]), Case("%@ CONTAINS[l] name", ["E\u{301}lodie Durand"]),
        Case("name IN %@", ["E\u{301}lodie Durand"], is: false), Case("name IN[l] %@", ["x"], is: false),
        Case("age IN[l] %@", [31, 32]), Case("age IN[l] %@", [33], is: false),
        Case("tags CONTAINS 'swift'"), Case("'c' IN tags"), Case("tagSet CONTAINS[c] 'LINUX'"),
        Case("tags CONTAINS 'x'", is: false),
        Case("ANY tags == 'linux'"), Case("ANY tags BEGINSWITH 'l'"), Case("SOME tags LIKE 's*'"),
        Case("ALL tags != 'x'"),
        Case("ALL tags == 'c'", is: false), Case("NONE tags == 'x'"), Case("NONE tags == 'c'", is: false),
        Case("ANY nobody == 1", is: false), Case("ALL nobody == 1"), Case("NONE nobody == 1"),
        Case("ANY children.age > 7"),
        Case("ALL children.age > 3"), Case("ALL children.age > 4", is: false), Case("ANY children.pets.kind == 'dog'"),
        Case("ANY children.pets.kind IN {'fish'}"), Case("NONE children.pets.kind == 'bird'"),
        Case("ANY tags IN %@", ["c", "d"]),
        Case("ALL {41, 42, 43} BETWEEN {23, 50}"), Case("ANY children.nick == nil"),
        Case("ANY children.name ==[d] 'Zoe'"),
        Case("NOT (age IN {1, 2})"), Case("{1, 2} == %@", [1, 2]), Case("tagSet == %@", Set(["linux", "swift"])),
        Case("id == %@", UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
        Case("id.UUIDString == 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"),
        Case("SELF.age == 32"), Case("SELF == SELF"), Case("boss.age == 50"),
        Case("boss == %@", ["name": "Ana"], is: false),
    ])
    func collections(_ test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("tags.@count == 3"), Case("nobody.@count == 0"), Case("children.@sum.age == 16"),
        Case("children.@max.age == 8"),
        Case("children.@min.age == 4"), Case("children.@avg.age > 5.3 AND children.@avg.age < 5.4"),
        Case("scores.@max.self == 3"),
        Case("children.@distinctUnionOfObjects.age.@count == 2", is: false),
        Case("children.@distinctUnionOfObjects.age == {4, 8}"), Case("children.@unionOfObjects.age == {4, 8, 4}"),
        Case("children.@unionOfArrays.pets.kind == nil", is: false), Case("nobody.@sum.x == 0"),
        Case("nobody.@max.x == nil"),
        Case("SUBQUERY(children, $c, $c.age == 4).@count == 2"),
        Case("SUBQUERY(children, $c, $c.age > age).@count == 0"),
        Case("SUBQUERY(children, $c, SUBQUERY($c.pets, $p, $p.kind == 'cat' AND $c.age == 4).@count > 0).@count == 1"),
        Case("SUBQUERY(children, $c, ANY $c.pets.kind == 'fish').@count == 1"),
        Case("SUBQUERY(children, $c, SELF.age == 32 AND $c.name == 'Bob').@count == 1"),
        Case("tags[0] == 'swift'"), Case("tags[FIRST] == 'swift'"), Case("tags[last] == 'c'"), Case("tags[SIZE] == 3"),
        Case("tags[9] == nil"), Case("tagSet[0] == nil"),
        Case("tagSet[SIZE] == 2"), Case("map['color'] == 'red'"), Case("children[1].name ==[d] 'Zoe'"),
        Case("{1, 2} UNION {2, 3} == %@", Set([1, 2, 3])), Case("({1, 2} INTERSECT {2, 3}) == {2}"),
        Case("({1, 2} MINUS {2}).@count == 1"), Case("TERNARY(age > 30, 'old', 'young') == 'old'"),
        Case("TERNARY(age > 40 OR nick == 'x', 1, 0) == 0"), Case("(flags & 2) != 0"), Case("flags & 1 == 0"),
        Case("flags | 1 == 7"), Case("flags ^ 2 == 4"), Case("1 << 4 == 16"), Case("16 >> 2 == 4"), Case("~0 == -1"),
        Case("sum({1, 2, 3}) == 6"), Case("sum(scores) == 6"), Case("average(scores) == 2"),
        Case("median({1, 3, 2, 4}) == 2.5"),
        Case("mode({1, 2, 2}) == {2}"), Case("stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2"), Case("max(1, 5, 3) == 5"),
        Case("min(scores) == 1"), Case("count(tags) == 3"), Case("abs(-3) == 3"), Case("sqrt(16) == 4"),
        Case("floor(2.7) == 2"),
        Case("ceiling(2.1) == 3"), Case("trunc(-2.7) == -2"), Case("log(100) == 2"), Case("exp(0) == 1"),
        Case("ln(1) == 0"),
        Case("uppercase(nick) == 'ELO'"), Case("lowercase('A') == 'a'"), Case("length(nick) == 3"),
        Case("canonical:(name) == 'elodie durand'"), Case("modulus:by:(7, 4) == 3"), Case("add:to:(1, 2) == 3"),
        Case("now() > born"), Case("random() < 1"), Case("noindex:(age) == 32"), Case("unknownFunction(age) == nil"),
        Case("CAST(born, 'NSNumber') == 1000"), Case("CAST(1000, 'NSDate') == born"),
        Case("CAST(age, 'NSString') == '32'"),
        Case("CAST('12', 'NSNumber') == 12"), Case("born == %@", Date(timeIntervalSinceReferenceDate: 1000)),
        Case("born < %@", NSDate(timeIntervalSinceReferenceDate: 1001)), Case("born != 0"),
        Case("FUNCTION(nick, 'length') > 2"), Case("FUNCTION('a/path', 'lastPathComponent') = 'path'"),
        Case("FUNCTION(nick, 'stringByAppendingString:', 'x') == 'elox'"), Case("FUNCTION(nick, 'unknown:', 1) == nil"),
        Case("FUNCTION(nick, 'hasPrefix:', 'e')"),
    ])
    func expressions(_ test: Case) throws { try check(test) }

    @Test func unboundVariablesHaveNoValue() throws {
        let predicate = try NSPredicate.parse("age == $AGE")
        #expect(!predicate.evaluate(with: Self.person))
        #expect(predicate.evaluate(with: Self.person, substitutionVariables: ["AGE": 32]))
        #expect(predicate.withSubstitutionVariables(["AGE": 32]).evaluate(with: Self.person))
        #expect(predicate.withSubstitutionVariables(["AGE": 32]).formatString == "age == 32")
        #expect(predicate.withSubstitutionVariables([:]) == predicate)
    }

    @Test func substitutionLeavesTheSubqueryVariableAlone() throws {
        let predicate = try NSPredicate.parse("SUBQUERY(c, $x, $x.a == $y).@count == $x")
        let expected = "SUBQUERY(c, $x, $x.a == 2).@count == 1"
        #expect(predicate.withSubstitutionVariables(["x": 1, "y": 2]).formatString == expected)
    }

    @Test func foundationCompoundsHoldOurPredicates() {
        let first = NSPredicate(format: "age == 32")
        let second = NSPredicate(format: "nick == %@", "elo")
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [first, second])
        #expect(both.evaluate(with: Self.person))
        #expect(both.formatString == "age == 32 AND nick == \"elo\"")
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: both)
        #expect(!not.evaluate(with: Self.person))
        #expect(not.formatString == "NOT (age == 32 AND nick == \"elo\")")
        #expect(not.canonical == NSPredicate(format: "NOT (age == 32 && nick == 'elo')"))
        let either = NSPredicate(format: "%@ OR age > 40", both)
        #expect(either.formatString == "(age == 32 AND nick == \"elo\") OR age > 40")
    }

    @Test func blocksAndOwnFunctions() {
        final class Target: PredicateFunctionTarget {
            func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
                name == "doubled:" ? (arguments[0] as? Int).map { $0 * 2 } : nil
            }
        }
        #expect(NSPredicate(format: "FUNCTION(SELF, 'doubled:', 21) == 42").evaluate(with: Target()))
        let block = NSExpression(
            block: { object, arguments, _ in "\(object ?? "")\(arguments[0])" },
            arguments: [NSExpression(forConstantValue: 1)])
        #expect(block.expressionValue(with: "x", context: nil) as? String == "x1")
        let comparison = NSComparisonPredicate(
            leftExpression: NSExpression.expressionForEvaluatedObject(),
            rightExpression: NSExpression(forConstantValue: 21), customSelector: "doubled:")
        #expect(comparison.evaluate(with: Target()))
    }

    @Test func likeIsNotExponential() throws {
        let text = String(repeating: "a", count: 2000) + "b"
        let pattern = String(repeating: "*a", count: 40) + "*c"
        #expect(!(try NSPredicate.parse("SELF LIKE %@", arguments: [pattern])).evaluate(with: text))
    }

    @Test func collectionsAreFiltered() {
        let even = NSPredicate(format: "modulus:by:(SELF, 2) == 0")
        #expect([1, 2, 3, 4].filtered(using: even) == [2, 4])
        #expect(NSArray(array: [1, 2, 3, 4]).filtered(using: even).count == 2)
        #expect(NSSet(array: [1, 2]).filtered(using: even).count == 1)
        var numbers = [1, 2, 3, 4]
        numbers.filter(using: even)
        #expect(numbers == [2, 4])
    }
}
