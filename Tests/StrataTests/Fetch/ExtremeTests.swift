import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// The least and the greatest value of all rows, which an index or an order may have.
@Suite struct ExtremeTests {
    private typealias World = CompiledFetchWorld

    private static let names = [
        "int16", "int32", "int64", "float", "double", "decimal", "string", "date", "uuid", "bool", "owner.title",
    ]

    private static func model() throws -> NSManagedObjectModel {
        let model = CompiledFetchModel.model()
        let thing = try #require(model.entitiesByName["Thing"])
        for name in names where !name.contains(".") {
            let property = try #require(thing.propertiesByName[name])
            let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
            // Of the others there are columns only.
            if name != "int32" && name != "float" {
                element.isAscending = name.count % 2 == 0
                thing.indexes.append(NSFetchIndexDescription(name: name, elements: [element]))
            }
        }
        return model
    }

    private static func extreme(_ function: String, _ name: String, as shown: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = shown
        description.expression = NSExpression(format: "\(function):(\(name))")
        return description
    }

    private static func request(_ entity: String = "Thing", _ properties: [Any]) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        return request
    }

    /// Whichever way they are found, they are those that looking at each row finds, nulls, not-a-numbers and all, and
    /// so are the other columns of the row that has one.
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 41, count: 1)) func randomExtremes(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("ExtremeTests.randomExtremes: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, try Self.model())
        let context = store.context()
        try context.performAndWait {
            var world = try World(context)
            var indexed = 0
            for round in 0..<6 {
                world.change(round == 0 ? 3 : round % 3 == 0 ? 300 : 20, &random)
                if round % 4 != 3 { try context.save() }
                for _ in 0..<(BuildMode.isDebug ? 30 : 100) { indexed += try compare(world, &random) }
            }
            #expect(indexed > 20)
        }
    }

    private func compare(_ world: World, _ random: inout SeededGenerator) throws -> Int {
        var properties: [Any] = (0..<1 + random.below(3)).map { index in
            Self.extreme(
                random.chance(0.5) ? "min" : "max", Self.names[random.below(Self.names.count)], as: "value\(index)")
        }
        if properties.count == 1, random.chance(0.3) { properties += ["string", "int64Twin"] }
        let request = Self.request(random.chance(0.7) ? "Thing" : "SpecialThing", properties)
        request.includesSubentities = random.chance(0.8)
        if random.chance(0.4) {
            request.predicate = CompiledFetchModel.predicate(world.owners, world.things, &random)
        }
        if random.chance(0.1) { request.fetchOffset = 1 }
        let found = try world.context.fetch(request).map(flat)
        let wanted = try CompiledExecution.setting.withValue(false) { try world.context.fetch(request).map(flat) }
        let text = "\(properties), \(request.predicate?.formatString ?? "")"
        #expect(found == wanted, "\(text)")
        return try IndexUse.setting.withValue(.always) {
            #expect(try world.context.fetch(request).map(flat) == wanted, "\(text)")
            return try world.context.explain(request).path == .orderedIndex ? 1 : 0
        }
    }

    /// The index has many nulls before the first value; reading these takes longer than the column.
    @Test(arguments: StoreKind.allCases) func nullsAreNotGoneThrough(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try Self.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<2_000 {
                let thing = insert("Thing", context)
                guard number % 500 == 250 else { continue }
                thing.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
                thing.setValue(Int64(number), forKey: "int64")
            }
            try context.save()
            for (name, isIndexed) in [("int64", true), ("date", false)] {
                let least = Self.request("Thing", [Self.extreme("min", name, as: "value")])
                let explanation = try context.explain(least)
                #expect((explanation.path == .orderedIndex) == isIndexed && explanation.rowsInterpreted == 0, "\(name)")
                let greatest = Self.request("Thing", [Self.extreme("max", name, as: "value")])
                #expect(try context.explain(greatest).path == .orderedIndex, "\(name)")
                let values = try [least, greatest].map { try context.fetch($0).first?["value"] }
                if isIndexed {
                    #expect(values.map { $0 as? Int } == [250, 1_750])
                } else {
                    #expect(values.map { ($0 as? Date)?.timeIntervalSinceReferenceDate } == [250, 1_750])
                }
            }
            // With a condition the rows that satisfy it are looked at, by whichever way is short.
            let few = Self.request("Thing", [Self.extreme("max", "string", as: "value")])
            few.predicate = NSPredicate(format: "int64 == 250")
            #expect(try context.explain(few).rowsMatched == 1)
        }
    }

    /// Zeros of both signs are one value.
    private func flat(_ dictionary: NSDictionary) -> [String] {
        dictionary.map { key, value in (value as? Double).map { "\(key): \($0 + 0)" } ?? "\(key): \(value)" }.sorted()
    }

    @Test(arguments: StoreKind.allCases) func anIndexIsAskedForItsEnd(_ kind: StoreKind) throws {
        let store = try TestStore(kind, try Self.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<2_000 {
                let thing = insert(number % 2 == 0 ? "Thing" : "SpecialThing", context)
                if number % 3 != 0 { thing.setValue(Int64(number * 7_919 % 2_003), forKey: "int64") }
                thing.setValue("text \(number * 31 % 2_003)", forKey: "string")
            }
            try context.save()
            let request = Self.request(
                "Thing",
                [
                    Self.extreme("min", "int64", as: "least"), Self.extreme("max", "int64", as: "greatest"),
                    Self.extreme("max", "string", as: "last"),
                ])
            let explanation = try context.explain(request)
            #expect(explanation.path == .orderedIndex && explanation.rowsMatched == 3, "\(explanation)")
            let found = try #require(try context.fetch(request).first)
            let values = (0..<2_000).filter { $0 % 3 != 0 }.map { $0 * 7_919 % 2_003 }
            #expect(found["least"] as? Int == values.min() && found["greatest"] as? Int == values.max())
            #expect(found["last"] as? String == (0..<2_000).map { "text \($0 * 31 % 2_003)" }.max())
        }
    }
}
