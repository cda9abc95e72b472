import CoreData
import Foundation
import StrataTestKit
import Testing

/// Predicates and expressions that a program nests deep: chains work, and what is too deep is refused with an error.
@Suite struct PredicateDepthTests {
    private static let levels = 6_000

    private static func leaf(_ number: Int) -> NSPredicate { NSPredicate(format: "age == %d", number) }

    /// `((0 OR 1) OR 2) OR …`, or the other way round.
    private static func chain(_ isLeftDeep: Bool, _ type: NSCompoundPredicate.LogicalType = .or) -> NSPredicate {
        (1..<levels).reduce(leaf(0)) { chain, number in
            let parts = isLeftDeep ? [chain, leaf(number)] : [leaf(number), chain]
            return NSCompoundPredicate(type: type, subpredicates: parts)
        }
    }

    private static func negations() -> NSPredicate {
        (0..<levels).reduce(leaf(0)) { inner, number in
            number % 2 == 0
                ? NSCompoundPredicate(notPredicateWithSubpredicate: inner)
                : NSCompoundPredicate(andPredicateWithSubpredicates: [inner, leaf(1)])
        }
    }

    private static func sum() -> NSExpression {
        (0..<levels).reduce(NSExpression(forKeyPath: "age")) { sum, _ in
            NSExpression(forFunction: "add:to:", arguments: [sum, NSExpression(forConstantValue: 1)])
        }
    }

    private static func conditions() -> NSExpression {
        (0..<levels).reduce(NSExpression(forKeyPath: "age")) { inner, number in
            NSExpression(
                forConditional: leaf(number), trueExpression: NSExpression(forConstantValue: 1),
                falseExpression: inner)
        }
    }

    @Test(arguments: [true, false]) func chainsOfPairsMayHaveAnyLength(_ isLeftDeep: Bool) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let chain = Self.chain(isLeftDeep)
        let same = Self.chain(isLeftDeep)
        #expect(chain == same && chain.hash == same.hash)
        #expect(chain.copy() as? NSPredicate == chain)
        #expect(chain.formatString.contains("age == 5999") && chain.formatString.contains("age == 0"))
        #expect(chain.withSubstitutionVariables(["x": 1]).evaluate(with: ["age": 5_999]))
        #expect(!Self.chain(isLeftDeep, .and).evaluate(with: ["age": 1]))
        for age in [0, 1, 3_000, 5_999] { #expect(chain.evaluate(with: ["age": age])) }
        #expect(!chain.evaluate(with: ["age": 6_000]))
        try context.performAndWait {
            for age in [0, 5_999, 6_000] { insert("Employee", context).setValue(age, forKey: "age") }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = chain
            #expect(try context.count(for: request) == 2)
            try context.save()
            #expect(try context.count(for: request) == 2)
        }
    }

    private static func tooDeep() -> [NSPredicate] {
        let path = Array(repeating: "department", count: 20_000).joined(separator: ".")
        let comparison: (NSExpression) -> NSPredicate = { left in
            NSComparisonPredicate(
                leftExpression: left, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
                type: .notEqualTo)
        }
        return [
            negations(), comparison(sum()), comparison(conditions()), comparison(NSExpression(forKeyPath: path)),
            NSCompoundPredicate(notPredicateWithSubpredicate: comparison(sum())),
        ]
    }

    @Test func whatIsTooDeepIsRefusedAndHoldsForNothing() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait { insert("Employee", context).setValue(1, forKey: "age") }
        for predicate in Self.tooDeep() {
            #expect(!predicate.evaluate(with: ["age": 1]))
            #expect(predicate == predicate && predicate.hash == predicate.hash)
            #expect(predicate.formatString.count < 1_000)
            #expect(!predicate.withSubstitutionVariables(["x": 1]).evaluate(with: ["age": 1]))
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = predicate
            context.performAndWait {
                #expect { try context.fetch(request) } throws: { Self.isTooDeep($0) }
                #expect { try context.count(for: request) } throws: { Self.isTooDeep($0) }
            }
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
            delete.fetchRequest.predicate = predicate
            context.performAndWait {
                #expect { _ = try context.execute(delete) } throws: { Self.isTooDeep($0) }
                return
            }
        }
    }

    private static func isTooDeep(_ error: any Error) -> Bool {
        (error as NSError).code == 134070 && error.localizedDescription.contains("deeper than 1000 levels")
    }

    /// At the limit everything works; one more is too many.
    @Test func theLimitIsExact() {
        let limit = PredicateFormatError.maximumDepthOfObjects
        func nested(_ levels: Int) -> NSPredicate {
            (2..<levels).reduce(Self.leaf(1)) { inner, _ in NSCompoundPredicate(notPredicateWithSubpredicate: inner) }
        }
        // The comparison and its sides are two levels.
        #expect(nested(limit).evaluate(with: ["age": 1]) == (limit % 2 == 0))
        #expect(nested(limit + 1).evaluate(with: ["age": 1]) == false)
        #expect(nested(limit) == nested(limit) && nested(limit + 1) != nested(limit + 1))
    }

    /// Expressions of as many levels as there may be do not overflow the stack of a context's thread.
    @Test(arguments: StoreKind.allCases) func expressionsAtTheLimitAreFetchedBy(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let levels = PredicateFormatError.maximumDepthOfObjects - 2
        let sum = (0..<levels).reduce(NSExpression(forKeyPath: "age")) { sum, _ in
            NSExpression(forFunction: "add:to:", arguments: [sum, NSExpression(forConstantValue: 1)])
        }
        let inner = (0..<levels / 2).reduce(NSExpression(forKeyPath: "age")) { inner, number in
            NSExpression(
                forConditional: Self.leaf(number + 50), trueExpression: NSExpression(forConstantValue: 1),
                falseExpression: inner)
        }
        try context.performAndWait {
            insert("Employee", context).setValue(1, forKey: "age")
            for isSaved in [false, true] {
                if isSaved { try context.save() }
                for (expression, value) in [(sum, levels + 1), (inner, 1)] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
                    request.predicate = NSComparisonPredicate(
                        leftExpression: expression, rightExpression: NSExpression(forConstantValue: value),
                        modifier: .direct, type: .equalTo)
                    #expect(try context.fetch(request).count == 1)
                    #expect(request.predicate == request.predicate?.withSubstitutionVariables([:]))
                    #expect(request.predicate?.hash == request.predicate?.withSubstitutionVariables([:]).hash)
                    #expect(request.predicate?.formatString.isEmpty == false)
                }
            }
        }
    }

    /// Each function that rows are computed with, and paths to one object, however deep they may nest.
    @Test(
        arguments: StoreKind.allCases,
        ["abs:", "floor:", "ceiling:", "trunc:", "sqrt:", "ln:", "lowercase:", "uppercase:", "length:", "path"])
    func functionsAndPathsAtTheLimitAreFetchedBy(_ kind: StoreKind, _ name: String) throws {
        let node = GraphModel.entity("Node")
        let next = GraphModel.relationship("next", to: node)
        next.inverseRelationship = next
        node.properties = [
            next, GraphModel.attribute("n", .integer32AttributeType), GraphModel.attribute("t", .stringAttributeType),
        ]
        let store = try TestStore(kind, makeModel([node]))
        let context = store.context()
        let levels = PredicateFormatError.maximumDepthOfObjects - 3
        let isOfText = ["lowercase:", "uppercase:", "length:"].contains(name)
        let start = NSExpression(forKeyPath: isOfText ? "t" : "n")
        let deep =
            name == "path"
            ? NSExpression(forKeyPath: String(repeating: "next.", count: levels) + "n")
            : (0..<levels).reduce(start) { inner, _ in NSExpression(forFunction: name, arguments: [inner]) }
        try context.performAndWait {
            let object = context.insert("Node", ["n": 1, "t": "a"])
            object.setValue(object, forKey: "next")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
            request.predicate = NSComparisonPredicate(
                leftExpression: deep, rightExpression: NSExpression(forConstantValue: 7), modifier: .direct,
                type: .notEqualTo)
            let asked = NSExpressionDescription()
            (asked.name, asked.expression, asked.expressionResultType) = ("x", deep, .undefinedAttributeType)
            let rows = NSFetchRequest<NSDictionary>(entityName: "Node")
            rows.resultType = .dictionaryResultType
            rows.propertiesToFetch = [asked]
            for isSaved in [false, true] {
                if isSaved { try context.save() }
                // That it ends is enough: some have no value of such an argument, or not at every level.
                _ = try? context.count(for: request)
                _ = try? context.fetch(request)
                request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
                _ = try? context.fetch(rows)
            }
            if name == "path" || name == "abs:" { #expect(try context.count(for: request) == 1) }
        }
    }

    @Test func keyPathsOfOtherSettingsHaveALimit() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let path = Array(repeating: "department.employees", count: 10_000).joined(separator: ".")
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: path, ascending: true)]
            #expect(throws: CocoaError.self) { try context.fetch(request) }
        }
    }
}
