import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Fetches over column chunks of columns against fetches over blocks and the interpreter, while rows come, change and
/// go.
@Suite struct ColumnChunkTests {
    enum Budget: CaseIterable {
        /// All column chunks fit.
        case ample
        /// Some of them do: others are dropped, or not kept.
        case scarce

        var byteCount: Int { self == .ample ? 64 << 20 : 24 << 10 }
    }

    /// The same request over column chunks, twice, over blocks, and interpreted.
    private func all<Value>(_ body: () throws -> Value) rethrows -> [Value] {
        var results: [Value] = []
        for _ in 0..<2 { results.append(try ColumnChunkUse.setting.withValue(.always) { try body() }) }
        results.append(try ColumnChunkUse.setting.withValue(.never) { try body() })
        results.append(try CompiledExecution.setting.withValue(false) { try body() })
        return results
    }

    private func expectSame<Value: Equatable>(_ text: String, _ body: () throws -> Value) rethrows {
        let results = try all(body)
        #expect(results.dropFirst().allSatisfy { $0 == results[0] }, "\(text)")
    }

    @Test(
        arguments: StoreKind.allCases.flatMap { kind in Budget.allCases.map { (kind, $0) } },
        RandomRuns.seeds(from: 21, count: 1))
    func randomRequests(_ where: (StoreKind, Budget), _ seed: UInt64) throws {
        let (kind, budget) = `where`
        print("ColumnChunkTests.randomRequests: \(kind), \(budget), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        try ColumnChunkUse.budgetSetting.withValue(budget.byteCount) {
            let store = try TestStore(kind, CompiledFetchModel.model(hasSubentity: false))
            let context = store.context()
            try context.performAndWait {
                var world = try CompiledFetchWorld(context, hasSubentity: false)
                for round in 0..<(BuildMode.isDebug ? 5 : 8) {
                    world.change(round % 4 == 0 ? 500 : 15, &random)
                    if round % 4 != 3 { try context.save() }
                    for _ in 0..<(BuildMode.isDebug ? 4 : 15) { try comparePredicate(world, &random) }
                    for _ in 0..<(BuildMode.isDebug ? 2 : 5) { try compareOrder(world, &random) }
                    for _ in 0..<(BuildMode.isDebug ? 2 : 5) { try compareGroups(world, &random) }
                }
            }
        }
    }

    private func comparePredicate(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Thing")
        request.resultType = .managedObjectIDResultType
        let predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        request.predicate = predicate
        request.includesPendingChanges = random.chance(0.8)
        if random.chance(0.3) { request.fetchLimit = random.below(30) }
        try expectSame(predicate.formatString) { try world.context.fetch(request) }
        try expectSame(predicate.formatString) { try world.context.count(for: request) }
    }

    private func compareOrder(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Thing")
        request.resultType = .managedObjectIDResultType
        if random.chance(0.5) {
            request.predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        }
        request.sortDescriptors = (0..<1 + random.below(2)).map { _ in
            let kind = CompiledFetchModel.kinds[random.below(CompiledFetchModel.kinds.count)].name
            return NSSortDescriptor(key: kind, ascending: random.chance(0.5))
        }
        if random.chance(0.7) { request.fetchLimit = 1 + random.below(30) }
        let names = request.sortDescriptors?.map(\.description) ?? []
        try expectSame("\(names) \(request.predicate?.formatString ?? "")") { try world.context.fetch(request) }
    }

    private func compareGroups(_ world: CompiledFetchWorld, _ random: inout SeededGenerator) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
        request.resultType = .dictionaryResultType
        let groups = [["owner"], ["int16"], ["bool", "string"], ["int64"], []][random.below(5)]
        // Sums whose order cannot matter.
        let functions = [
            ("sum", "int16"), ("average", "int16"), ("count", "string"), ("min", "date"), ("max", "int32"),
        ]
        let aggregates = functions.enumerated().map { index, function in
            let description = NSExpressionDescription()
            description.name = "value\(index)"
            description.expression = NSExpression(format: "\(function.0):(\(function.1))")
            return description
        }
        if random.chance(0.4) {
            request.predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        }
        request.propertiesToFetch = groups + aggregates
        if !groups.isEmpty { request.propertiesToGroupBy = groups }
        try expectSame("\(groups) \(request.predicate?.formatString ?? "")") { try world.context.fetch(request) }
    }

    /// Several chunks, text within and beyond ASCII, rows that change between scans, and those that are deleted.
    @Test(arguments: StoreKind.allCases) func manyRows(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            var employees: [Employee] = []
            let count = BuildMode.isDebug ? 20_000 : 80_000
            for index in 0..<count {
                let employee = Employee(context: context)
                employee.name = index % 7 == 0 ? "x Delta \(index)" : index % 50_021 == 1 ? "d\u{E9}lta" : "y \(index)"
                employee.age = Int16(index % 100)
                if index % 997 == 0 { employees.append(employee) }
                if index % (count / 2) == count / 2 - 1 { try context.save() }
            }
            let formats = [
                "name CONTAINS 'Delta'", "name CONTAINS[c] 'dELTA'", "name CONTAINS[cd] 'DELTA'",
                "name CONTAINS[d] 'del'",
                "age >= 40 AND name ENDSWITH '7'", "age == 3", "NOT (age BETWEEN {10, 90})", "name == nil",
            ]
            for round in 0..<3 {
                for format in formats { try compare(format, context) }
                for (index, employee) in employees.enumerated() where index % 3 == round {
                    if round == 1 {
                        context.delete(employee)
                    } else {
                        employee.age = -1
                        employee.name = index % 2 == 0 ? "" : "changed d\u{E9}lta"
                    }
                }
                try context.save()
            }
            for format in formats { try compare(format, context) }
        }
    }

    /// Values that lie out of line, in the column that is asked, sorted or grouped by, or in another one.
    @Test(arguments: StoreKind.allCases) func valuesOutOfLine(_ kind: StoreKind) throws {
        let note = GraphModel.entity("Note")
        note.properties = [
            GraphModel.attribute("body", .stringAttributeType), GraphModel.attribute("data", .binaryDataAttributeType),
            GraphModel.attribute("number", .integer32AttributeType),
        ]
        let store = try TestStore(kind, makeModel([note]))
        let context = store.context()
        func long(_ number: Int) -> String { String(repeating: "w\(number % 3) ", count: 30_000) + "end\(number % 2)" }
        try context.performAndWait {
            for number in 0..<5_000 {
                let isLong = number % 700 == 3
                let values: [String: Any] = [
                    "body": isLong ? long(number) : number % 13 == 0 ? "\u{e9} \(number)" : "w\(number % 50)",
                    "data": number % 900 == 5 ? Data(repeating: 7, count: 70_000) : Data([UInt8(number % 200)]),
                    "number": number % 60,
                ]
                _ = context.insert("Note", number % 17 == 1 ? ["number": 7] : values)
            }
            try context.save()
            for round in 0..<3 {
                for format in [
                    "body CONTAINS 'end1'", "body BEGINSWITH[c] 'W2 w2'", "body ENDSWITH '0'", "body == nil",
                    "body > 'w4'", "number == 3", "number < 20 AND body CONTAINS[cd] 'E'", "data == nil",
                    "body IN {'w3', 'w4'}",
                ] {
                    try compareLong(format, context, "\(kind), round \(round): \(format)")
                }
                let some = try context.all("Note").enumerated().filter { $0.offset % 350 == 3 }.map(\.element)
                for (index, object) in some.enumerated() {
                    object.setValue(index % 2 == 0 ? "short" : long(index), forKey: "body")
                }
                try context.save()
            }
        }
    }

    private func compareLong(_ format: String, _ context: NSManagedObjectContext, _ text: String) throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: format)
        try expectSame(text) { try context.fetch(request) }
        try expectSame(text) { try context.count(for: request) }
        request.sortDescriptors = [
            NSSortDescriptor(key: "body", ascending: false), NSSortDescriptor(key: "number", ascending: true),
        ]
        request.fetchLimit = 25
        try expectSame(text) { try context.fetch(request) }
        #expect(try context.explain(request).sortsColumns, "\(text)")
        let groups = NSFetchRequest<NSDictionary>(entityName: "Note")
        groups.resultType = .dictionaryResultType
        groups.predicate = request.predicate
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(format: "count:(number)")
        groups.propertiesToGroupBy = ["body"]
        groups.propertiesToFetch = ["body", count]
        try expectSame(text) { try context.fetch(groups) }
        #expect(try context.explain(groups).groupsColumns, "\(text)")
    }

    private func compare(_ format: String, _ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: format)
        let strips = try context.fetch(request)
        let again = try context.fetch(request)
        let blocks = try ColumnChunkUse.setting.withValue(.never) { try context.fetch(request) }
        #expect(strips == blocks && again == blocks, "\(format)")
        let counts = try (
            context.count(for: request),
            CompiledExecution.setting.withValue(false) {
                try context.count(for: request)
            }
        )
        #expect(counts.0 == counts.1 && counts.0 == blocks.count, "\(format)")
    }
}
