import CoreData
import Foundation
import StrataSupport
import Testing

@testable import Strata

/// Rows and values without repetitions, however many there are, and of whatever type.
///
/// The hash of Foundation's dictionaries is their count, so that a set of them compared each row with all before; that
/// of its decimals ends in a stack overflow.
@Suite struct DistinctTests {
    private static func model() -> NSManagedObjectModel {
        let item = GraphModel.entity("Item")
        item.properties = [
            GraphModel.attribute("a", .integer64AttributeType), GraphModel.attribute("big", .integer64AttributeType),
            GraphModel.attribute("price", .decimalAttributeType),
            GraphModel.attribute("title", .stringAttributeType),
            GraphModel.attribute("list", .transformableAttributeType),
            GraphModel.attribute("ratio", .doubleAttributeType), GraphModel.attribute("share", .floatAttributeType),
        ]
        return makeModel([item])
    }

    private func request(_ names: [String]) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = names
        request.returnsDistinctResults = true
        return request
    }

    /// Eight times as many rows take about eight times as long, not sixty-four.
    @Test func theTimeGrowsWithTheRows() throws {
        let store = try TestStore(.memory, Self.model())
        let context = store.context()
        try context.performAndWait {
            func duration(upTo count: Int) throws -> Duration {
                let start = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
                let rows = (start..<count).map { ["a": $0, "title": "t\($0 % 97)"] as [String: Any] }
                try context.execute(NSBatchInsertRequest(entityName: "Item", objects: rows))
                let clock = ContinuousClock()
                // The shortest of three: other tests have the processors, too.
                return try (0..<3).map { _ in
                    let begin = clock.now
                    let found = try context.fetch(request(["a", "title"])).count
                    #expect(found == count)
                    return clock.now - begin
                }.min() ?? .zero
            }
            _ = try duration(upTo: 100)
            let few = try duration(upTo: 2_000)
            let many = try duration(upTo: 16_000)
            #expect(many < few * 24, "\(few) for 2,000 rows, \(many) for 16,000")
        }
    }

    @Test(arguments: StoreKind.allCases) func rowsOfEveryTypeAreToldApart(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<30 {
                let values: [String: Any?] = [
                    "a": number % 3 == 0 ? nil : number % 3, "price": NSDecimalNumber(string: "\(number % 4).50"),
                    "title": number % 5 == 0 ? nil : "t\(number % 2)", "list": ["k": number % 2],
                ]
                _ = context.insert("Item", values)
            }
            try context.save()
            for (names, count) in [(["a"], 3), (["price"], 4), (["a", "price"], 12), (["title"], 3), (["list"], 2)] {
                #expect(try context.fetch(request(names)).count == count, "\(names)")
            }
            let page = request(["a", "price"])
            page.sortDescriptors = [
                NSSortDescriptor(key: "price", ascending: false), NSSortDescriptor(key: "a", ascending: true),
            ]
            page.fetchOffset = 1
            page.fetchLimit = 3
            let rows = try context.fetch(page).map { "\($0["price"] ?? "-") \($0["a"] ?? "-")" }
            #expect(rows == ["3.5 1", "3.5 2", "2.5 -"])
        }
    }

    /// A not-a-number equals nothing in a comparison, but is one value among others; zeros of both signs are one, too.
    @Test(arguments: StoreKind.allCases) func allThatIsNoNumberIsOneValue(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<12 {
                let odd = number % 2 == 1
                _ = context.insert(
                    "Item",
                    [
                        "a": 1, "price": odd ? NSDecimalNumber.notANumber : NSDecimalNumber(value: number % 4),
                        "ratio": odd ? (number % 4 == 1 ? Double.nan : -Double.nan) : Double(number % 4),
                        "share": odd ? Float.nan : number % 4 == 0 ? -0.0 : 0.0,
                    ])
            }
            try context.save()
            for (name, count) in [("price", 3), ("ratio", 3), ("share", 2)] {
                #expect(try context.fetch(request([name])).count == count, "\(name)")
                #expect(try context.fetch(request(["a", name])).count == count, "a and \(name)")
                let grouped = request([name])
                grouped.returnsDistinctResults = false
                let size = NSExpressionDescription()
                size.name = "size"
                size.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "a")])
                size.expressionResultType = .integer64AttributeType
                grouped.propertiesToFetch = [name, size]
                grouped.propertiesToGroupBy = [name]
                #expect(try context.explain(grouped).groupsColumns, "\(name)")
                let sizes = try context.fetch(grouped).compactMap { $0["size"] as? Int }.sorted()
                #expect(sizes == (count == 3 ? [3, 3, 6] : [6, 6]), "\(name)")
                let several = request([])
                several.returnsDistinctResults = false
                several.propertiesToFetch = [Self.distinctCount(name)]
                #expect(try context.fetch(several).first?["several"] as? Int == count, "\(name)")
                let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) as NSArray
                let union = items.value(forKeyPath: "@distinctUnionOfObjects.\(name)")
                #expect((union as? [Any])?.count == count, "\(name)")
            }
        }
    }

    /// Sums of integers are exact as long as the sum fits into 64 bits, whatever the rows before came to, and floating
    /// point else; neither is a matter of the rows' order, or of who adds them up.
    @Test(arguments: StoreKind.allCases, [true, false]) func largeIntegersAddUpInAnyOrder(
        _ kind: StoreKind, _ isCompiled: Bool
    ) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try CompiledExecution.setting.withValue(isCompiled) {
            try context.performAndWait {
                let fits: [Int64] = [.max, .max, -5, .min, .min]
                for value in fits { _ = context.insert("Item", ["a": 1, "big": value]) }
                for value in [Int64.max, 2, .max] { _ = context.insert("Item", ["a": 2, "big": value]) }
                try context.save()
                let grouped = request(["a"])
                grouped.returnsDistinctResults = false
                let total = NSExpressionDescription()
                total.name = "sum"
                total.expression = NSExpression(format: "sum:(big)")
                let average = NSExpressionDescription()
                average.name = "average"
                average.expression = NSExpression(format: "average:(big)")
                grouped.propertiesToFetch = ["a", total, average]
                grouped.propertiesToGroupBy = ["a"]
                #expect(try context.explain(grouped).groupsColumns == isCompiled)
                let found = try context.fetch(grouped)
                try #require(found.count == 2)
                #expect(found[0]["sum"] as? Int == -7 && found[0]["average"] as? Double == -1.4)
                #expect(found[1]["sum"] as? Double == 0x1p64 && found[1]["average"] as? Double == 0x1p64 / 3)
                let values = fits.map { $0 as NSNumber } as NSArray
                #expect(values.value(forKeyPath: "@sum.self") as? Int == -7)
                let mixed = [NSDecimalNumber(string: "0.5"), NSNumber(value: Int64.max), NSNumber(value: Int64.max)]
                let sum = (mixed as NSArray).value(forKeyPath: "@sum.self") as? NSDecimalNumber
                #expect(sum == NSDecimalNumber(string: "18446744073709551614.5"))
            }
        }
    }

    private static func distinctCount(_ name: String) -> NSExpressionDescription {
        let result = NSExpressionDescription()
        result.name = "several"
        result.expression = NSExpression(format: "count:(distinct:(\(name)))")
        result.expressionResultType = .integer64AttributeType
        return result
    }
}
