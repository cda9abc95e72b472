import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Requests over entities that have more attributes than the entities above them, whose rows lie between theirs.
///
/// A count with a condition on a subentity's own attribute stopped the program: the scan asked the zone map of a block
/// of the parent entity for a slot that it does not have. Nothing was lost but the process.
@Suite struct HierarchyFetchTests {
    private static let seeds = RandomRuns.seeds(from: 1, count: 2)
    private static let rows = BuildMode.isDebug ? 6_000 : 20_000
    private static let requests = RandomRuns.operations(BuildMode.isDebug ? 25 : 60)

    /// The smallest case: every tenth row is of the subentity, and nothing else has its attribute.
    @Test(arguments: StoreKind.allCases) func conditionsOnWhatOnlyASubentityHas(_ kind: StoreKind) throws {
        let (order, rush) = (GraphModel.entity("Order"), GraphModel.entity("Rush"))
        order.properties = [GraphModel.attribute("a", .integer64AttributeType)]
        rush.properties = [GraphModel.attribute("fee", .integer64AttributeType)]
        order.subentities = [rush]
        let store = try TestStore(kind, makeModel([order, rush]))
        let context = store.context()
        try context.performAndWait {
            for number in 0..<4_200 {
                let values: [String: Any] = number % 10 == 0 ? ["a": number, "fee": number / 10 % 9] : ["a": number]
                _ = context.insert(number % 10 == 0 ? "Rush" : "Order", values)
            }
            try context.save()
            let expected = (0..<420).count { $0 % 9 > 5 }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Rush")
            request.predicate = NSPredicate(format: "fee > 5")
            #expect(try context.count(for: request) == expected)
            request.sortDescriptors = [NSSortDescriptor(key: "fee", ascending: false)]
            request.fetchLimit = 3
            #expect(try context.fetch(request).map { $0.value(forKey: "fee") as? Int } == [8, 8, 8])
            let update = NSBatchUpdateRequest(entityName: "Rush")
            update.predicate = NSPredicate(format: "fee > 5")
            update.propertiesToUpdate = ["a": -1]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == expected)
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Rush"))
            delete.fetchRequest.predicate = NSPredicate(format: "fee > 5")
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == expected)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Order")) == 4_200 - expected)
        }
    }

    /// A scan of many rows goes over columns whatever entities the rows are of: what it looks at are the rows that are
    /// asked for, and the second time no block is looked for.
    @Test(arguments: StoreKind.allCases) func rowsOfAFamilyAreScannedTogether(_ kind: StoreKind) throws {
        let (order, rush, gift) = (
            GraphModel.entity("Order"), GraphModel.entity("Rush"), GraphModel.entity("Gift")
        )
        order.properties = [
            GraphModel.attribute("a", .integer64AttributeType), GraphModel.attribute("name", .stringAttributeType),
        ]
        // The same slot, of another kind.
        rush.properties = [GraphModel.attribute("fee", .integer64AttributeType)]
        gift.properties = [GraphModel.attribute("card", .stringAttributeType)]
        order.subentities = [rush, gift]
        let store = try TestStore(kind, makeModel([order, rush, gift]))
        let context = store.context()
        try context.performAndWait {
            let (names, count) = (["Order", "Order", "Rush", "Order", "Gift"], 6_000)
            for number in 0..<count {
                let object = context.insert(names[number % 5], ["a": number % 100, "name": "order \(number % 7)"])
                if number % 5 == 2 { object.setValue(number % 9, forKey: "fee") }
                if number % 5 == 4, number % 3 != 0 { object.setValue("card \(number % 11)", forKey: "card") }
            }
            try context.save()
            for round in 0..<3 {
                for (name, formats) in [
                    ("Order", ["a < 30", "name CONTAINS '3'", "a == 5 OR name == 'order 2'"]),
                    ("Rush", ["fee > 5", "a < 30 AND fee != 2", "fee == nil"]),
                    ("Gift", ["card ENDSWITH '7'", "card == nil", "a > 50 AND card != 'card 2'"]),
                ] {
                    for format in formats {
                        let text = "\(kind), \(round), \(name), \(format)"
                        let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
                        request.resultType = .managedObjectIDResultType
                        request.predicate = NSPredicate(format: format)
                        let expected = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                        #expect(try context.fetch(request) == expected, "\(text)")
                        #expect(try context.count(for: request) == expected.count, "\(text)")
                        let all = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
                        let explanation = try context.explain(request)
                        #expect(explanation.rowsTested <= all && explanation.rowsInterpreted == 0, "\(text)")
                        #expect(explanation.blocksCached == explanation.blocks, "\(text)")
                        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
                        request.fetchLimit = 30
                        #expect(try context.explain(request).sortsColumns, "\(text)")
                        let sorted = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                        #expect(try context.fetch(request) == sorted, "\(text)")
                    }
                }
                // Rows move, go and come, and so do runs.
                for object in try context.all("Order").enumerated().filter({ $0.offset % 97 == round }).map(\.element) {
                    if round == 1 { context.delete(object) } else { object.setValue(31 + round, forKey: "a") }
                }
                _ = context.insert("Gift", ["a": 3, "name": "late", "card": "card 7"])
                try context.save()
            }
        }
    }

    @Test(arguments: seeds) func everyLevelIsFoundByEveryWay(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let isOnDisk = seed % 3 != 0
        let store = try MigratedStore(isOnDisk ? NSSQLiteStoreType : NSInMemoryStoreType)
        let options = MigratedStore.automatic.merging([StrataDurabilityOption: "os"]) { first, _ in first }
        let model = HierarchyModel(&random)
        try store.with(model.make(), options) { context in
            var run = HierarchyRun(seed, HierarchyWorld(model: model, context: context))
            try run.world.fill(Self.rows, &random)
            try run.compare("fresh", Self.requests, &random)
            let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
            try run.world.change(200, &random)
            try run.changeTogether(4, &random)
            try run.compare("changed", Self.requests / 4, &random)
            try run.world.fill(Self.rows / 20, &random)
            try run.world.change(20, saving: false, &random)
            try run.compare("unsaved", Self.requests / 4, &random)
            context.reset()
            try run.follow(&random)
            let coordinator = try #require(context.persistentStoreCoordinator)
            let past = NSManagedObjectContext(.privateQueue)
            past.persistentStoreCoordinator = coordinator
            try past.performAndWait {
                try past.setQueryGenerationFrom(coordinator.queryGeneration(at: try #require(token)))
                let run = HierarchyRun(seed, HierarchyWorld(model: model, context: past))
                try run.compare("past", Self.requests / 4, &random)
                past.reset()
            }
            try past.setQueryGenerationFrom(nil)
            try coordinator.compact(coordinator.persistentStores[0])
            try run.compare("compacted", Self.requests / 4, &random)
        }
        guard isOnDisk else { return }
        let later = model.grown(&random)
        try store.with(later.make(), options) { context in
            var run = HierarchyRun(seed, HierarchyWorld(model: later, context: context), mark: 100)
            try run.compare("migrated", Self.requests / 4, &random)
            try run.world.fill(Self.rows / 10, &random)
            try run.world.change(100, &random)
            try run.changeTogether(2, &random)
            try run.compare("migrated and grown", Self.requests / 4, &random)
        }
    }
}

/// Compares what the planner's ways find with what the interpreter finds, going from row to row.
struct HierarchyRun {
    let seed: UInt64
    let world: HierarchyWorld
    /// What the next batch marks its objects with.
    private var mark: Int

    init(_ seed: UInt64, _ world: HierarchyWorld, mark: Int = 10) {
        (self.seed, self.world, self.mark) = (seed, world, mark)
    }

    private func requests() throws -> HierarchyRequests { HierarchyRequests(model: world.model, ids: try world.ids()) }

    private func interpreted<Result>(_ body: () throws -> Result) rethrows -> Result {
        try CompiledExecution.setting.withValue(false) { try body() }
    }

    func compare(_ stage: String, _ count: Int, _ random: inout SeededGenerator) throws {
        let requests = try requests()
        for number in 0..<count {
            let request = requests.request(&random)
            func ask() throws -> PlanRun.Outcome { PlanRun.Outcome(try world.context.fetch(request)) }
            let asked = "\(request.entityName ?? "") \(request.predicate?.formatString ?? "")"
            let text = "seed \(seed), \(stage) \(number): \(asked)"
            do {
                let expected = try interpreted(ask)
                #expect(try ask() == expected, "as planned, \(text)")
                let use: ColumnChunkUse = random.chance(0.5) ? .always : .never
                #expect(try ColumnChunkUse.setting.withValue(use) { try ask() } == expected, "\(use), \(text)")
                if random.chance(0.4) {
                    #expect(try IndexUse.setting.withValue(.always) { try ask() } == expected, "by index, \(text)")
                }
            } catch {
                Issue.record("\(text): \(error)")
            }
        }
    }

    private func found(_ name: String, _ predicate: NSPredicate) throws -> Set<NSManagedObjectID> {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
        request.resultType = .managedObjectIDResultType
        request.predicate = predicate
        return Set(try interpreted { try world.context.fetch(request) })
    }

    /// Batch requests change and delete what the interpreter finds, and what their rules say.
    mutating func changeTogether(_ count: Int, _ random: inout SeededGenerator) throws {
        let context = world.context
        for _ in 0..<count {
            let requests = try requests()
            let name = requests.entity(&random)
            let predicate = requests.predicate(name, &random)
            let expected = try found(name, predicate)
            mark += 1
            let update = NSBatchUpdateRequest(entityName: name)
            update.predicate = predicate
            update.propertiesToUpdate = ["mark": mark]
            update.resultType = .updatedObjectIDsResultType
            let updated = (try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(Set(updated ?? []) == expected, "seed \(seed), update of \(name): \(predicate.formatString)")
            let marked = NSPredicate(format: "mark == %d", mark)
            #expect(try found(world.model.names[0], marked) == expected, "seed \(seed), mark \(mark)")
        }
        // A box takes what lies in it along, or lets it go.
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Box")
        let (requests, before) = (try requests(), try world.ids())
        request.predicate = requests.predicate("Box", &random)
        let boxes = try found("Box", request.predicate ?? NSPredicate(value: true))
        let held = try found(world.model.heldName, NSPredicate(format: "box IN %@", boxes))
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        let after = Set(try world.ids())
        let text = "seed \(seed), deletion of boxes: \(request.predicate?.formatString ?? "")"
        #expect(after == (world.model.cascades ? Set(before).subtracting(held) : Set(before)), "\(text)")
        #expect(try found("Box", NSPredicate(format: "SELF IN %@", boxes)).isEmpty, "\(text)")
        context.reset()
    }

    /// Results controllers over each level hold what a new fetch finds, after changes, too.
    func follow(_ random: inout SeededGenerator) throws {
        let requests = try requests()
        for name in world.model.names {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.predicate = requests.predicate(name, &random)
            request.sortDescriptors = [NSSortDescriptor(key: world.model.attributes(name)[0].name, ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: world.context, sectionNameKeyPath: nil, cacheName: nil)
            let follower = HierarchyFollower()
            controller.delegate = follower
            try controller.performFetch()
            for object in try world.context.fetch(request).prefix(20) {
                object.setValue(random.below(4), forKey: "mark")
            }
            world.context.processPendingChanges()
            let held = Set((controller.fetchedObjects ?? []).map(\.objectID))
            try world.context.save()
            let text = "seed \(seed), \(name): \(request.predicate?.formatString ?? "")"
            #expect(try held == found(name, request.predicate ?? NSPredicate(value: true)), "\(text)")
            controller.delegate = nil
            withExtendedLifetime(follower) {}
        }
        world.context.reset()
    }
}

private final class HierarchyFollower: NSObject, NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}
