import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random graphs under random delete rules: what is left after a deletion is what the closure of the rules leaves.
///
/// A cascade used to end at an object that had been changed in the same event, by the program or by another rule. Its
/// own dependents stayed, with references to rows that were gone.
@Suite struct DeleteRuleRandomTests {
    enum Place: String, CaseIterable, Sendable {
        case log, memory, file, service
    }

    private static let objects = 10

    @Test(arguments: Place.allCases, RandomRuns.seeds(from: 20_261_127, count: 60))
    func whatIsLeftIsWhatTheRulesLeave(_ place: Place, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // The service's store makes IDs of the entity that a relationship names, so its objects are of no other.
        let graph = RuledGraph(&random, objects: Self.objects, hasSubentities: place != .service)
        let (coordinator, close) = try Self.coordinator(place, graph)
        defer { close() }
        let root = Self.context(coordinator)
        try root.performAndWait { try Self.fill(root, graph) }
        var run = Run(graph: graph, random: random, name: "\(place) seed \(seed)")
        let isInChild = run.random.below(2) == 0
        let context = isInChild ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : root
        if isInChild { context.parent = root }
        if run.random.below(2) == 0 { root.performAndWait { root.refreshAllObjects() } }
        try context.performAndWait { try run.delete(in: context) }
        if isInChild, !run.gone.isEmpty { try root.performAndWait { try root.save() } }
        let reader = Self.context(coordinator)
        try reader.performAndWait { try run.compare(in: reader) }
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 20_261_128, count: 60))
    func batchesFollowTheSameRules(_ kind: StoreKind, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let graph = RuledGraph(&random, objects: Self.objects)
        let store = try TestStore(kind, graph.model())
        let context = store.context()
        try context.performAndWait { try Self.fill(context, graph) }
        var run = Run(graph: graph, random: random, name: "batch \(kind) seed \(seed)")
        let roots = Set((0..<2).map { _ in run.random.below(Self.objects) }).filter { graph.kinds[$0] < 2 }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Base")
        request.predicate = NSPredicate(format: "n IN %@", Array(roots))
        let batch = NSBatchDeleteRequest(fetchRequest: request)
        batch.appliesValidation = true
        let gone = graph.closure(of: roots)
        try context.performAndWait {
            if graph.denies(gone) {
                #expect(throws: CocoaError.self, "\(run.name)") { try context.execute(batch) }
            } else {
                _ = try context.execute(batch)
                run.gone = gone
            }
        }
        let reader = store.context()
        try reader.performAndWait { try run.compare(in: reader) }
    }

    private struct Run {
        private let stored: RuledGraph
        private var graph: RuledGraph
        var random: SeededGenerator
        let name: String
        /// What has been deleted and saved.
        var gone: Set<Int> = []

        init(graph: RuledGraph, random: SeededGenerator, name: String) {
            (stored, self.graph, self.random, self.name) = (graph, graph, random, name)
        }

        /// Changes and deletes in one event, in any order, and saves.
        mutating func delete(in context: NSManagedObjectContext) throws {
            context.propagatesDeletesAtEndOfEvent = random.below(4) > 0
            let objects = try DeleteRuleRandomTests.objects(in: context)
            if random.below(2) == 0 { objects.forEach { _ = $0.value(forKey: "n") } }
            for _ in 0..<random.below(6) {
                if random.below(3) == 0 { disconnect(objects) } else { connect(objects) }
            }
            if random.below(3) == 0 { context.processPendingChanges() }
            var roots: Set<Int> = []
            for _ in 0..<(1 + random.below(2)) {
                for _ in 0..<random.below(4) { change(objects, except: roots) }
                let root = random.below(objects.count)
                context.delete(objects[root])
                roots.insert(root)
                for _ in 0..<random.below(3) { change(objects, except: roots) }
            }
            let expected = graph.closure(of: roots)
            if graph.denies(expected) {
                #expect(throws: CocoaError.self, "\(name)") { try context.save() }
                context.rollback()
                graph = stored
            } else {
                #expect(throws: Never.self, "\(name)") { try context.save() }
                gone = expected
            }
        }

        private mutating func connect(_ objects: [NSManagedObject]) {
            guard let (index, edge) = graph.connect(&random) else { return }
            DeleteRuleRandomTests.connect(objects, graph.pairs[index], index, edge)
        }

        private mutating func disconnect(_ objects: [NSManagedObject]) {
            guard let (index, edge) = graph.disconnect(&random) else { return }
            DeleteRuleRandomTests.disconnect(objects, graph.pairs[index], index, edge)
        }

        private mutating func change(_ objects: [NSManagedObject], except deleted: Set<Int>) {
            let index = random.below(objects.count)
            if deleted.contains(index) || objects[index].isDeleted { return }
            objects[index].setValue(index, forKey: "n")
            if graph.kinds[index] == 1 { objects[index].setValue(random.below(100), forKey: "extra") }
        }

        func compare(in context: NSManagedObjectContext) throws {
            var left: [Int: NSManagedObject] = [:]
            for object in try DeleteRuleRandomTests.all(in: context) {
                left[try #require(object.value(forKey: "n") as? Int)] = object
            }
            #expect(Set(left.keys) == Set(graph.kinds.indices).subtracting(gone), "\(name)")
            for (index, pair) in graph.pairs.enumerated() {
                for (number, object) in left {
                    for isInverse in pair.inverseRule == nil || pair.isSymmetric ? [false] : [false, true] {
                        let key = (isInverse ? "i" : "r") + String(index)
                        guard object.entity.relationshipsByName[key] != nil,
                            let wanted = graph.related(number, pair: index, isInverse: isInverse, without: gone)
                        else { continue }
                        let found = object.objectIDs(forRelationshipNamed: key)
                        #expect(
                            Set(found) == Set(wanted.compactMap { left[$0]?.objectID }), "\(name): \(number).\(key)")
                    }
                }
            }
        }
    }

    // MARK: Making

    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func coordinator(
        _ place: Place, _ graph: RuledGraph
    ) throws -> (NSPersistentStoreCoordinator, () -> Void) {
        guard let kept = StorePlace(rawValue: place.rawValue) else {
            return (try ServiceStore.make(graph.model(), Service()), {})
        }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-rules-\(UUID().uuidString)")
        let coordinator = try kept.coordinator(graph.model(), at: url)
        return (
            coordinator,
            {
                for store in coordinator.persistentStores { try? coordinator.remove(store) }
                try? FileManager.default.removeItem(at: url)
            }
        )
    }

    private static func fill(_ context: NSManagedObjectContext, _ graph: RuledGraph) throws {
        let objects = graph.kinds.enumerated().map { number, kind in
            let object = NSEntityDescription.insertNewObject(
                forEntityName: RuledGraph.entities[kind], into: context)
            object.setValue(number, forKey: "n")
            return object
        }
        for (index, pair) in graph.pairs.enumerated() {
            for edge in graph.edges[index].sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) {
                connect(objects, pair, index, edge)
            }
        }
        try context.save()
    }

    private static func connect(
        _ objects: [NSManagedObject], _ pair: RuledGraph.Pair, _ index: Int, _ edge: RuledGraph.Edge
    ) {
        let (owner, key) = (objects[edge.from], "r\(index)")
        if !pair.isToMany {
            owner.setValue(objects[edge.to], forKey: key)
        } else if pair.isOrdered {
            owner.mutableOrderedSetValue(forKey: key).add(objects[edge.to])
        } else {
            owner.mutableSetValue(forKey: key).add(objects[edge.to])
        }
    }

    private static func disconnect(
        _ objects: [NSManagedObject], _ pair: RuledGraph.Pair, _ index: Int, _ edge: RuledGraph.Edge
    ) {
        let (owner, key) = (objects[edge.from], "r\(index)")
        if !pair.isToMany {
            owner.setValue(nil, forKey: key)
        } else if pair.isOrdered {
            owner.mutableOrderedSetValue(forKey: key).remove(objects[edge.to])
        } else {
            owner.mutableSetValue(forKey: key).remove(objects[edge.to])
        }
    }

    private static func all(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try RuledGraph.entities.flatMap { entity in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            // The service's store asks for one entity at a time.
            request.includesSubentities = false
            return try context.fetch(request)
        }
    }

    /// All objects by their numbers.
    private static func objects(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let objects = try all(in: context)
        let numbers = objects.map { $0.value(forKey: "n") as? Int ?? -1 }
        let sorted = zip(numbers, objects).sorted { $0.0 < $1.0 }.map(\.1)
        if context.parent == nil { sorted.forEach { context.refresh($0, mergeChanges: false) } }
        return sorted
    }
}
