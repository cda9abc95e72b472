import Foundation
import StrataTestKit
import Testing

@testable import Strata

/// Random and hostile strings: the throwing parser answers with a predicate or an error, and what it accepts prints
/// back.
@Suite struct PredicateFuzzTests {
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

    private static let total = LockedBox((strings: 0, accepted: 0))
    /// A parser that needs so long for one string hangs, whatever the machine does beside it.
    private static let longest = Duration.seconds(20)

    /// On a thread with a small stack, such as Darwin gives to every thread but the first (unoptimised code needs
    /// more).
    @Test(arguments: RandomRuns.seeds(from: 42, count: 1)) func hostileStringsNeverTrap(_ seed: UInt64) throws {
        let count = RandomRuns.operations(BuildMode.isDebug ? 10_000 : 50_000)
        print("PredicateFuzzTests: seed \(seed), \(count) strings")
        let outcome = LockedBox((accepted: 0, problems: [String]()))
        let end = DispatchSemaphore(value: 0)
        let thread = Thread {
            let found = Self.run(seed, count)
            outcome.change { $0 = found }
            end.signal()
        }
        thread.stackSize = BuildMode.isDebug ? 8 << 20 : 512 << 10
        thread.start()
        end.wait()
        for problem in outcome.value.problems { Issue.record("seed \(seed): \(problem)") }
        let accepted = outcome.value.accepted
        Self.total.change {
            $0.strings += count
            $0.accepted += accepted
        }
        let total = Self.total.value
        print("PredicateFuzzTests: seed \(seed): \(accepted) accepted; so far \(total.strings) strings")
        #expect(accepted > count / 10)
    }

    private static func run(_ seed: UInt64, _ count: Int) -> (accepted: Int, problems: [String]) {
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        var problems: [String] = []
        let clock = ContinuousClock()
        for round in 0..<count {
            let text = text(round, &random)
            let start = clock.now
            do {
                if try check(text, arguments(&random)) { accepted += 1 }
            } catch {
                if problems.count < 20 { problems.append("\(error)") }
            }
            if start.duration(to: clock.now) > longest { problems.append("\(text.prefix(500)) takes too long") }
        }
        return (accepted, problems)
    }

    private static func text(_ round: Int, _ random: inout SeededGenerator) -> String {
        switch round % 16 {
        case 0, 4, 8, 12: soup(&random)
        case 1, 5, 9, 13: mutated(&random)
        case 2, 6, 10, 14: grown(&random, depth: Int.random(in: 1...8, using: &random))
        case 3, 7: noise(&random, maximum: 400)
        case 11: scalars(&random)
        // Now and then something that is longer or deeper than the parser allows.
        default: round % 4_000 == 15 ? noise(&random, maximum: 300_000) : noise(&random, maximum: 40)
        }
    }

    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    /// Mostly what the corpus needs, else too few, too many or of the wrong kind.
    private static func arguments(_ random: inout SeededGenerator) -> [Any?] {
        if Int.random(in: 0..<4, using: &random) > 0 { return ["k", 2, "s", 1.5, nil, "p"] }
        let values: [Any?] = [
            nil, 1, -1, Int.max, UInt64.max, 0.5, Double.nan, -Double.infinity, "", "a", "b.c", ".", "@count", "%@",
            [1, 2], [String](), ["a": 1], NSNull(), Date(timeIntervalSince1970: 0), Data([0]), true,
            [nil, "x"] as [Any?],
            NSDecimalNumber.notANumber, NSPredicate(value: true), NSExpression(forKeyPath: "a"), [[["deep"]]],
        ]
        return (0..<Int.random(in: 0...8, using: &random)).map { _ in
            values[Int.random(in: 0..<values.count, using: &random)]
        }
    }

    /// Whether the parser takes the string; then it has to print, parse back, evaluate and substitute consistently.
    static func check(_ text: String, _ arguments: [Any?]) throws -> Bool {
        _ = try? NSExpression.parse(text, arguments: arguments)
        guard let predicate = try? NSPredicate.parse(text, arguments: arguments) else { return false }
        let printed = predicate.formatString
        let isWhole = !arguments.contains { !isPrintable($0) }
        let copy: NSPredicate
        do {
            copy = try NSPredicate.parse(printed)
        } catch {
            // Some arguments have no notation.
            if isWhole { throw Problem(description: "\(text) prints \(printed), which does not parse: \(error)") }
            _ = predicate.evaluate(with: object, substitutionVariables: bindings)
            return true
        }
        let result = predicate.evaluate(with: object, substitutionVariables: bindings)
        guard isWhole else { return true }
        guard copy == predicate else { throw Problem(description: "\(text) prints \(printed), which is not equal") }
        // TRUEPREDICATE alone is Foundation's own object, which hashes by identity.
        if type(of: predicate) != NSPredicate.self, copy.hash != predicate.hash {
            throw Problem(description: "\(text) prints \(printed), which has another hash")
        }
        if printed.contains("now(") || printed.contains("random") { return true }
        guard copy.evaluate(with: object, substitutionVariables: bindings) == result,
            predicate.withSubstitutionVariables(bindings).evaluate(with: object) == result
        else { throw Problem(description: "\(text) and \(printed) evaluate differently") }
        return true
    }

    /// Whether a value of an argument can be written so that it reads back equal.
    private static func isPrintable(_ value: Any?) -> Bool {
        switch value {
        case nil: true
        case let number as Double: number.isFinite
        case is Int, is String: true
        default: false
        }
    }

    nonisolated(unsafe) private static let object: [String: Any] = [
        "a": 3, "name": "s", "b": ["c": [1, 2]], "k": 2,
    ]
    nonisolated(unsafe) private static let bindings: [String: Any] = ["x": 1, "y": ["z": 2]]

    /// Any characters, some of them from the notation.
    static func scalars(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text += tokens.randomElement(using: &random) ?? ""
            case 1: text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 0..<128, using: &random)))
            default:
                let value = UInt32.random(in: 0..<0x11_0000, using: &random)
                if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
            }
        }
        return text
    }

    static func soup(_ random: inout SeededGenerator) -> String {
        let count = Int.random(in: 0...25, using: &random)
        let separator = Bool.random(using: &random) ? " " : ""
        return (0..<count).map { _ in tokens.randomElement(using: &random) ?? "" }.joined(separator: separator)
    }

    static func mutated(_ random: inout SeededGenerator) -> String {
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

    static func noise(_ random: inout SeededGenerator, maximum: Int) -> String {
        let openings = ["(", "NOT ", "{", "-", "a[", "SUBQUERY(a,$x,", "TERNARY(", "a.", "1+", "!", "~", "$"]
        let opening = openings.randomElement(using: &random) ?? "("
        let count = Int.random(in: 0...maximum, using: &random)
        return String(repeating: opening, count: count) + soup(&random)
    }

    /// A valid predicate of random shape.
    static func grown(_ random: inout SeededGenerator, depth: Int) -> String {
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

    static func value(_ random: inout SeededGenerator, depth: Int) -> String {
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
