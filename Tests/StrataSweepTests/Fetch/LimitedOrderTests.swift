import CoreData
import Foundation
import Strata
import StrataTestKit
import Testing

/// The first so many of thousands of rows: what comes too late is not sorted, and what it would be sorted by next is
/// not computed. Compared with the same request without a limit.
struct LimitedOrderTests {
    private static let count = 4_000

    /// Texts that begin alike, numbers of few values, nulls, and a person's own behind a relationship.
    private static func filled(_ kind: StoreKind, _ random: inout SeededGenerator) throws -> TestStore {
        let (order, person) = (GraphModel.entity("Order"), GraphModel.entity("Person"))
        order.properties = [
            GraphModel.attribute("number", .integer64AttributeType),
            GraphModel.attribute("title", .stringAttributeType),
            GraphModel.attribute("size", .integer16AttributeType), GraphModel.attribute("price", .doubleAttributeType),
            GraphModel.relationship("person", to: person),
        ]
        person.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("age", .integer32AttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [order, person]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let persons = (0..<50).map { index in
                let person = insert("Person", context)
                person.setValue(random.chance(0.1) ? nil : "Person of house \(index % 20)", forKey: "name")
                person.setValue(random.below(30), forKey: "age")
                return person
            }
            for number in 0..<count {
                let order = insert("Order", context)
                order.setValue(number, forKey: "number")
                order.setValue(
                    random.chance(0.05) ? nil : "A title that begins alike \(random.below(700))", forKey: "title")
                order.setValue(random.chance(0.1) ? nil : random.below(5), forKey: "size")
                order.setValue(Double(random.below(2_000)) / 4, forKey: "price")
                order.setValue(random.chance(0.1) ? nil : persons[random.below(persons.count)], forKey: "person")
            }
            try context.save()
        }
        return store
    }

    private static let orders: [[(path: String, isAscending: Bool)]] = [
        [("title", true)], [("title", false)], [("number", false)], [("price", false), ("title", true)],
        [("size", true), ("person.name", false)], [("size", false), ("person.age", true), ("title", true)],
        [("person.name", true), ("person.age", false)], [("title", true), ("person.age", true)],
        [("number", false), ("person.name", true)],
    ]

    @Test(arguments: StoreKind.allCases) func theFirstOfManyAreThoseOfAllInOrder(_ kind: StoreKind) throws {
        var random = SeededGenerator(seed: RandomRuns.seeds(from: 4_100, count: 1)[0])
        let store = try Self.filled(kind, &random)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
            for order in Self.orders {
                request.sortDescriptors = order.map { NSSortDescriptor(key: $0.path, ascending: $0.isAscending) }
                for condition in ["TRUEPREDICATE", "size != 3", "person.age < 12", "number < 900"] {
                    request.predicate = NSPredicate(format: condition)
                    (request.fetchLimit, request.fetchOffset) = (0, 0)
                    let all = try context.fetch(request).map(\.objectID)
                    let windows = [
                        (1, 0), (20, 0), (20, 1_000), (1_500, random.below(50)), (7, 3_999), (2_500, 1_000),
                        (random.below(50) + 1, random.below(Self.count)), (20, Self.count + 100),
                    ]
                    for (limit, offset) in windows {
                        (request.fetchLimit, request.fetchOffset) = (limit, offset)
                        let found = try context.fetch(request).map(\.objectID)
                        #expect(
                            found == Array(all.dropFirst(offset).prefix(limit)),
                            "\(order), \(condition), \(limit) from \(offset)")
                    }
                }
            }
        }
    }
}
