import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Compiled fetches against the interpreter: the same requests, the same rows, the same results.
@Suite struct CompiledFetchTests {
    /// Runs the body compiled and interpreted.
    private func both<Value>(_ body: () throws -> Value) rethrows -> (compiled: Value, interpreted: Value) {
        let compiled = try body()
        let interpreted = try CompiledExecution.setting.withValue(false) { try body() }
        return (compiled, interpreted)
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 1))
    func randomPredicates(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("CompiledFetchTests.randomPredicates: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, CompiledFetchModel.model())
        let context = store.context()
        try context.performAndWait {
            var world = try CompiledFetchWorld(context)
            for round in 0..<10 {
                // Blocks of a few rows, which lie plain, and of many, which are packed and have zone maps.
                world.change(round % 3 == 0 ? 400 : 20, &random)
                if round % 4 != 3 { try context.save() }
                for _ in 0..<(BuildMode.isDebug ? 20 : 150) { try compare(world, &random) }
            }
        }
    }

    private func compare(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: random.chance(0.8) ? "Thing" : "SpecialThing")
        request.resultType = .managedObjectIDResultType
        let predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        request.predicate = predicate
        request.includesSubentities = random.chance(0.8)
        request.includesPendingChanges = random.chance(0.8)
        if random.chance(0.3) { request.fetchLimit = random.below(30) }
        if random.chance(0.3) { request.fetchOffset = random.below(10) }
        let ids = try both { try world.context.fetch(request) }
        #expect(ids.compiled == ids.interpreted, "\(predicate.formatString)")
        let counts = try both { try world.context.count(for: request) }
        #expect(counts.compiled == counts.interpreted, "\(predicate.formatString)")
        #expect(counts.compiled == ids.compiled.count, "\(predicate.formatString)")
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 4, count: 1)) func randomOrders(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("CompiledFetchTests.randomOrders: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, CompiledFetchModel.model())
        let context = store.context()
        try context.performAndWait {
            var world = try CompiledFetchWorld(context)
            for round in 0..<8 {
                world.change(round % 3 == 0 ? 400 : 20, &random)
                if round % 2 == 0 { try context.save() }
                for _ in 0..<(BuildMode.isDebug ? 12 : 30) { try compareOrder(world, &random) }
            }
        }
    }

    private func compareOrder(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Thing")
        request.resultType = .managedObjectIDResultType
        if random.chance(0.6) {
            request.predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        }
        request.includesPendingChanges = random.chance(0.7)
        request.sortDescriptors = (0..<1 + random.below(3)).map { _ in
            let kind = CompiledFetchModel.kinds[random.below(CompiledFetchModel.kinds.count)].name
            return NSSortDescriptor(key: kind, ascending: random.chance(0.5))
        }
        if random.chance(0.6) { request.fetchLimit = 1 + random.below(30) }
        if random.chance(0.3) { request.fetchOffset = random.below(10) }
        let ids = try both { try world.context.fetch(request) }
        let names = request.sortDescriptors?.map(\.description) ?? []
        #expect(ids.compiled == ids.interpreted, "\(names) \(request.predicate?.formatString ?? "")")
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 6, count: 1)) func randomGroups(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("CompiledFetchTests.randomGroups: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, CompiledFetchModel.model())
        let context = store.context()
        try context.performAndWait {
            var world = try CompiledFetchWorld(context)
            for round in 0..<6 {
                world.change(round % 3 == 0 ? 400 : 20, &random)
                try context.save()
                for _ in 0..<(BuildMode.isDebug ? 15 : 40) { try compareGroups(world, &random) }
            }
        }
    }

    private func compareGroups(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
        request.resultType = .dictionaryResultType
        if random.chance(0.5) {
            request.predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        }
        let keys = [
            "bool", "int16", "int32", "int64", "string", "date", "owner", "double", "float", "uuid", "decimal", "data",
            "uri",
        ]
        let groups = (0..<random.below(3)).map { _ in keys[random.below(keys.count)] }
        let functions = ["sum", "count", "min", "max", "average"]
        let numbers = [
            "bool", "int16", "int32", "int32Twin", "date", "dateTwin", "int64", "double", "float", "decimal",
        ]
        let aggregates = (0..<1 + random.below(3)).map { index in
            let description = NSExpressionDescription()
            description.name = "value\(index)"
            let function = functions[random.below(functions.count)]
            let name = function == "count" && random.chance(0.5) ? "string" : numbers[random.below(numbers.count)]
            let argument = random.chance(0.3) ? "distinct:(\(name))" : name
            description.expression = NSExpression(format: "\(function):(\(argument))")
            return description
        }
        request.propertiesToFetch = groups + aggregates
        if !groups.isEmpty { request.propertiesToGroupBy = groups }
        if random.chance(0.3) { request.sortDescriptors = [NSSortDescriptor(key: "value0", ascending: false)] }
        let found = try both { try world.context.fetch(request) }
        let text = "\(groups) \(aggregates.map { $0.expression?.description ?? "" })"
        #expect(found.compiled.map(flat) == found.interpreted.map(flat), "\(text)")
    }

    /// Numbers that were added in another order may differ in their last digits, and a group's zero has either sign.
    private func flat(_ dictionary: NSDictionary) -> [String] {
        dictionary.map { key, value in
            if let number = value as? Double { return "\(key): \(Float(number) + 0)" }
            return "\(key): \(value)"
        }.sorted()
    }

    @Test(arguments: StoreKind.allCases) func manyBlocks(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            var employees: [Employee] = []
            for index in 0..<90_000 {
                let employee = Employee(context: context)
                employee.name = index % 7 == 0 ? "x delta \(index)" : "y \(index)"
                employee.age = Int16(index / 1_000)
                if index % 100 == 0 { employees.append(employee) }
                if index % 30_000 == 29_999 { try context.save() }
            }
            for employee in employees { employee.age = 200 }
            try context.save()
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(format: "(age >= 80 AND name CONTAINS 'delta') OR name ENDSWITH[c] 'Y 123'")
            let ids = try both { try context.fetch(request) }
            #expect(ids.compiled == ids.interpreted)
            #expect(try context.count(for: request) == ids.compiled.count)
            #expect(ids.compiled.count > 1_000)
            let explanation = try context.explain(request)
            #expect(explanation.path == .compiledScan)
            #expect(explanation.results == ids.compiled.count)
            try checkExplanations(context)
        }
    }

    @Test func largeValues() throws {
        let store = try TestStore(.log)
        let context = store.context()
        try context.performAndWait {
            let long = String(repeating: "abc ", count: 50_000)
            for (index, name) in [long + "delta", long, "delta", "x"].enumerated() {
                let employee = Employee(context: context)
                employee.name = name
                employee.age = Int16(index)
            }
            try context.save()
            for text in ["name CONTAINS 'delta'", "name BEGINSWITH[c] 'ABC'", "name == 'x'", "name LIKE '*a'"] {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
                request.resultType = .managedObjectIDResultType
                request.predicate = NSPredicate(format: text)
                let ids = try both { try context.fetch(request) }
                #expect(ids.compiled == ids.interpreted, "\(text)")
                #expect(!ids.compiled.isEmpty, "\(text)")
            }
        }
    }

    /// Persons of 0 to 89 years in the order of their age, except for 900 of 200 years in the last block.
    private func checkExplanations(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "age == 10")
        var explanation = try context.explain(request)
        #expect(explanation.path == .compiledScan)
        #expect(explanation.results == 990 && explanation.rowsMatched == 990)
        #expect(explanation.blocks > 10)
        // Of column chunks each run of a block counts: those that were changed lie between the others.
        #expect(explanation.blocksPruned * 8 >= explanation.blocks * 7)
        #expect(explanation.blocksDecoded == explanation.blocks - explanation.blocksPruned)
        #expect(explanation.rowsTested < 20_000 && explanation.rowsInterpreted == 0)
        request.predicate = NSPredicate(format: "age == 10 AND name MATCHES '.*9'")
        explanation = try context.explain(request)
        #expect(explanation.path == .partlyCompiledScan)
        #expect(explanation.rowsInterpreted == 990)
        request.predicate = NSPredicate(format: "age + 1 == 3")
        explanation = try context.explain(request)
        #expect(explanation.path == .compiledScan)
        #expect(explanation.rowsInterpreted == 0 && explanation.rowsTested == 90_000)
        request.predicate = NSPredicate(format: "age ** 1 == 3")
        explanation = try context.explain(request)
        #expect(explanation.path == .interpretedScan)
        #expect(explanation.rowsInterpreted == 90_000 && explanation.rowsTested == 0)
        request.predicate = nil
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        request.fetchLimit = 50
        explanation = try context.explain(request)
        #expect(explanation.path == .allRows && explanation.sortsColumns && explanation.results == 50)
        request.predicate = NSPredicate(format: "department == %@", insert("Department", context))
        #expect(try context.explain(request).path == .postings)
        context.rollback()
        let sum = NSFetchRequest<NSDictionary>(entityName: "Employee")
        sum.resultType = .dictionaryResultType
        let description = NSExpressionDescription()
        description.name = "sum"
        description.expression = NSExpression(format: "sum:(age)")
        sum.propertiesToFetch = [description]
        explanation = try context.explain(sum)
        #expect(explanation.groupsColumns && explanation.rowsMatched == 90_000 && explanation.results == 1)
        #expect(explanation.description.contains("grouped by columns"))
        let count = NSFetchRequest<NSNumber>(entityName: "Employee")
        count.resultType = .countResultType
        #expect(try context.explain(count).path == .counters)
    }
}
