import CoreData
import Foundation
import Testing

@testable import Strata

/// Decimals among values that the library holds in hash tables. The hash of an `NSDecimalNumber` overflows the stack in
/// Foundation on Linux, which stopped the program.
@Suite struct DecimalMembersTests {
    private typealias G = GraphModel

    private static let texts = ["1.5", "1.50", "0.1", "-3", "12345678901234567890.123", "1e40", "-1e-40", "0"]
    private static var numbers: [NSDecimalNumber] { texts.map { NSDecimalNumber(string: $0) } }

    private static func model() -> NSManagedObjectModel {
        let (order, line) = (G.entity("Order"), G.entity("Line"))
        let (lines, owner) = (G.relationship("lines", to: line, toMany: true), G.relationship("order", to: order))
        G.link(lines, owner)
        order.properties = [G.attribute("total", .decimalAttributeType), lines]
        line.properties = [
            G.attribute("price", .decimalAttributeType), G.attribute("list", .transformableAttributeType), owner,
        ]
        return makeModel([order, line])
    }

    @Test func arraysOfDecimalsBecomeSetsOfSwift() throws {
        let held = NSArray(array: Self.numbers)
        let wanted = Set(Self.numbers.map(\.decimalValue))
        #expect(AccessorConversion.value(held, as: Set<Decimal>.self) == wanted)
        #expect(AccessorConversion.value(wanted, as: Set<Decimal>.self) == wanted)
        #expect(AccessorConversion.value(wanted, as: [String].self) == nil)
        #expect(AccessorConversion.value(held, as: [Decimal].self)?.count == Self.texts.count)
        #expect(AccessorConversion.value(NSArray(array: ["a", "b"]), as: Set<String>.self) == ["a", "b"])
    }

    /// Dictionaries in predicates, and in errors; their keys may be decimals.
    @Test func setsAndKeysOfDecimalsArePlainValues() throws {
        let set = Set(Self.numbers.map(\.decimalValue))
        let (one, half) = (NSDecimalNumber(string: "1.5"), NSDecimalNumber(string: "0.5"))
        let predicates: [NSPredicate] = [
            NSPredicate(format: "SELF IN %@", set), NSPredicate(format: "SELF IN %@", argumentArray: [set]),
            NSComparisonPredicate(
                leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: set),
                modifier: .direct, type: .in),
        ]
        for predicate in predicates {
            #expect(predicate.evaluate(with: one) && !predicate.evaluate(with: half))
            #expect(predicate.formatString.contains("1.5"))
        }
        #expect(NSPredicate(format: "%@ CONTAINS SELF", set).evaluate(with: one))
        #expect(NSPredicate(format: "SELF.@count == 7").evaluate(with: set))
        #expect(NSPredicate(format: "ANY SELF == 1.5").evaluate(with: set))
        #expect(NSPredicate(format: "SELF == %@", set).evaluate(with: set))
        #expect(NSExpression(forConstantValue: set) == NSExpression(forConstantValue: set))
        let keys: [Decimal: String] = [1.5: "a"]
        #expect(!NSPredicate(format: "SELF == %@", keys).evaluate(with: ["b": "a"]))
    }

    /// In each of these, decimals are told apart or gathered.
    @Test(arguments: StoreKind.allCases) func requestsAndKeyPathsTakeDecimals(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait { () throws in
            let order = context.insert("Order", ["total": NSDecimalNumber(string: "2.5")])
            let other = context.insert("Order", ["total": NSDecimalNumber(string: "2.50")])
            for number in Self.numbers { _ = context.insert("Line", ["price": number, "order": order]) }
            try context.save()
            let distinct = try #require(order.value(forKeyPath: "lines.@distinctUnionOfObjects.price") as? [Any])
            #expect(distinct.count == Self.texts.count - 1)
            #expect(try #require(AnyElements(order.value(forKeyPath: "lines.price") ?? "")).elements.count == 7)
            for property in ["price", "order.total"] {
                let request = NSFetchRequest<NSDictionary>(entityName: "Line")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = [property]
                request.returnsDistinctResults = true
                #expect(try context.fetch(request).count == (property == "price" ? 7 : 1), "\(property)")
                request.returnsDistinctResults = false
                request.propertiesToGroupBy = [property]
                #expect(try context.fetch(request).count == (property == "price" ? 7 : 1), "\(property)")
            }
            let lines = NSFetchRequest<NSManagedObject>(entityName: "Line")
            lines.predicate = NSPredicate(format: "price IN %@", Set(Self.numbers.prefix(3).map(\.decimalValue)))
            #expect(try context.fetch(lines).count == 3)
            #expect(Set([lines.predicate, lines.predicate]).count == 1)
            lines.predicate = NSPredicate(format: "NOT price IN %@", NSArray(array: Self.numbers))
            #expect(try context.fetch(lines).isEmpty)
            let orders = NSFetchRequest<NSManagedObject>(entityName: "Order")
            orders.predicate = NSPredicate(format: "ANY lines.price IN %@", NSArray(array: Self.numbers))
            #expect(try context.fetch(orders) == [order])
            orders.predicate = NSPredicate(format: "lines.@max.price == %@", NSDecimalNumber(string: "1e40"))
            #expect(try context.fetch(orders) == [order])
            orders.predicate = NSPredicate(format: "lines.price CONTAINS %@", NSDecimalNumber(string: "0.1"))
            #expect(orders.predicate?.evaluate(with: order) == true)
            lines.predicate = nil
            lines.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: lines, managedObjectContext: context, sectionNameKeyPath: "price", cacheName: nil)
            try controller.performFetch()
            #expect(controller.sections?.count == 7)
            // As a program's own accessors and transformers have it.
            let line = try #require(controller.fetchedObjects?.first)
            let held = Set(Self.numbers.map(\.decimalValue))
            line.setValue(held, forKey: "list")
            #expect(line.value(forKey: "list") as? Set<Decimal> == held)
            #expect(line.changedValues().keys.contains("list"))
            line.setValue(held, forKey: "list")
            context.refresh(line, mergeChanges: true)
            context.rollback()
            other.setValue(order.value(forKey: "total"), forKey: "total")
            #expect(other.changedValues().isEmpty || other.changedValues().count == 1)
            try context.save()
        }
    }
}
