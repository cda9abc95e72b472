import CoreData
import Foundation
import Strata
import StrataTestKit
import Testing

/// Requests that differ in nothing but the constants of their predicates have one plan, and each gets its own results:
/// those of the same request planned anew.
@Suite struct PlanParameterTests {
    typealias Request = NSFetchRequest<NSManagedObjectID>

    private func world(_ kind: StoreKind, _ seed: UInt64 = 1) throws -> (TestStore, CompiledFetchWorld) {
        var random = SeededGenerator(seed: seed)
        let model = CompiledFetchModel.model()
        let thing = try #require(model.entitiesByName["Thing"])
        for name in ["int16", "string", "date"] {
            let property = try #require(thing.propertiesByName[name])
            thing.indexes.append(
                NSFetchIndexDescription(
                    name: "by \(name)",
                    elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)]))
        }
        let store = try TestStore(kind, model)
        let context = store.context()
        let world = try context.performAndWait {
            var world = try CompiledFetchWorld(context)
            world.change(500, &random)
            try context.save()
            return world
        }
        return (store, world)
    }

    private func request(_ predicate: NSPredicate?, _ change: (Request) -> Void = { _ in }) -> Request {
        let request = Request(entityName: "Thing")
        request.resultType = .managedObjectIDResultType
        request.predicate = predicate
        change(request)
        return request
    }

    /// Compares results and count with those of a request that names its store, which is planned anew each time.
    private func check(_ request: Request, _ store: TestStore, _ context: NSManagedObjectContext) throws {
        let anew = try #require(request.copy() as? Request)
        anew.affectedStores = [store.store]
        let text = request.predicate?.formatString ?? ""
        let expected = Result { try context.fetch(anew) }
        let found = Result { try context.fetch(request) }
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            #expect(found == expected, "\(text)")
            #expect(try context.count(for: request) == expected.count, "\(text)")
        case (.failure(let expected), .failure(let found)):
            #expect(expected.localizedDescription == found.localizedDescription, "\(text)")
        default: Issue.record("\(text): \(found) instead of \(expected)")
        }
    }

    private static var constants: [String: [[Any]]] {
        [
            "int16 == %@": [
                [1], [2], [NSNull()], [2.5], ["3"], ["x"], [Date(timeIntervalSinceReferenceDate: 3)], [true], [7],
            ],
            "int16 > %@ AND string != %@": [[0, "a"], [1, "b"], [-4, "é"], [1.5, NSNull()]],
            "NOT (int16 < %@ OR string BEGINSWITH[cd] %@)": [[2, "a"], [0, "É"], [3, ""]],
            "string ==[c] %@": [["abc"], ["ABC"], ["É"], [""], [5]],
            "string LIKE %@": [["a*"], ["*b"], ["?"], ["*"], [""], ["a?c*"]],
            "string MATCHES %@": [["a.*"], ["[ab]+"], ["((("]],
            "string CONTAINS[cd] %@": [["e"], ["É"], ["ß"]],
            "string IN %@": [[["a", "b"]], [["é"]], [[String]()], [["a", 3] as [Any]], [(0..<400).map { "\($0)" }]],
            "int64 IN %@": [
                [[1, 2, 3]], [[Int]()], [[-1]], [Set([1, 7])], [[1, NSNull()] as [Any]], [(0..<90).map { $0 }],
            ],
            "int32 BETWEEN %@": [[[-3, 3]], [[0, 2]], [[2, 0]], [[1, 2, 3]], [[1.5, 2.5]]],
            "int32 BETWEEN {%@, %@}": [[-3, 3], [0, 2], [1.5, 2.5]],
            "date >= %@": [
                [Date(timeIntervalSinceReferenceDate: 0)], [Date.distantPast],
                [NSDate(timeIntervalSinceReferenceDate: 1)],
                [3],
            ],
            "uuid == %@": [[UUID(uuidString: "00000000-0000-0000-0000-000000000001") as Any], [UUID()], [NSNull()]],
            "double < %@": [[0.5], [1], [Double.infinity], [Double.nan], [Int64.max]],
            "decimal <= %@": [[NSDecimalNumber(string: "1.1")], [2], [0.5]],
            "bool == %@": [[true], [false], [1], [0], [2]],
            "data == %@": [[Data([1])], [Data()]],
            "%@ == int16": [[1], [2], [NSNull()]],
            "%@ < int16 AND int16 < %@": [[-4, 2], [0, 7], [1, 1]],
            "owner.title == %@": [["a"], ["b"], [NSNull()]],
            "int16 == 1 AND string > %@": [["a"], ["b"], ["c"]],
            "int16 == 2 AND string > %@": [["a"], ["b"], ["c"]],
        ]
    }

    @Test(arguments: StoreKind.allCases) func constantsOfEveryTypeFindTheirOwn(_ kind: StoreKind) throws {
        let (store, world) = try world(kind)
        try world.context.performAndWait {
            for (format, lists) in Self.constants.sorted(by: { $0.key < $1.key }) {
                // Each after each other one: what one has left behind must not show in the next.
                for _ in 0..<2 {
                    for arguments in lists {
                        let predicate = NSPredicate(format: format, argumentArray: arguments)
                        try check(request(predicate), store, world.context)
                        let page = request(predicate) {
                            $0.sortDescriptors = [NSSortDescriptor(key: "string", ascending: true)]
                            $0.fetchLimit = 7
                        }
                        try check(page, store, world.context)
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 2)) func randomRequestsFindTheirOwn(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("PlanParameterTests.randomRequestsFindTheirOwn: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var (store, world) = try world(kind, seed)
        try world.context.performAndWait {
            for round in 0..<6 {
                world.change(round % 2 == 0 ? 30 : 3, &random)
                if round % 3 != 2 { try world.context.save() }
                for _ in 0..<60 {
                    let predicate = CompiledFetchModel.predicate(
                        world.owners, world.things, &random, depth: random.below(4))
                    let limit = random.chance(0.5) ? 9 : 0
                    try check(request(predicate) { $0.fetchLimit = limit }, store, world.context)
                }
            }
        }
    }

    @Test func requestsThatDifferInConstantsOnlyReuseThePlan() throws {
        let (store, world) = try world(.memory)
        defer { withExtendedLifetime(store) {} }
        let context = world.context
        try context.performAndWait {
            func explain(_ format: String, _ arguments: Any...) throws -> FetchExplanation {
                try context.explain(request(NSPredicate(format: format, argumentArray: arguments)))
            }
            #expect(try !explain("int16 == %@ AND string > %@", 1, "a").reusesPlan)
            let second = try explain("int16 == %@ AND string > %@", 2, "b")
            #expect(second.reusesPlan)
            #expect(second.parameterCount == 2)
            #expect(second.description.hasPrefix("plan: reused, 2 parameters\n"))
            #expect(try explain("int16 == 7 AND string > 'c'").reusesPlan)
            // Another type of constant, operator, option or key path is another plan.
            #expect(try !explain("int16 == %@ AND string > %@", 2.5, "b").reusesPlan)
            #expect(try !explain("int16 == %@ AND string > %@", NSNull(), "b").reusesPlan)
            #expect(try !explain("int16 != %@ AND string > %@", 2, "b").reusesPlan)
            #expect(try !explain("int16 == %@ AND string >[c] %@", 2, "b").reusesPlan)
            #expect(try !explain("int32 == %@ AND string > %@", 2, "b").reusesPlan)
            // A constant that is converted is not a parameter.
            #expect(try !explain("int16 == %@", "1").reusesPlan)
            #expect(try !explain("int16 == %@", "2").reusesPlan)
            let owner = try #require(world.owners.first)
            let other = try #require(world.owners.last)
            #expect(try !explain("owner == %@", owner).reusesPlan)
            #expect(try explain("owner == %@", other.objectID).reusesPlan)
        }
    }

    @Test func anExpressionInTwoPlacesIsNoParameter() throws {
        let (store, world) = try world(.memory)
        try world.context.performAndWait {
            func both(_ first: Any, _ second: Any, isShared: Bool) -> NSPredicate {
                let left = NSExpression(forConstantValue: first)
                let right = isShared ? left : NSExpression(forConstantValue: second)
                let parts = zip(["int16", "int32"], [left, right]).map { key, constant in
                    Strata.NSComparisonPredicate(
                        leftExpression: NSExpression(forKeyPath: key), rightExpression: constant, modifier: .direct,
                        type: .greaterThanOrEqualTo)
                }
                return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
            }
            try check(request(both(1, 1, isShared: true)), store, world.context)
            try check(request(both(1, 7, isShared: false)), store, world.context)
            try check(request(both(7, -3, isShared: false)), store, world.context)
            try check(request(both(2, 2, isShared: true)), store, world.context)
        }
    }

    @Test(arguments: StoreKind.allCases) func unsavedChangesAndChildrenAreAskedWithTheirOwnConstants(
        _ kind: StoreKind
    ) throws {
        let (store, world) = try world(kind)
        let parent = world.context
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try parent.performAndWait {
            let things = try parent.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            for (number, thing) in things.prefix(60).enumerated() { thing.setValue(number % 5, forKey: "int16") }
            for number in 0..<5 {
                try check(request(NSPredicate(format: "int16 == %d", number)), store, parent)
                try check(request(NSPredicate(format: "int16 == %d AND int32 > %d", number, -number)), store, parent)
            }
        }
        try child.performAndWait {
            for number in 0..<5 { try check(request(NSPredicate(format: "int16 == %d", number)), store, child) }
        }
    }

    @Test func subentitiesHavePlansOfTheirOwn() throws {
        let (store, world) = try world(.memory)
        try world.context.performAndWait {
            for entity in ["Thing", "SpecialThing", "Thing", "SpecialThing"] {
                for includesSubentities in [true, false] {
                    for number in [1, 2, 7] {
                        let request = Request(entityName: entity)
                        request.resultType = .managedObjectIDResultType
                        request.includesSubentities = includesSubentities
                        request.predicate = NSPredicate(format: "int16 == %d", number)
                        try check(request, store, world.context)
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func batchRequestsFindTheRowsOfTheirOwnConstants(_ kind: StoreKind) throws {
        let (store, world) = try world(kind)
        defer { withExtendedLifetime(store) {} }
        let context = world.context
        try context.performAndWait {
            for number in [1, 2, 3] {
                let meant = NSPredicate(format: "int32 == %d", number)
                let count = try context.count(for: request(meant))
                let update = NSBatchUpdateRequest(entityName: "Thing")
                update.predicate = meant
                update.propertiesToUpdate = ["int64": number * 1_000]
                update.resultType = .updatedObjectsCountResultType
                #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == count)
                let changed = NSPredicate(format: "int64 == %d", number * 1_000)
                #expect(try context.count(for: request(changed)) == count)
                let deletion = NSBatchDeleteRequest(
                    fetchRequest: NSFetchRequest<any NSFetchRequestResult>(converting: request(changed)))
                deletion.resultType = .resultTypeCount
                #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == count)
                #expect(try context.count(for: request(meant)) == 0)
            }
        }
    }

    @Test func morePlansThanAreKeptFindTheirOwn() throws {
        let (store, world) = try world(.memory)
        try world.context.performAndWait {
            for round in 0..<2 {
                for limit in 1...700 {
                    let meant = request(NSPredicate(format: "int16 >= %d", round)) { $0.fetchLimit = limit }
                    if limit % 50 == 0 {
                        try check(meant, store, world.context)
                    } else {
                        _ = try world.context.fetch(meant)
                    }
                }
            }
        }
    }

    @Test func manyThreadsShareAPlan() async throws {
        let (store, world) = try world(.log)
        let expected = try world.context.performAndWait {
            try (-4..<12).map { (number: Int) in
                try world.context.fetch(
                    request(NSPredicate(format: "int16 >= %d AND string != %@", number, "\(number)")))
            }
        }
        let coordinator = store.coordinator
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<40 {
                        let number = (task * 5 + round * 3) % 16
                        let context = NSManagedObjectContext(.privateQueue)
                        context.persistentStoreCoordinator = coordinator
                        let found = context.performAndWait {
                            let request = Request(entityName: "Thing")
                            request.resultType = .managedObjectIDResultType
                            request.predicate = NSPredicate(
                                format: "int16 >= %d AND string != %@", number - 4, "\(number - 4)")
                            return try? context.fetch(request)
                        }
                        if found != expected[number] { wrong += 1 }
                    }
                    return wrong
                }
            }
            for await wrong in group { #expect(wrong == 0) }
        }
    }
}
