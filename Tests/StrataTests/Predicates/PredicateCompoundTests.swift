import CoreData
import Foundation
import Testing

/// Compound predicates as programs make them. Foundation's class on Linux prints `FALSEPREDICATE`, equals every other
/// compound and is copied to a predicate that is always false; in files that import CoreData the name is that of a
/// class that does not.
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
        #expect(NSPredicate(value: false).formatString == "FALSEPREDICATE")
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

    @Test func parsedOnesAreOfTheSameClass() throws {
        let parsed = try #require(NSPredicate(format: "age > 1 AND (age < 5 OR age == 7)") as? NSCompoundPredicate)
        #expect(parsed.compoundPredicateType == .and)
        #expect((parsed.subpredicates.last as? NSCompoundPredicate)?.compoundPredicateType == .or)
        #expect(type(of: parsed) == NSCompoundPredicate.self && NSCompoundPredicate.self == CompoundPredicate.self)
    }

    /// Foundation's own come from files that do not import CoreData. Nothing of Foundation's is changed for them: the
    /// program asks for the canonical form, and contexts do so by themselves.
    @Test func compoundsOfFoundationHaveACanonicalForm() throws {
        let and = FoundationCompounds.and([first, second])
        let or = FoundationCompounds.or([first, second])
        #expect(!(and is NSCompoundPredicate) && and.formatString == "age >= 18 AND name BEGINSWITH[c] \"a\"")
        #expect("\(and.canonical)" == and.formatString && and.canonical is NSCompoundPredicate)
        #expect(and.canonical != or.canonical && and.canonical == FoundationCompounds.and([first, second]).canonical)
        #expect(and.canonical == NSCompoundPredicate(andPredicateWithSubpredicates: [first, second]))
        #expect((and.canonical.copy() as? NSPredicate)?.evaluate(with: ["age": 20, "name": "Ann"]) == true)
        let outer = NSCompoundPredicate(notPredicateWithSubpredicate: and)
        #expect("\(outer)" == "NOT (age >= 18 AND name BEGINSWITH[c] \"a\")")
        #expect(try NSPredicate.parse("NOT %@", arguments: [and]) == outer)
    }

    /// Two of Foundation's are equal whatever they say: a request would have been taken for another one.
    @Test(arguments: StoreKind.allCases) func fetchesTellCompoundsOfFoundationApart(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            for age in [10, 20, 30] as [Int16] { Employee(context: context).age = age }
            try context.save()
            let (young, old) = (NSPredicate(format: "age < 15"), NSPredicate(format: "age > 25"))
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = FoundationCompounds.or([young, old])
            #expect(try context.fetch(request).count == 2)
            let other = NSFetchRequest<Employee>(entityName: "Employee")
            other.predicate = FoundationCompounds.and([young, old])
            #expect(try context.fetch(other).isEmpty && request != other)
            other.predicate = FoundationCompounds.or([young, old])
            #expect(request == other)
            request.predicate = FoundationCompounds.and([young, old])
            #expect(try context.fetch(request).isEmpty && context.count(for: other) == 2)
        }
    }
}

private protocol Printing {
    var printed: String { get }
}

extension NSPredicate: Printing {
    @available(*, deprecated)
    fileprivate var printed: String { predicateFormat }
}
