import CoreData
import Foundation
import StrataTestKit
import Testing

/// Contexts that do not know of each other's changes assign, delete and save at random, under all delete rules and
/// merge policies. Whatever is committed, no reference leads nowhere, both ends of relationships agree, and deletions
/// keep to the rules.
@Suite struct ConcurrentGraphTests {
    private static let objects = 8

    @Test(arguments: StorePlace.allCases, RandomRuns.seeds(from: 20_261_130, count: 20))
    func whatIsStoredIsInOrder(_ place: StorePlace, _ seed: UInt64) throws {
        var run = try Run(place, seed)
        defer { run.close() }
        for step in 0..<RandomRuns.operations(30) {
            try run.step(step)
            if run.isBroken { return }
        }
    }

    /// An edge of the graph that is stored.
    private struct Fact: Hashable {
        var pair: Int
        var from: Int
        var to: Int
    }

    private struct Stored {
        var numbers: Set<Int> = []
        var facts: Set<Fact> = []
    }

    private struct Side {
        let context: NSManagedObjectContext
        let policy: NSMergePolicyType
        /// What the program has connected or disconnected itself since the last save: pairs, and the objects.
        var touched: Set<Fact> = []
    }

    private struct Run {
        private let name: String
        private var random: SeededGenerator
        private let graph: RuledGraph
        private let coordinator: NSPersistentStoreCoordinator
        private let url: URL
        private var ids: [NSManagedObjectID] = []
        private var sides: [Side] = []
        private var stored = Stored()
        private(set) var isBroken = false

        init(_ place: StorePlace, _ seed: UInt64) throws {
            name = "\(place) seed \(seed)"
            random = SeededGenerator(seed: seed)
            graph = RuledGraph(&random, objects: ConcurrentGraphTests.objects)
            url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-graph-\(UUID().uuidString)")
            coordinator = try place.coordinator(graph.model(), at: url)
            try fill()
            let policies: [NSMergePolicyType] = [
                .errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
                .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
            ]
            for _ in 0..<(2 + random.below(2)) {
                let policy = policies[random.below(policies.count)]
                let context = self.context()
                context.mergePolicy = NSMergePolicy(merge: policy)
                // What is known goes stale, and is not read anew because it had been let go of.
                context.retainsRegisteredObjects = true
                context.propagatesDeletesAtEndOfEvent = random.below(4) > 0
                context.performAndWait {
                    for id in ids { (try? context.existingObject(with: id)).map(look) }
                }
                sides.append(Side(context: context, policy: policy))
            }
            stored = try read()
        }

        func close() {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            removeStore(at: url)
        }

        private func context() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        private mutating func fill() throws {
            let context = context()
            let graph = graph
            ids = try context.performAndWait {
                let objects = graph.kinds.enumerated().map { number, kind in
                    let object = NSEntityDescription.insertNewObject(
                        forEntityName: RuledGraph.entities[kind], into: context)
                    object.setValue(number, forKey: "n")
                    return object
                }
                for (index, pair) in graph.pairs.enumerated() {
                    for edge in graph.edges[index].sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) {
                        Self.connect(objects[edge.from], objects[edge.to], pair, index)
                    }
                }
                try context.save()
                return objects.map(\.objectID)
            }
        }

        // MARK: Steps

        mutating func step(_ step: Int) throws {
            let number = random.below(sides.count)
            if random.below(8) == 0 { return try race(number, step) }
            let context = sides[number].context
            try context.performAndWait {
                switch random.below(12) {
                case 0..<6: change(number, connects: true)
                case 6: change(number, connects: false)
                case 7: delete(context)
                case 8: if let object = object(context) { context.refresh(object, mergeChanges: true) }
                case 9: if let object = object(context) { look(at: object) }
                default: try save(number, step)
                }
            }
        }

        /// One side deletes an object that it has read, another one saves a reference to it, and the first one saves.
        ///
        /// Steps drawn one by one hardly ever come to that.
        private mutating func race(_ number: Int, _ step: Int) throws {
            let (context, index) = (sides[number].context, random.below(graph.pairs.count))
            let rival = (number + 1) % sides.count
            let isOwner = random.below(2) == 0
            let target = context.performAndWait { () -> NSManagedObjectID? in
                let entity = isOwner ? graph.pairs[index].source : graph.pairs[index].destination
                guard let object = object(context, entity) else { return nil }
                look(at: object)
                context.delete(object)
                context.processPendingChanges()
                return object.objectID
            }
            guard let target else { return }
            let other = sides[rival].context
            try other.performAndWait {
                guard let object = try? other.existingObject(with: target), !object.isDeleted else { return }
                change(rival, pair: index, connects: true, from: isOwner ? object : nil, to: isOwner ? nil : object)
                try save(rival, step)
            }
            if isBroken { return }
            try context.performAndWait { try save(number, step) }
        }

        /// An object of an entity, which may be a subentity's; of any if none is given.
        private mutating func object(_ context: NSManagedObjectContext, _ entity: Int? = nil) -> NSManagedObject? {
            let numbers = graph.kinds.indices.filter { number in
                entity.map { graph.kinds[number] == $0 || graph.kinds[number] == 1 && $0 == 0 } ?? true
            }
            if numbers.isEmpty { return nil }
            let id = ids[numbers[random.below(numbers.count)]]
            guard let object = try? context.existingObject(with: id), !object.isDeleted else { return nil }
            return object
        }

        private func number(_ object: NSManagedObject) -> Int { ids.firstIndex(of: object.objectID) ?? -1 }

        private func look(at object: NSManagedObject) {
            for name in object.entity.relationshipsByName.keys.sorted() { _ = object.value(forKey: name) }
        }

        /// Connects or parts two objects, drawn at random if they are not given.
        private mutating func change(
            _ side: Int, pair given: Int? = nil, connects: Bool, from source: NSManagedObject? = nil,
            to destination: NSManagedObject? = nil
        ) {
            let context = sides[side].context
            let index = given ?? random.below(graph.pairs.count)
            let pair = graph.pairs[index]
            guard let from = source ?? object(context, pair.source),
                let to = destination ?? object(context, pair.destination)
            else { return }
            sides[side].touched.insert(Fact(pair: index, from: number(from), to: -1))
            sides[side].touched.insert(Fact(pair: index, from: -1, to: number(to)))
            if connects {
                Self.connect(from, to, pair, index)
            } else {
                Self.disconnect(from, to, pair, index)
            }
        }

        private mutating func delete(_ context: NSManagedObjectContext) {
            guard let object = object(context) else { return }
            if random.below(2) == 0 { look(at: object) }
            context.delete(object)
            if random.below(2) == 0 { context.processPendingChanges() }
        }

        private mutating func save(_ side: Int, _ step: Int) throws {
            let context = sides[side].context
            var isSaved = true
            do {
                try context.save()
            } catch {
                isSaved = false
                let code = (error as? CocoaError)?.code
                let isConflict = code == .managedObjectMerge && sides[side].policy == .errorMergePolicyType
                #expect(
                    isConflict || code == .validationRelationshipDeniedDelete || code == .validationMultipleErrors,
                    "\(name) step \(step) \(sides[side].policy): \(error)")
                context.rollback()
            }
            let found = try read()
            check(found, side, "\(name) step \(step) \(sides[side].policy)", isSaved: isSaved)
            stored = found
            sides[side].touched = []
        }

        // MARK: Checks

        /// Reads all that is stored, and checks that references lead somewhere and back.
        private mutating func read() throws -> Stored {
            let context = context()
            let (graph, ids, name) = (graph, ids, name)
            var isBroken = false
            let found = try context.performAndWait {
                var found = Stored()
                var objects: [Int: NSManagedObject] = [:]
                for entity in RuledGraph.entities {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    request.includesSubentities = false
                    for object in try context.fetch(request) {
                        objects[ids.firstIndex(of: object.objectID) ?? -1] = object
                    }
                }
                found.numbers = Set(objects.keys)
                for (index, pair) in graph.pairs.enumerated() {
                    // These may lead nowhere.
                    guard let inverseRule = pair.inverseRule, inverseRule != .noActionDeleteRule,
                        pair.rule != .noActionDeleteRule
                    else { continue }
                    func facts(_ key: String, isInverse: Bool) -> Set<Fact> {
                        var facts: Set<Fact> = []
                        for (number, object) in objects where object.entity.relationshipsByName[key] != nil {
                            for id in object.objectIDs(forRelationshipNamed: key) {
                                let other = ids.firstIndex(of: id) ?? -1
                                facts.insert(
                                    isInverse
                                        ? Fact(pair: index, from: other, to: number)
                                        : Fact(pair: index, from: number, to: other))
                            }
                        }
                        return facts
                    }
                    let forward = facts("r\(index)", isInverse: false)
                    let back = facts(pair.isSymmetric ? "r\(index)" : "i\(index)", isInverse: true)
                    let dangling = forward.union(back).filter { objects[$0.from] == nil || objects[$0.to] == nil }
                    #expect(dangling.isEmpty, "\(name) \(pair)")
                    #expect(forward == back, "\(name) \(pair)")
                    if !dangling.isEmpty || forward != back { isBroken = true }
                    found.facts.formUnion(forward)
                }
                return found
            }
            if isBroken { self.isBroken = true }
            return found
        }

        private mutating func check(_ found: Stored, _ side: Int, _ name: String, isSaved: Bool) {
            if !isSaved {
                #expect(found.numbers == stored.numbers && found.facts == stored.facts, "\(name)")
                return
            }
            let touched = sides[side].touched
            // An object that the cascade rule has deleted stays with these policies if others have changed it.
            let takesDeletionsBack = [.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType].contains(
                sides[side].policy)
            for fact in stored.facts {
                let isTouched =
                    touched.contains(Fact(pair: fact.pair, from: fact.from, to: -1))
                    || touched.contains(Fact(pair: fact.pair, from: -1, to: fact.to))
                    || graph.pairs[fact.pair].isSymmetric
                        && (touched.contains(Fact(pair: fact.pair, from: fact.to, to: -1))
                            || touched.contains(Fact(pair: fact.pair, from: -1, to: fact.from)))
                // With this policy a side that has changed either end in any way writes all of it.
                let isOverwritten =
                    sides[side].policy == .overwriteMergePolicyType
                    && touched.contains {
                        [fact.from, fact.to].contains($0.from) || [fact.from, fact.to].contains($0.to)
                    }
                let (isFrom, isTo) = (found.numbers.contains(fact.from), found.numbers.contains(fact.to))
                guard isFrom != isTo, !isTouched, !isOverwritten else { continue }
                // One of both is gone, and the program did not part them.
                let rule = isFrom ? graph.pairs[fact.pair].inverseRule : graph.pairs[fact.pair].rule
                if rule == .cascadeDeleteRule, takesDeletionsBack { continue }
                #expect(rule == .nullifyDeleteRule, "\(name) \(fact)")
                if rule != .nullifyDeleteRule { isBroken = true }
            }
        }

        private static func connect(
            _ owner: NSManagedObject, _ member: NSManagedObject, _ pair: RuledGraph.Pair, _ index: Int
        ) {
            if !pair.isToMany {
                owner.setValue(member, forKey: "r\(index)")
            } else if pair.isOrdered {
                owner.mutableOrderedSetValue(forKey: "r\(index)").add(member)
            } else {
                owner.mutableSetValue(forKey: "r\(index)").add(member)
            }
        }

        private static func disconnect(
            _ owner: NSManagedObject, _ member: NSManagedObject, _ pair: RuledGraph.Pair, _ index: Int
        ) {
            if !pair.isToMany {
                owner.setValue(nil, forKey: "r\(index)")
            } else if pair.isOrdered {
                owner.mutableOrderedSetValue(forKey: "r\(index)").remove(member)
            } else {
                owner.mutableSetValue(forKey: "r\(index)").remove(member)
            }
        }
    }
}
