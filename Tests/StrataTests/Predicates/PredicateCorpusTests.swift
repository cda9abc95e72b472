import Foundation
import Testing

@testable import Strata

/// Parses, prints and evaluates predicates of real programs.
@Suite struct PredicateCorpusTests {
    @Test(arguments: PredicateCorpusSample.rows.map { Row(format: $0.format, kinds: $0.kinds) })
    func sampleRoundTrips(_ row: Row) throws {
        try row.check()
    }

    /// The whole collection, when the environment names its file (format, tab, kinds, tab, source).
    @Test(.enabled(if: ProcessInfo.processInfo.environment["STRATA_PREDICATE_CORPUS"] != nil))
    func wholeCorpusRoundTrips() throws {
        let path = try #require(ProcessInfo.processInfo.environment["STRATA_PREDICATE_CORPUS"])
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        var count = 0
        for line in lines where !line.hasPrefix("#") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            let row = Row(format: String(fields[0]), kinds: String(fields[1]))
            do {
                try row.check()
            } catch {
                Issue.record("\(row.format): \(error)")
            }
            count += 1
        }
        print("predicate corpus: \(count) strings")
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let format: String
        let kinds: String

        var testDescription: String { format }

        private var arguments: [Any?] {
            if kinds.hasPrefix("vars:") || kinds.hasPrefix("expression:") || kinds.hasPrefix("xml:") { return [] }
            let kinds = kinds.split(separator: " ").first ?? ""
            return kinds.split(separator: ",").filter { $0 != "-" }.map { Self.argument(String($0)) }
        }

        private static func argument(_ kind: String) -> Any? {
            switch kind {
            case "keypath": "owner.name"
            case "int": 3
            case "double": 2.5
            case "number": NSNumber(value: 7)
            case "date": Date(timeIntervalSinceReferenceDate: 1234.5)
            case "uuid": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            case "collection": ["a", "b", "it's \"c\""]
            case "collection(2)": [1, 9]
            default: "some text"
            }
        }

        func check() throws {
            if kinds.hasPrefix("expression:") {
                let expression = try NSExpression.parse(format)
                let copy = try NSExpression.parse(expression.description)
                #expect(copy == expression, "\(expression)")
                #expect(copy.hash == expression.hash)
                _ = expression.expressionValue(with: ["pages": [1, 2]], context: nil)
                return
            }
            let predicate = try NSPredicate.parse(format, arguments: arguments)
            let copy = try NSPredicate.parse(predicate.formatString)
            #expect(copy == predicate, "\(predicate.formatString)")
            // TRUEPREDICATE alone is Foundation's own object, which hashes by identity.
            #expect(copy.hash == predicate.hash || type(of: predicate) == NSPredicate.self)
            #expect(copy.formatString == predicate.formatString)
            let object: [String: Any] = [
                "owner": ["name": "x"], "name": "y", "age": 30, "tags": ["a", "b"], "date": Date(),
                "cars": [["maker": "FIAT"]],
            ]
            let bindings: [String: Any] = ["value": "x", "letter": "y", "FIRST_NAME": "z", "0": 2]
            _ = predicate.evaluate(with: nil)
            #expect(
                predicate.evaluate(with: object, substitutionVariables: bindings)
                    == copy.evaluate(with: object, substitutionVariables: bindings))
            _ = predicate.withSubstitutionVariables(bindings)
        }
    }
}
