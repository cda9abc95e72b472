import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Plans of dictionaries, groups and computed conditions that are used again find what the same request planned anew
/// finds, whatever came before.
@Suite struct SharedPlanTests {
    private typealias Request = NSFetchRequest<any NSFetchRequestResult>

    // MARK: Requests

    private static func computed(_ name: String, _ format: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        return description
    }

    private enum Form: CaseIterable {
        case ids, page, rows, distinct, groups, total, row
    }

    private static func request(_ predicate: NSPredicate?, _ form: Form, factor: Int = 2) -> Request {
        let request = Request(entityName: "Thing")
        request.predicate = predicate
        request.resultType = .dictionaryResultType
        switch form {
        case .ids: request.resultType = .managedObjectIDResultType
        case .page:
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [
                NSSortDescriptor(key: "int16", ascending: true), NSSortDescriptor(key: "int32", ascending: false),
            ]
            (request.fetchOffset, request.fetchLimit) = (1, 7)
        case .rows:
            request.propertiesToFetch = ["int16", "string", computed("product", "int32 * \(factor)"), "owner.title"]
            request.sortDescriptors = [NSSortDescriptor(key: "int16", ascending: false)]
            request.fetchLimit = 50
        case .distinct:
            request.propertiesToFetch = ["string", "bool"]
            request.returnsDistinctResults = true
        case .groups:
            request.propertiesToGroupBy = ["bool"]
            request.propertiesToFetch = [
                "bool", computed("sum", "sum:(int16)"), computed("texts", "count:(distinct:(string))"),
            ]
            request.havingPredicate = NSPredicate(format: "count:(SELF) > \(factor)")
        case .total: request.propertiesToFetch = [computed("greatest", "max:(int32)"), computed("n", "count:(int16)")]
        case .row: request.propertiesToFetch = ["string", computed("greatest", "max:(int32)")]
        }
        return request
    }

    private static var constants: [(format: String, arguments: [[Any]])] {
        [
            ("int16 == %@", [[1], [2], [NSNull()], [2.5], ["3"], [7], [true]]),
            ("int64 IN %@", [[[1, 2]], [[1]], [[Int]()], [[1, 2, 3]], [[-3, 7]], [[1, NSNull()] as [Any]]]),
            ("int64 IN {%@, %@}", [[1, 2], [3, 7], [-3, NSNull()]]),
            ("int16 BETWEEN {%@, %@}", [[0, 2], [1, 7], [2, 1]]),
            ("int16 == %@ AND string != %@", [[1, "a"], [2, "abc"], [3, NSNull()]]),
            ("int16 * 2 > %@", [[1], [4], [-7], [NSNull()]]), ("int16 == %@ AND int32 * 2 > int64", [[1], [2], [3]]),
            ("owner == nil OR int16 == %@", [[1], [7]]), ("owner.title == %@ AND int16 > %@", [["a", 0], ["A", 1]]),
            ("owner.things.@count > %@ AND int16 == %@", [[1, 2], [100, 2], [10, 3]]),
            ("TERNARY(int16 > 1, 1, 2) == %@", [[1], [2]]), ("string MATCHES %@", [["a.*"], [".*c"], ["(("]]),
            ("decimal > %@ AND int16 == %@", [[1, 2], [NSDecimalNumber(string: "0.1"), 3]]),
        ]
    }

    /// With constants that are no sides of comparisons.
    private static let literals = [
        "int16 * 1 > 2", "int16 * 2 > 2", "int16 * 2.0 > 2", "int16 + 1 == int32", "int16 + 2 == int32",
        "TERNARY(int16 > 1, 1, 2) == 1", "TERNARY(int16 > 2, 1, 2) == 1", "string MATCHES 'a.*'",
        "string MATCHES 'b.*'", "int16 == '1'", "int16 == '2'", "date > CAST(1, 'NSDate')", "date > CAST(0, 'NSDate')",
        "int16 == {1, 2}[0]", "int16 == {1, 2}[1]", "int16 == {2, 1}[0]",
    ]

    // MARK: Comparing

    /// Results that can be compared, or the error. The second of two requests is made with the plan of the first.
    private static func found(_ request: Request, _ context: NSManagedObjectContext) -> String {
        do {
            let count = try context.count(for: request)
            let results = try context.fetch(request)
            let texts = results.map { result -> String in
                guard let dictionary = result as? NSDictionary else { return "\(result)" }
                let pairs = dictionary.map { "\($0.key): \($0.value)" }
                return pairs.sorted().joined(separator: ", ")
            }
            return "\(count): \(texts)"
        } catch {
            return error.localizedDescription
        }
    }

    private static func check(_ request: Request, _ store: TestStore, _ context: NSManagedObjectContext) throws {
        let anew = try #require(request.copy() as? Request)
        anew.affectedStores = [store.store]
        let expected = found(anew, context)
        #expect(found(request, context) == expected, "\(request)")
    }

    private static func world(_ kind: StoreKind) throws -> (TestStore, CompiledFetchWorld) {
        var random = SeededGenerator(seed: 5)
        let model = CompiledFetchModel.model()
        let thing = try #require(model.entitiesByName["Thing"])
        for names in [["int16"], ["int32"], ["string"], ["owner", "int16"]] {
            thing.indexes.append(
                NSFetchIndexDescription(
                    name: names.joined(),
                    elements: names.compactMap { name in
                        thing.propertiesByName[name].map {
                            NSFetchIndexElementDescription(property: $0, collationType: .binary)
                        }
                    }))
        }
        let store = try TestStore(kind, model)
        let context = store.context()
        let world = try context.performAndWait {
            var world = try CompiledFetchWorld(context)
            world.change(900, &random)
            try context.save()
            return world
        }
        return (store, world)
    }

    private static func checkAll(_ store: TestStore, _ context: NSManagedObjectContext) throws {
        for form in Form.allCases {
            for (format, lists) in constants {
                for arguments in lists {
                    let predicate = NSPredicate(format: format, argumentArray: arguments)
                    try check(request(predicate, form), store, context)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func constantsOfAllKindsFindTheirOwn(_ kind: StoreKind) throws {
        let (store, world) = try Self.world(kind)
        try world.context.performAndWait { try Self.checkAll(store, world.context) }
    }

    @Test(arguments: StoreKind.allCases) func constantsInsideOfFunctionsArePartOfThePlan(_ kind: StoreKind) throws {
        let (store, world) = try Self.world(kind)
        try world.context.performAndWait {
            for _ in 0..<3 {
                for form in Form.allCases {
                    for format in Self.literals {
                        for factor in 2...3 {
                            let request = Self.request(NSPredicate(format: format), form, factor: factor)
                            try Self.check(request, store, world.context)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func unsavedChangesPinnedContextsAndChildrenFindTheirOwn(
        _ kind: StoreKind
    ) throws {
        var (store, world) = try Self.world(kind)
        let pinned = store.context()
        try pinned.performAndWait { try pinned.setQueryGenerationFrom(.current) }
        try world.context.performAndWait {
            var random = SeededGenerator(seed: 6)
            world.change(60, &random)
            try Self.checkAll(store, world.context)
        }
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = world.context
        try child.performAndWait { try Self.checkAll(store, child) }
        try world.context.performAndWait { try world.context.save() }
        try pinned.performAndWait { try Self.checkAll(store, pinned) }
    }

    @Test func coordinatorsOfOtherModelsHavePlansOfTheirOwn() throws {
        let (first, world) = try Self.world(.memory)
        let plain = try TestStore(.memory, CompiledFetchModel.model(hasSubentity: false))
        let context = plain.context()
        try context.performAndWait {
            var random = SeededGenerator(seed: 8)
            var other = try CompiledFetchWorld(context, hasSubentity: false)
            other.change(400, &random)
            try context.save()
        }
        for _ in 0..<2 {
            try world.context.performAndWait { try Self.checkAll(first, world.context) }
            try context.performAndWait { try Self.checkAll(plain, context) }
        }
    }

    @Test func aStoreInThePlaceOfAnotherIsAskedByItsOwnIndexes() throws {
        let (store, world) = try Self.world(.memory)
        try world.context.performAndWait { try Self.checkAll(store, world.context) }
        let coordinator = store.coordinator
        try coordinator.remove(store.store)
        let other = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            var random = SeededGenerator(seed: 9)
            var new = try CompiledFetchWorld(context)
            new.change(600, &random)
            try context.save()
            for form in Form.allCases {
                for number in [1, 2, 7] {
                    let request = Self.request(NSPredicate(format: "int16 == %d", number), form)
                    let anew = try #require(request.copy() as? Request)
                    anew.affectedStores = [other]
                    #expect(Self.found(request, context) == Self.found(anew, context), "\(request)")
                }
            }
        }
    }

    @Test func plansOfDictionariesAreUsedAgain() throws {
        let (store, world) = try Self.world(.log)
        defer { withExtendedLifetime(store) {} }
        try world.context.performAndWait {
            func explain(_ format: String, _ form: Form, factor: Int = 2) throws -> FetchExplanation {
                try world.context.explain(Self.request(NSPredicate(format: format), form, factor: factor))
            }
            for form in [Form.distinct, .total] {
                #expect(try !explain("int16 == 1 AND int32 > 0", form).reusesPlan)
                let again = try explain("int16 == 3 AND int32 > 1", form)
                #expect(again.reusesPlan && again.parameterCount == 2)
                #expect(try !explain("int16 == nil AND int32 > 1", form).reusesPlan)
                #expect(try !explain("int16 == 2.5 AND int32 > 1", form).reusesPlan)
            }
            // What comes once would drive out what comes again.
            for form in [Form.rows, .groups] {
                #expect(try !explain("int64 == 1", form, factor: 5).reusesPlan)
                #expect(try !explain("int64 == 1", form, factor: 5).reusesPlan)
                #expect(try explain("int64 == 2", form, factor: 5).reusesPlan)
                #expect(try !explain("int64 == 2", form, factor: 6).reusesPlan)
            }
            // The fetch of the row with the greatest value has the constant that it was made with.
            #expect(try !explain("int64 == 1", .row).reusesPlan)
            #expect(try !explain("int64 == 1", .row).reusesPlan)
            #expect(try explain("int64 == 1", .row).reusesPlan)
            #expect(try !explain("int64 == 2", .row).reusesPlan)
            // Another value each time.
            for _ in 0..<3 { #expect(try !explain("date < now()", .ids).reusesPlan) }
        }
    }

    // MARK: Where the plan says where to look

    @Test func dictionariesAndComputedConditionsGoByTheConstantsOfThePlan() throws {
        let (store, world) = try Self.world(.log)
        defer { withExtendedLifetime(store) {} }
        try world.context.performAndWait {
            for form in [Form.distinct, .total, .groups, .rows] {
                let explanation = try world.context.explain(Self.request(NSPredicate(format: "int16 == 1"), form))
                #expect(explanation.isDirect && explanation.index == "Thing.int16", "\(form): \(explanation)")
            }
            let owner = try #require(world.owners.last)
            let request = Self.request(NSPredicate(format: "owner == %@ AND int16 * 2 > int32", owner), .distinct)
            #expect(try world.context.explain(request).isDirect)
        }
    }

    /// Many owners with two things each, every third of which is special.
    private static func pairs() throws -> TestStore {
        let model = CompiledFetchModel.model()
        let thing = try #require(model.entitiesByName["Thing"])
        let number = try #require(thing.propertiesByName["int32"])
        thing.indexes = [
            NSFetchIndexDescription(
                name: "int32", elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
        ]
        let store = try TestStore(.log, model)
        let context = store.context()
        try context.performAndWait {
            for number in 0..<5_000 {
                let thing = insert(number % 3 == 0 ? "SpecialThing" : "Thing", context)
                thing.setValue(number, forKey: "int32")
                thing.setValue(number % 10, forKey: "int16")
                if number % 2 == 0 { thing.setValue(insert("Owner", context), forKey: "owner") }
            }
            try context.save()
            let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            for (first, second) in zip(things, things.dropFirst()) where second.value(forKey: "owner") == nil {
                second.setValue(first.value(forKey: "owner"), forKey: "owner")
            }
            try context.save()
        }
        return store
    }

    @Test func aFewRowsInTheOrderOfAnIndexAreAskedForTheirOwnMembers() throws {
        let store = try Self.pairs()
        let context = store.context()
        try context.performAndWait {
            func page(_ format: String) -> Request {
                let request = Self.request(NSPredicate(format: format), .ids)
                request.sortDescriptors = [NSSortDescriptor(key: "int32", ascending: false)]
                request.fetchLimit = 5
                return request
            }
            let many = try context.explain(page("owner.things.@count > 1"))
            #expect(many.isDirect && many.index == "Thing.int32" && many.results == 5, "\(many)")
            #expect(many.rowsTested < 100 && many.semiJoins == ["things from owners"], "\(many)")
            // A few rows are not enough.
            let none = try context.explain(page("owner.things.@count > 2"))
            #expect(!none.isDirect && none.results == 0, "\(none)")
            for format in [
                "owner.things.@count > 1", "owner.things.@count < 2", "owner.things.@count > 2",
                "owner.things.@count > 1 AND int16 == 3", "ANY owner.things.int16 == 7",
            ] {
                for limit in [0, 3, 40, 64, 200] {
                    let request = page(format)
                    request.fetchLimit = limit
                    try Self.check(request, store, context)
                }
            }
        }
    }

    @Test func aPageFarIntoAnOrderIsReadFromItsIndex() throws {
        let store = try Self.pairs()
        let context = store.context()
        try context.performAndWait {
            let request = Self.request(nil, .ids)
            request.includesSubentities = false
            request.sortDescriptors = [NSSortDescriptor(key: "int32", ascending: false)]
            (request.fetchOffset, request.fetchLimit) = (600, 20)
            let explanation = try context.explain(request)
            #expect(explanation.path == .orderedIndex && explanation.results == 20, "\(explanation)")
            try Self.check(request, store, context)
        }
    }

    @Test func whatTheConditionGivesOneValueIsNotSortedBy() throws {
        let store = try Self.pairs()
        let context = store.context()
        context.performAndWait {
            for names in [["int16"], ["int16", "int32"], ["-int32", "int16"], ["int16", "owner.title", "-int32"]] {
                for limit in [0, 7] {
                    for format in [
                        "int16 == 3", "int16 == 3 AND int32 > 100", "int16 == nil", "int16 == 3 OR int16 == 4",
                    ] {
                        let request = Self.request(NSPredicate(format: format), .ids)
                        request.sortDescriptors = names.map { name in
                            let key = name.replacingOccurrences(of: "-", with: "")
                            return NSSortDescriptor(key: key, ascending: !name.hasPrefix("-"))
                        }
                        request.fetchLimit = limit
                        let interpreted = CompiledExecution.setting.withValue(false) { Self.found(request, context) }
                        #expect(Self.found(request, context) == interpreted, "\(request)")
                    }
                }
            }
        }
    }
}
