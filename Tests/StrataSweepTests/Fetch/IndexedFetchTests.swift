import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Fetches by way of ordered indexes, scans and the interpreter: the same requests, the same rows, the same results.
@Suite struct IndexedFetchTests {
    /// The model of compiled fetches with indexes of one and several elements, in both directions, whole and partial,
    /// on an entity and its subentity.
    private static func model() throws -> NSManagedObjectModel {
        let model = CompiledFetchModel.model()
        let thing = try #require(model.entitiesByName["Thing"])
        let special = try #require(model.entitiesByName["SpecialThing"])
        for names in [
            ["int16", "string"], ["-string"], ["double", "-int32"], ["date"], ["uuid", "bool"], ["-decimal", "float"],
            ["data"], ["owner", "int64"], ["int64Twin"], ["bool", "-date", "string"], ["list"],
        ] where thing.propertiesByName[names[0].hasPrefix("-") ? String(names[0].dropFirst()) : names[0]] != nil {
            try CompiledFetchModel.index(thing, thing, names)
        }
        try CompiledFetchModel.index(thing, thing, ["int32"], where: "int16 >= 1")
        try CompiledFetchModel.index(thing, thing, ["-int64", "string"], where: "bool == YES AND string != nil")
        try CompiledFetchModel.index(thing, thing, ["uri"], where: "NOT (int32 == 3)")
        try CompiledFetchModel.index(special, thing, ["extra", "int32"])
        return model
    }

    private enum Way: CaseIterable { case always, automatic, never, interpreted }

    private func run<Value>(_ way: Way, _ body: () throws -> Value) rethrows -> Value {
        switch way {
        case .always: try IndexUse.setting.withValue(.always) { try body() }
        case .automatic: try body()
        case .never: try IndexUse.setting.withValue(.never) { try body() }
        case .interpreted: try CompiledExecution.setting.withValue(false) { try body() }
        }
    }

    private func predicate(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) -> NSPredicate {
        if random.chance(0.2) { return CompiledFetchModel.predicate(world.owners, world.things, &random) }
        // What indexes are for: a few conditions, all of which must hold.
        let parts = (0...random.below(3)).map { _ in
            CompiledFetchModel.predicate(world.owners, world.things, &random, depth: 3)
        }
        let extra = ["int16 >= 1", "bool == YES AND string != nil", "int16 IN {1, 2, 3}", "NOT (int32 == 3)"]
        let more = random.chance(0.3) ? [NSPredicate(format: extra[random.below(extra.count)])] : []
        return NSCompoundPredicate(andPredicateWithSubpredicates: parts + more)
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 1))
    func randomRequests(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("IndexedFetchTests.randomRequests: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, try Self.model())
        let context = store.context()
        try context.performAndWait {
            var world = try CompiledFetchWorld(context)
            var indexed = 0
            for round in 0..<8 {
                world.change(round % 3 == 0 ? 400 : 20, &random)
                if round % 4 != 3 { try context.save() }
                for _ in 0..<(BuildMode.isDebug ? 40 : 120) { indexed += try compare(world, &random) }
            }
            #expect(indexed > 50)
        }
    }

    /// - Returns: 1 when an index was used.
    private func compare(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws -> Int {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: random.chance(0.7) ? "Thing" : "SpecialThing")
        request.resultType = .managedObjectIDResultType
        if random.chance(0.85) { request.predicate = predicate(world, &random) }
        request.includesSubentities = random.chance(0.8)
        request.includesPendingChanges = random.chance(0.7)
        if random.chance(0.4) { request.fetchLimit = random.below(30) }
        if random.chance(0.2) { request.fetchOffset = random.below(10) }
        if random.chance(0.5) {
            let orders = [
                ["int16", "string"], ["string"], ["double", "-int32"], ["date"], ["uuid", "bool"], ["string", "int16"],
                ["bool", "-date", "string"], ["-bool", "date", "-string"], ["int32"], ["-int64", "string"], ["-date"],
            ]
            request.sortDescriptors = orders[random.below(orders.count)].map { name in
                let isDescending = name.hasPrefix("-")
                return NSSortDescriptor(key: isDescending ? String(name.dropFirst()) : name, ascending: !isDescending)
            }
        }
        let ids = try Way.allCases.map { way in try run(way) { try world.context.fetch(request) } }
        let counts = try Way.allCases.map { way in try run(way) { try world.context.count(for: request) } }
        let sorts = request.sortDescriptors?.map { "\($0.key ?? "") \($0.ascending)" } ?? []
        for (way, (found, count)) in zip(Way.allCases, zip(ids, counts)) {
            #expect(found == ids[3], "\(way): \(request.predicate?.formatString ?? ""), \(sorts)")
            #expect(count == ids[3].count, "\(way): \(request.predicate?.formatString ?? "")")
        }
        let explanation = try run(.always) { try world.context.explain(request) }
        #expect((explanation.index != nil) == (explanation.path == .orderedIndex))
        return explanation.index == nil ? 0 : 1
    }

    // MARK: What is chosen

    private func people(_ count: Int, _ kind: StoreKind) throws -> TestStore {
        let person = GraphModel.entity("Person")
        person.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("age", .integer16AttributeType),
            GraphModel.attribute("code", .integer64AttributeType),
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
        person.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [person]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            for number in 0..<count {
                let object = insert("Person", context)
                object.setValue("person \(number * 7_919 % count)", forKey: "name")
                object.setValue(number % 100, forKey: "age")
                object.setValue(number, forKey: "code")
            }
            try context.save()
        }
        return store
    }

    private func request(
        _ format: String?, sortedBy keys: [String] = [], limit: Int = 0
    ) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        request.fetchLimit = limit
        return request
    }

    @Test(arguments: StoreKind.allCases) func anIndexIsChosenWhereItIsQuicker(_ kind: StoreKind) throws {
        let store = try people(5_000, kind)
        let context = store.context()
        try context.performAndWait {
            func explain(_ request: NSFetchRequest<NSManagedObject>) throws -> FetchExplanation {
                try context.explain(request)
            }
            // A page in the order of the index: nothing is sorted, and no more is read than is wanted.
            let page = try explain(
                request("age BETWEEN {40, 60}", sortedBy: ["age", "name"], limit: 10))
            #expect(page.path == .orderedIndex)
            #expect(page.index == "Person.byAge")
            #expect(page.rowsEstimated == 21 * 50)
            #expect(page.rowsMatched == 10)
            #expect(page.rowsTested == 0)
            // What the index does not say is tested.
            let rest = try explain(request("age == 3 AND name ENDSWITH '1'", sortedBy: ["name"], limit: 5))
            #expect(rest.path == .orderedIndex)
            #expect(rest.rowsTested > 0)
            // The key of a constraint.
            let key = try explain(request("code == 4321"))
            #expect(key.index == "Person.code")
            #expect(key.rowsEstimated == 1)
            #expect(key.results == 1)
            let counted = try IndexUse.setting.withValue(.always) {
                try context.count(for: request("age == 3 AND name BEGINSWITH 'person 1'"))
            }
            #expect(
                counted
                    == (try IndexUse.setting.withValue(.never) {
                        try context.count(for: request("age == 3 AND name BEGINSWITH 'person 1'"))
                    }))
            // Nearly all rows, and an index that has not this order: all are scanned.
            #expect(try explain(request("age >= 1")).path == .compiledScan)
            #expect(try explain(request("name == 'person 5'")).path == .compiledScan)
        }
    }
}
