import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Counts and pages that an index answers by counting its entries: as many rows as are wanted are looked at, and the
/// results are those of the interpreter.
@Suite struct CountedIndexTests {
    private static let seeds = RandomRuns.seeds(from: 1, count: BuildMode.isDebug ? 2 : 3)
    private static let rows = 2_500

    /// Few codes, so that many rows have one; prices that hardly ever meet; a rank in a descending index.
    private static func model() -> NSManagedObjectModel {
        let (item, special) = (GraphModel.entity("Item"), GraphModel.entity("SpecialItem"))
        item.properties = [
            GraphModel.attribute("code", .integer32AttributeType), GraphModel.attribute("price", .doubleAttributeType),
            GraphModel.attribute("rank", .integer16AttributeType), GraphModel.attribute("note", .stringAttributeType),
        ]
        special.properties = [GraphModel.attribute("extra", .integer32AttributeType)]
        item.subentities = [special]
        for (name, ascending) in [("code", true), ("price", true), ("rank", false)] {
            guard let property = item.propertiesByName[name] else { continue }
            let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
            element.isAscending = ascending
            item.indexes.append(NSFetchIndexDescription(name: "by " + name, elements: [element]))
        }
        return makeModel([item, special])
    }

    private static func values(_ random: inout SeededGenerator) -> [String: Any] {
        var values: [String: Any] = [
            "price": Double(random.below(100_000)) / 100, "rank": random.chance(0.6) ? 3 : random.below(400),
            "note": "note \(random.below(20))",
        ]
        if !random.chance(0.1) { values["code"] = random.below(7) }
        return values
    }

    private func store(_ kind: StoreKind, _ random: inout SeededGenerator) throws -> TestStore {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<Self.rows {
                _ = context.insert(random.chance(0.1) ? "SpecialItem" : "Item", Self.values(&random))
                if number % 600 == 599 { try context.save() }
            }
            try context.save()
        }
        return store
    }

    private static func change(_ count: Int, _ context: NSManagedObjectContext, _ random: inout SeededGenerator) throws
    {
        let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        for _ in 0..<count {
            let object = objects[random.below(objects.count)]
            switch random.below(3) {
            case 0: _ = context.insert(random.chance(0.5) ? "SpecialItem" : "Item", values(&random))
            case 1 where !object.isDeleted: context.delete(object)
            default:
                if object.isDeleted { continue }
                for (key, value) in values(&random) { object.setValue(value, forKey: key) }
            }
        }
    }

    // MARK: What is looked at

    @Test(arguments: StoreKind.allCases) func aCountIsThatOfTheIndex(_ kind: StoreKind) throws {
        var random = SeededGenerator(seed: 5)
        let store = try store(kind, &random)
        let context = store.context()
        try context.performAndWait {
            let formats = [
                "code == 3", "code IN {1, 4, 6}", "price > 500", "rank == 3", "code == nil",
                "price BETWEEN {100, 900}", "code == 3 OR code == 5",
            ]
            for format in formats {
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
                request.predicate = NSPredicate(format: format)
                let expected = try CompiledExecution.setting.withValue(false) { try context.count(for: request) }
                #expect(try context.count(for: request) == expected, "\(format)")
                request.resultType = .countResultType
                let explanation = try context.explain(request)
                #expect(explanation.results == expected, "\(format)")
                #expect(explanation.path == .orderedIndex && explanation.rowsTested == 0, "\(format): \(explanation)")
                // Rows of others lie between those of a subentity.
                let special = NSFetchRequest<any NSFetchRequestResult>(entityName: "SpecialItem")
                special.predicate = request.predicate
                let some = try CompiledExecution.setting.withValue(false) { try context.count(for: special) }
                #expect(try context.count(for: special) == some && some < expected, "\(format)")
                request.resultType = .managedObjectIDResultType
                request.includesSubentities = false
                #expect(try context.count(for: request) == expected - some, "\(format)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func aPageInTheMiddleReadsNoOtherRow(_ kind: StoreKind) throws {
        var random = SeededGenerator(seed: 6)
        let store = try store(kind, &random)
        let context = store.context()
        try context.performAndWait {
            for key in ["code", "price", "rank"] {
                for ascending in [true, false] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
                    (request.fetchOffset, request.fetchLimit) = (1_300, 20)
                    let explanation = try context.explain(request)
                    #expect(explanation.path == .orderedIndex && explanation.rowsTested == 0)
                    #expect(explanation.rowsMatched == 20 && explanation.results == 20, "\(key): \(explanation)")
                    // What is not saved may come before the page.
                    let unsaved = context.insert("Item", ["code": -1, "price": -1.0, "rank": 500])
                    let found = try context.fetch(request).map(\.objectID)
                    let expected = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                    #expect(found == expected.map(\.objectID))
                    context.delete(unsaved)
                    context.processPendingChanges()
                }
            }
        }
    }

    // MARK: The same as row by row

    @Test(arguments: StoreKind.allCases, seeds) func pagesAndCountsOfAllKinds(_ kind: StoreKind, _ seed: UInt64) throws
    {
        print("CountedIndexTests.pagesAndCountsOfAllKinds: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try store(kind, &random)
        let context = store.context()
        let past = store.context()
        try context.performAndWait {
            for round in 0..<4 {
                // Nothing, saved changes in runs over the index, and unsaved ones.
                if round > 0 { try Self.change(round == 2 ? 300 : 12, context, &random) }
                if round == 1 || round == 2 { try context.save() }
                for _ in 0..<RandomRuns.operations(BuildMode.isDebug ? 12 : 60) {
                    try compare(context, "seed \(seed), round \(round)", &random)
                }
                if round == 1, kind == .log {
                    try past.performAndWait {
                        _ = try past.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
                        try past.setQueryGenerationFrom(.current)
                    }
                }
            }
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                try Self.change(3, child, &random)
                for _ in 0..<4 { try compare(child, "seed \(seed), child", &random) }
            }
        }
        try past.performAndWait {
            for _ in 0..<8 { try compare(past, "seed \(seed), past", &random) }
        }
    }

    private static func predicate(_ random: inout SeededGenerator) -> NSPredicate? {
        let (low, high) = (random.below(500), 400 + random.below(600))
        let formats = [
            "code == \(random.below(8))", "code IN {\(random.below(4)), \(4 + random.below(4))}", "price > \(low)",
            "price BETWEEN {\(low), \(high)}", "rank == 3", "rank < \(low)", "code != nil AND code < 5", "code == nil",
            "price < \(low) OR price > \(high)", "price > \(low) AND note ENDSWITH '3'",
        ]
        return random.chance(0.3) ? nil : NSPredicate(format: formats[random.below(formats.count)])
    }

    private func compare(
        _ context: NSManagedObjectContext, _ text: String, _ random: inout SeededGenerator
    ) throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(
            entityName: random.chance(0.8) ? "Item" : "SpecialItem")
        request.predicate = Self.predicate(&random)
        request.includesSubentities = random.chance(0.8)
        request.includesPendingChanges = random.chance(0.8)
        let key = ["code", "price", "rank"][random.below(3)]
        let ascending = random.chance(0.5)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
        request.fetchOffset = random.chance(0.1) ? 0 : random.below(Self.rows + 200)
        request.fetchLimit = random.chance(0.2) ? 0 : 1 + random.below(40)
        switch random.below(5) {
        case 0: request.resultType = .managedObjectIDResultType
        case 1:
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["code", "price"]
        case 2: request.resultType = .countResultType
        default: break
        }
        func ask() throws -> PlanRun.Outcome { PlanRun.Outcome(try context.fetch(request)) }
        let asked = "\(text): \(request.predicate?.formatString ?? "all") by \(key) \(ascending) \(request)"
        let expected = try CompiledExecution.setting.withValue(false) { try ask() }
        // More than once: the way through an index is remembered.
        for _ in 0..<3 { #expect(try ask() == expected, "\(asked)") }
        for use in [IndexUse.always, .never] {
            #expect(try IndexUse.setting.withValue(use) { try ask() } == expected, "\(use), \(asked)")
        }
        let count = try CompiledExecution.setting.withValue(false) { try context.count(for: request) }
        #expect(try context.count(for: request) == count, "\(asked)")
    }

    @Test(arguments: StoreKind.allCases) func batchRequestsWithTheSameConditions(_ kind: StoreKind) throws {
        var random = SeededGenerator(seed: 8)
        let store = try store(kind, &random)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            request.predicate = NSPredicate(format: "code IN {2, 5}")
            let count = try context.count(for: request)
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.predicate = request.predicate
            update.propertiesToUpdate = ["rank": 1_000]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == count)
            request.predicate = NSPredicate(format: "rank == 1000")
            #expect(try context.count(for: request) == count)
            let delete = NSBatchDeleteRequest(fetchRequest: request)
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == count)
            #expect(try context.count(for: request) == 0)
        }
    }
}
