import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Ways through an index that are remembered from one fetch to the next: whatever happens in between, the results are
/// those of a fetch that starts from nothing.
@Suite struct IndexedPageTests {
    private static let count = 600

    private static func model() -> NSManagedObjectModel {
        let person = GraphModel.entity("Person")
        person.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("age", .integer16AttributeType),
            GraphModel.attribute("score", .doubleAttributeType),
        ]
        person.indexes = [
            NSFetchIndexDescription(
                name: "byAge",
                elements: ["age", "name"].compactMap { name in
                    person.propertiesByName[name].map {
                        NSFetchIndexElementDescription(property: $0, collationType: .binary)
                    }
                })
        ]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private func people(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<Self.count {
                let object = insert("Person", context)
                object.setValue("person \(number * 7_919 % Self.count)", forKey: "name")
                object.setValue(number % 5, forKey: "age")
                object.setValue(Double(number), forKey: "score")
            }
            try context.save()
        }
        return store
    }

    private func page<Result: NSFetchRequestResult>(
        _ predicate: NSPredicate, ascending: Bool = true, limit: Int = 20, offset: Int = 0
    ) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: "Person")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: ascending)]
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        return request
    }

    /// Fetches as IDs and as objects, with what is kept and without.
    private func check(
        _ predicate: () -> NSPredicate, _ context: NSManagedObjectContext, ascending: Bool = true, limit: Int = 20,
        offset: Int = 0
    ) throws {
        let ids: NSFetchRequest<NSManagedObjectID> = page(
            predicate(), ascending: ascending, limit: limit, offset: offset)
        ids.resultType = .managedObjectIDResultType
        let objects: NSFetchRequest<NSManagedObject> = page(
            predicate(), ascending: ascending, limit: limit, offset: offset)
        let expected = try IndexUse.setting.withValue(.never) { try context.fetch(ids) }
        #expect(try context.fetch(ids) == expected, "\(predicate())")
        #expect(try context.fetch(objects).map(\.objectID) == expected, "\(predicate())")
        // Once more, by now in the same way.
        #expect(try context.fetch(ids) == expected, "\(predicate())")
    }

    @Test(arguments: StoreKind.allCases, [1, 2] as [UInt64]) func changesInBetween(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("IndexedPageTests.changesInBetween: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try people(kind)
        let contexts = [store.context(), store.context()]
        var names = 0
        for round in 0..<80 {
            let context = contexts[random.below(2)]
            try context.performAndWait {
                let all = NSFetchRequest<NSManagedObject>(entityName: "Person")
                all.predicate = NSPredicate(format: "age == %d", random.below(5))
                let some = try context.fetch(all)
                for _ in 0..<random.below(6) {
                    names += 1
                    switch random.below(3) {
                    case 0:
                        let object = insert("Person", context)
                        object.setValue("person \(random.below(600)).\(names)", forKey: "name")
                        object.setValue(random.below(5), forKey: "age")
                    case 1:
                        guard let object = some.randomElement(using: &random), !object.isDeleted else { continue }
                        object.setValue("person \(random.below(600)).\(names)", forKey: "name")
                    default:
                        guard let object = some.randomElement(using: &random) else { continue }
                        context.delete(object)
                    }
                }
                if random.chance(0.7) { try? context.save() }
                if random.chance(0.3) { context.rollback() }
                if round % 20 == 19 { context.reset() }
            }
            for context in contexts {
                let (age, ascending) = (Int32(random.below(5)), random.chance(0.7))
                let (limit, offset) = (random.chance(0.8) ? 20 : 0, random.chance(0.3) ? 7 : 0)
                try context.performAndWait {
                    try check(
                        { NSPredicate(format: "age == %d", age) }, context, ascending: ascending, limit: limit,
                        offset: offset)
                }
            }
        }
    }

    @Test func constantsOfAllTypesAreToldApart() throws {
        let store = try people(.memory)
        let context = store.context()
        try context.performAndWait {
            let constants: [Any] = [
                3, Int32(3), Int16(3), NSNumber(value: 3), 3.0, 3.5, Float(3), "3", true, NSNumber(value: true), 0, 1,
                "1",
                Int64(3) + 1 << 32, Date(timeIntervalSinceReferenceDate: 3), NSNull(),
            ]
            for _ in 0..<3 {
                for constant in constants {
                    try check({ NSPredicate(format: "age == %@", argumentArray: [constant]) }, context)
                    try check(
                        { NSPredicate(format: "age == 3 AND score > %@", argumentArray: [constant]) }, context)
                }
                for text in ["age IN {1, 3}", "age IN {1}", "NOT age == 3", "age == nil", "age BETWEEN {1, 2}"] {
                    try check({ NSPredicate(format: text) }, context)
                }
                for name in ["person 1", "person 10", "person 100"] {
                    try check({ NSPredicate(format: "age == 3 AND name >= %@", name) }, context)
                    try check({ NSPredicate(format: "age == 3 AND name > %@", name) }, context)
                    try check({ NSPredicate(format: "age == 3 AND name BEGINSWITH[c] %@", name) }, context)
                }
            }
        }
    }

    @Test func aConstantThatChangesIsReadEachTime() throws {
        let store = try people(.memory)
        let context = store.context()
        try context.performAndWait {
            let bound = NSMutableString(string: "person 1")
            let predicate = Strata.NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "name"),
                rightExpression: NSExpression(forConstantValue: bound),
                modifier: .direct, type: .greaterThanOrEqualTo)
            let both = NSCompoundPredicate(
                andPredicateWithSubpredicates: [NSPredicate(format: "age == 2"), predicate])
            try check({ both }, context)
            bound.setString("person 4")
            try check({ both }, context)
        }
    }

    @Test func aRequestThatIsChangedIsAnother() throws {
        let store = try people(.memory)
        let context = store.context()
        try context.performAndWait {
            let request: NSFetchRequest<NSManagedObject> = page(NSPredicate(format: "age == 1"))
            let first = try context.fetch(request)
            #expect(try context.fetch(request) == first)
            request.fetchLimit = 5
            #expect(try context.fetch(request) == Array(first.prefix(5)))
            request.fetchOffset = 2
            #expect(try context.fetch(request) == Array(first[2..<7]))
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            #expect(try context.fetch(request).first != first.first)
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).allSatisfy { !$0.isFault })
        }
    }

    @Test func idsAreEqualWhereverTheyComeFrom() throws {
        let store = try people(.memory)
        let (context, other) = (store.context(), store.context())
        let request: NSFetchRequest<NSManagedObjectID> = page(NSPredicate(format: "age == 1"), limit: 100)
        request.resultType = .managedObjectIDResultType
        let first = try context.performAndWait { try context.fetch(request) }
        context.performAndWait { context.reset() }
        let second = try context.performAndWait { try context.fetch(request) }
        let third = try other.performAndWait { try other.fetch(request) }
        #expect(first.count == 100)
        #expect(first == second)
        #expect(first == third)
        #expect(Set(first + second + third).count == 100)
        context.performAndWait {
            for id in first { #expect(context.object(with: id).objectID == id) }
        }
    }

    @Test func aStoreThatIsAddedIsAsked() throws {
        let store = try people(.memory)
        let context = store.context()
        let request: NSFetchRequest<NSManagedObject> = page(NSPredicate(format: "age == 1"), limit: 1_000)
        try context.performAndWait {
            let count = try context.fetch(request).count
            #expect(try context.fetch(request).count == count)
            let added = try store.coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let object = insert("Person", context)
            object.setValue(1, forKey: "age")
            context.assign(object, to: added)
            try context.save()
            #expect(try context.fetch(request).count == count + 1)
            try store.coordinator.remove(added)
            #expect(try context.fetch(request).count == count)
        }
    }
}
