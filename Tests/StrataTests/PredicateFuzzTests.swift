import Foundation
import Testing

@testable import Strata

/// Random and hostile strings: the throwing parser answers with a predicate or an error, and what it accepts prints
/// back.
@Suite struct PredicateFuzzTests {
    /// A small generator with a fixed sequence for a seed (SplitMix64).
    struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    static let tokens = [
        "a", "b.c", "name", "SELF", "$x", "$y.z", "1", "-2", "3.5", "0x1F", "1e400", "'s'", "\"t\\n\"", "'\\u00e9'",
        "nil", "YES",
        "%@", "%K", "%d", "%f", "%", "==", "=", "!=", "<", "<=", ">", ">=", "=>", "<>", "IN", "LIKE", "LIKE[c]",
        "CONTAINS[cd]",
        "MATCHES", "BETWEEN", "BEGINSWITH", "ENDSWITH[n]", "AND", "OR", "NOT", "&&", "||", "!", "ANY", "ALL",
        "NONE", "SOME", "(",
        ")", "(", ")", "{", "}", "[", "]", ",", ".", ".@count", "@sum.x", "#and", "SUBQUERY(", "SUBQUERY(a, $x, ",
        "TERNARY(",
        "CAST(", "FUNCTION(", "sum(", "add:to:(", "now()", "UNION", "MINUS", "+", "-", "*", "/", "**", "&", "|",
        "^", "~", "<<",
        ">>", "TRUEPREDICATE", "FALSEPREDICATE", "FIRST", "SIZE", "'NSDate'", "\u{0}", "é", "\\", "🜁", ";", "1..2",
        "'open", "FETCH(",
    ]

    @Test(arguments: RandomRuns.seeds(from: 42, count: 1)) func hostileStringsNeverTrap(_ seed: UInt64) throws {
        let count = RandomRuns.operations(50_000)
        print("predicate fuzz: seed \(seed), \(count) strings")
        var random = Random(state: seed)
        var accepted = 0
        for round in 0..<count {
            let text: String
            switch round % 4 {
            case 0: text = Self.soup(&random)
            case 1: text = Self.mutated(&random)
            case 2: text = Self.grown(&random, depth: Int.random(in: 1...8, using: &random))
            default: text = Self.noise(&random)
            }
            if try Self.check(text) { accepted += 1 }
        }
        print("predicate fuzz: \(accepted) accepted")
        #expect(accepted > count / 10)
    }

    static func check(_ text: String) throws -> Bool {
        let arguments: [Any?] = ["k", 2, "s", 1.5, nil, "p"]
        guard let predicate = try? NSPredicate.parse(text, arguments: arguments) else { return false }
        let printed = predicate.formatString
        do {
            let copy = try NSPredicate.parse(printed)
            #expect(copy == predicate, "\(text) prints \(printed)")
            // TRUEPREDICATE alone is Foundation's own object, which hashes by identity.
            if type(of: predicate) != NSPredicate.self {
                #expect(copy.hash == predicate.hash, "\(text) prints \(printed)")
            }
            let object: [String: Any] = ["a": 3, "name": "s", "b": ["c": [1, 2]], "k": 2]
            let bindings: [String: Any] = ["x": 1, "y": ["z": 2]]
            let result = predicate.evaluate(with: object, substitutionVariables: bindings)
            if !printed.contains("now(") {
                #expect(copy.evaluate(with: object, substitutionVariables: bindings) == result, "\(text)")
                let bound = predicate.withSubstitutionVariables(bindings)
                #expect(bound.evaluate(with: object) == result, "\(text)")
            }
        } catch {
            Issue.record("\(text) prints \(printed), which does not parse: \(error)")
        }
        return true
    }

    static func soup(_ random: inout Random) -> String {
        let count = Int.random(in: 0...25, using: &random)
        let separator = Bool.random(using: &random) ? " " : ""
        return (0..<count).map { _ in tokens.randomElement(using: &random) ?? "" }.joined(separator: separator)
    }

    static func mutated(_ random: inout Random) -> String {
        let row = PredicateCorpusSample.rows.randomElement(using: &random)
        var bytes = Array((row?.format ?? "").utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: index)
            case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.insert(contentsOf: Array((tokens.randomElement(using: &random) ?? "").utf8), at: index)
            default: bytes.replaceSubrange(index..., with: Array(bytes.prefix(index)))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func noise(_ random: inout Random) -> String {
        let openings = ["(", "NOT ", "{", "-", "a[", "SUBQUERY(a,$x,", "TERNARY(", "a.", "1+", "!", "~", "$"]
        let opening = openings.randomElement(using: &random) ?? "("
        let count = Int.random(in: 0...400, using: &random)
        return String(repeating: opening, count: count) + soup(&random)
    }

    /// A valid predicate of random shape.
    static func grown(_ random: inout Random, depth: Int) -> String {
        switch depth <= 0 ? 0 : Int.random(in: 0..<6, using: &random) {
        case 0:
            let operators = ["==", "!=", "<", ">=", "IN", "LIKE[c]", "CONTAINS", "BETWEEN", "MATCHES[d]", "ENDSWITH"]
            let modifier = ["", "", "", "ANY ", "ALL ", "NONE "].randomElement(using: &random) ?? ""
            let left = value(&random, depth: depth - 1)
            return modifier + left + " " + (operators.randomElement(using: &random) ?? "==") + " "
                + value(&random, depth: depth - 1)
        case 1: return "NOT " + "(" + grown(&random, depth: depth - 1) + ")"
        case 2: return "(" + grown(&random, depth: depth - 1) + ")"
        case 3: return Bool.random(using: &random) ? "TRUEPREDICATE" : "FALSEPREDICATE"
        default:
            let word = [" AND ", " OR ", "&&", "||"].randomElement(using: &random) ?? "&&"
            return grown(&random, depth: depth - 1) + word + grown(&random, depth: depth - 1)
        }
    }

    static func value(_ random: inout Random, depth: Int) -> String {
        let leaves = [
            "a", "b.c", "$x", "$y.z", "1", "-2", "3.5", "'s'", "nil", "YES", "SELF", "#in", "k", "{1, 2}",
            "CAST(5, 'NSDate')",
        ]
        switch depth <= 0 ? 0 : Int.random(in: 0..<8, using: &random) {
        case 1:
            let signs = ["+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>", " UNION ", " MINUS "]
            let sign = signs.randomElement(using: &random) ?? "+"
            return "(" + value(&random, depth: depth - 1) + sign + value(&random, depth: depth - 1) + ")"
        case 2: return "{" + value(&random, depth: depth - 1) + ", " + value(&random, depth: depth - 1) + "}"
        case 3: return "sum(" + value(&random, depth: depth - 1) + ")"
        case 4: return "TERNARY(" + grown(&random, depth: depth - 1) + ", 1, " + value(&random, depth: depth - 1) + ")"
        case 5: return "SUBQUERY(b.c, $x, " + grown(&random, depth: depth - 1) + ").@count"
        case 6: return value(&random, depth: depth - 1) + "[" + value(&random, depth: depth - 1) + "]"
        default: return leaves.randomElement(using: &random) ?? "a"
        }
    }
}
