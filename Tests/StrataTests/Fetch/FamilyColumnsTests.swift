import CoreData
import Foundation
import StrataSupport
import StrataTestKit
import Testing

@testable import Strata

/// Which columns are kept of rows of several entities, and what they are said to take.
@Suite struct FamilyColumnsTests {
    /// Two subentities whose own attributes lie in the same slot, rows of all three in turns.
    private static func store(_ kind: StoreKind, rows: Int) throws -> TestStore {
        let (order, rush, gift) = (GraphModel.entity("Order"), GraphModel.entity("Rush"), GraphModel.entity("Gift"))
        order.properties = [
            GraphModel.attribute("number", .integer64AttributeType), GraphModel.attribute("name", .stringAttributeType),
        ]
        rush.properties = [GraphModel.attribute("fee", .integer64AttributeType)]
        gift.properties = [GraphModel.attribute("card", .integer64AttributeType)]
        order.subentities = [rush, gift]
        let store = try TestStore(kind, makeModel([order, rush, gift]))
        let context = store.context()
        try context.performAndWait {
            for number in 0..<rows {
                let object = context.insert(
                    ["Order", "Rush", "Order", "Gift"][number % 4], ["number": number, "name": "order \(number % 10)"])
                if number % 4 == 1 { object.setValue(number % 8, forKey: "fee") }
                if number % 4 == 3 { object.setValue(number % 12, forKey: "card") }
            }
            try context.save()
        }
        return store
    }

    private func count(_ name: String, _ format: String, _ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.predicate = NSPredicate(format: format)
        return try context.count(for: request)
    }

    @Test(arguments: StoreKind.allCases) func siblingsShareWhatTheyInherit(_ kind: StoreKind) throws {
        let rows = 4_200
        let store = try Self.store(kind, rows: rows)
        let context = store.context()
        try context.performAndWait {
            let handle = try #require(store.coordinator.persistentStores.first?.handle)
            let chunks = handle.columnChunks
            #expect(try count("Order", "number < 1000", context) == 1_000)
            let numbers = chunks.heldBytes
            // One number a row, and where each lies, for the columns and for the next scan; some rows may be too few
            // for columns.
            #expect(numbers > 4_000 * 8 && numbers < rows * (8 + 64))
            #expect(try count("Rush", "number < 1000", context) == 250)
            #expect(try count("Gift", "number >= 4000", context) == 50)
            #expect(chunks.heldBytes == numbers)
            #expect(try count("Rush", "fee == 1", context) == rows / 8)
            let fees = chunks.heldBytes - numbers
            #expect(fees > 4_000 * 8 && fees < numbers)
            #expect(try count("Gift", "card == 3", context) == rows / 12)
            #expect(chunks.heldBytes - numbers == fees * 2)
            // The slot of both is the same, and each has its own values.
            #expect(try count("Rush", "fee == 3", context) == 0)
            #expect(try count("Gift", "card == nil", context) == 0)
            chunks.shrink(to: numbers)
            #expect(chunks.heldBytes <= numbers)
            chunks.shrink(to: 0)
            #expect(chunks.heldBytes == 0)
            #expect(try count("Rush", "fee == 1 AND number < 1000", context) == 125)
        }
    }

    /// A column that no row of a row group has takes no memory, and comes into being with the first row that has it.
    @Test func aColumnWithoutRowsTakesNothing() throws {
        let (order, rush) = (GraphModel.entity("Order"), GraphModel.entity("Rush"))
        order.properties = [GraphModel.attribute("number", .integer64AttributeType)]
        rush.properties = [
            GraphModel.attribute("fee", .integer64AttributeType), GraphModel.attribute("note", .stringAttributeType),
        ]
        order.subentities = [rush]
        let store = try TestStore(.memory, makeModel([order, rush]))
        let context = store.context()
        try context.performAndWait {
            for number in 0..<4_200 { _ = context.insert("Order", ["number": number]) }
            try context.save()
            let chunks = try #require(store.coordinator.persistentStores.first?.handle).columnChunks
            #expect(try count("Rush", "fee > 1 OR note CONTAINS 'a'", context) == 0)
            #expect(chunks.heldBytes < 1_000)
            for number in 0..<50 {
                _ = context.insert("Rush", ["number": number, "fee": number, "note": "a\(number)"])
            }
            try context.save()
            let counts = try ColumnChunkUse.setting.withValue(.always) {
                try [
                    count("Rush", "fee > 9", context), count("Rush", "fee > 9 AND note CONTAINS 'a1'", context),
                    count("Order", "number < 50", context),
                ]
            }
            #expect(counts == [40, 10, 100])
        }
    }
}
