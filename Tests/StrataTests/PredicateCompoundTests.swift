import CoreData
import Foundation
import Testing

/// Compound predicates as programs make them: Foundation's class, which on Linux printed `FALSEPREDICATE`, equalled every
/// other compound and was copied to a predicate that is always false.
@Suite struct PredicateCompoundTests {
    private let first = NSPredicate(format: "age >= 18")
    private let second = NSPredicate(format: "name BEGINSWITH[c] %@", "a")

    @Test func theyPrintTheirParts() {
        let and = NSCompoundPredicate(andPredicateWithSubpredicates: [first, second])
        let or = NSCompoundPredicate(orPredicateWithSubpredicates: [and, NSPredicate(value: true)])
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: or)
        #expect(and.formatString == "age >= 18 AND name BEGINSWITH[c] \"a\"")
        #expect("\(and)" == and.formatString)
        #expect(or.description == "(age >= 18 AND name BEGINSWITH[c] \"a\") OR TRUEPREDICATE")
        #expect(not.description == "NOT ((age >= 18 AND name BEGINSWITH[c] \"a\") OR TRUEPREDICATE)")
        #expect(printed(and) == and.formatString)
        #expect(printed(NSCompoundPredicate(type: .or, subpredicates: [first, first])) == "age >= 18 OR age >= 18")
        #expect(printed(NSCompoundPredicate(andPredicateWithSubpredicates: [])) == "TRUEPREDICATE")
        #expect(NSPredicate(format: printed(not)) == not)
        #expect("\(NSPredicate(value: false))" == "FALSEPREDICATE")
    }

    /// Foundation marks the property deprecated.
    private func printed(_ predicate: NSPredicate) -> String {
        (predicate as any Printing).printed
    }

    @Test func theyCompareByWhatTheySay() {
        let and = NSCompoundPredicate(andPredicateWithSubpredicates: [first, second])
        let same = NSCompoundPredicate(
            andPredicateWithSubpredicates: [
                NSPredicate(format: "age >= 18"), NSPredicate(format: "name BEGINSWITH[c] 'a'"),
            ])
        let or = NSCompoundPredicate(orPredicateWithSubpredicates: [first, second])
        let turned = NSCompoundPredicate(andPredicateWithSubpredicates: [second, first])
        #expect(and == same && and.hash == same.hash)
        #expect(and != or && and != turned && and != first && first != and)
        #expect(!and.isEqual(nil) && !and.isEqual("and"))
        #expect(Set([and, same, or, turned]).count == 3)
        #expect(NSPredicate(format: "age >= 18 AND name BEGINSWITH[c] 'a'") == and)
        #expect(and == NSPredicate(format: "age >= 18 AND name BEGINSWITH[c] 'a'"))
        #expect([or, and].firstIndex(of: same) == 1)
    }

    @Test func copiesSayTheSame() throws {
        let and = NSCompoundPredicate(andPredicateWithSubpredicates: [first, second])
        let copy = try #require(and.copy() as? NSPredicate)
        let ann: [String: Any] = ["age": 20, "name": "Ann"]
        #expect(copy == and && copy.evaluate(with: ann) && and.evaluate(with: ann))
        #expect(!copy.evaluate(with: ["age": 20, "name": "Bob"]))
        let child = try #require(and.subpredicates.first?.copy() as? NSPredicate)
        #expect(child == first)
    }
}

private protocol Printing {
    var printed: String { get }
}

extension NSPredicate: Printing {
    @available(*, deprecated)
    fileprivate var printed: String { predicateFormat }
}
