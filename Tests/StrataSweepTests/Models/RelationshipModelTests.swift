import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random edits of relationships of every kind, against a naive model, with saves, refreshes, rollbacks and a second
/// context that takes over.
@Suite struct RelationshipModelTests {
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 20_261_121, count: 4))
    func randomEditsAgreeWithTheModel(_ kind: StoreKind, _ seed: UInt64) throws {
        let count = RandomRuns.operations(1_500)
        let store = try TestStore(kind, NodeModel.nodes())
        let session = Session(store, SeededGenerator(seed: seed))
        for operation in 0..<count {
            try session.context.performAndWait { try session.step() }
            if session.hasFailed {
                Issue.record("seed \(seed), operation \(operation)")
                return
            }
        }
        try session.finish()
    }

    final class Session {
        let store: TestStore
        let contexts: [NSManagedObjectContext]
        var context: NSManagedObjectContext
        var random: SeededGenerator
        var graph = NaiveGraph()
        var saved = NaiveGraph()
        var ids: [Int: NSManagedObjectID] = [:]
        /// Objects that were never saved.
        var fresh: [Int: NSManagedObject] = [:]
        var nextKey = 1
        var hasFailed = false

        init(_ store: TestStore, _ random: SeededGenerator) {
            self.store = store
            self.random = random
            contexts = [store.context(), store.context()]
            context = contexts[0]
        }

        func object(_ key: Int) -> NSManagedObject { fresh[key] ?? context.object(with: ids[key]!) }

        func pick() -> Int? {
            let keys = graph.nodes.keys.sorted()
            return keys.isEmpty ? nil : keys[random.below(keys.count)]
        }

        func step() throws {
            let dice = random.below(100)
            switch dice {
            case 0..<8 where graph.nodes.count < 24: insert()
            case 8..<10: if let key = pick() { delete(key) }
            case 10..<14: try save()
            case 14: try handOver()
            case 15: rollback()
            case 16..<19: if let key = pick() { context.refresh(object(key), mergeChanges: true) }
            case 19: if !context.hasChanges, let key = pick() { context.refresh(object(key), mergeChanges: false) }
            case 20: context.refreshAllObjects()
            case 21..<26: compare()
            default:
                guard let key = pick() else { return insert() }
                let name = NaiveGraph.names[random.below(NaiveGraph.names.count)]
                if NaiveGraph.relations[name]?.isToMany == true { changeMany(key, name) } else { changeOne(key, name) }
            }
        }

        func insert() {
            let object = make("Node", context, ["key": nextKey])
            fresh[nextKey] = object
            graph.nodes[nextKey] = [:]
            nextKey += 1
        }

        func delete(_ key: Int) {
            context.delete(object(key))
            context.processPendingChanges()
            graph.delete(key)
            fresh[key] = nil
        }

        func save() throws {
            try context.save()
            for (key, object) in fresh { ids[key] = object.objectID }
            fresh = [:]
            saved = graph
        }

        func rollback() {
            context.rollback()
            fresh = [:]
            graph = saved
        }

        /// The other context goes on, with whatever it remembers brought up to date in one of three ways.
        func handOver() throws {
            let notifications = SaveNotifications(context)
            try save()
            let other = context === contexts[0] ? contexts[1] : contexts[0]
            let way = random.below(3)
            context = other
            other.performAndWait {
                switch way {
                case 0: for note in notifications.all { other.mergeChanges(fromContextDidSave: note) }
                case 1: other.refreshAllObjects()
                default: other.reset()
                }
                // What was not told of older saves must not be relied upon.
                if way == 0 { other.refreshAllObjects() }
                compare()
            }
        }

        func changeOne(_ key: Int, _ name: String) {
            let target = random.chance(0.25) ? nil : pick()
            object(key).setValue(target.map(object), forKey: name)
            graph.setOne(key, name, target)
        }

        func changeMany(_ key: Int, _ name: String) {
            guard let target = pick() else { return }
            let isOrdered = NaiveGraph.relations[name]?.isOrdered == true
            let owner = object(key)
            let members = owner.members(ToManySlot<NSManagedObject>(name))
            let count = graph.targets(key, name).count
            switch random.below(isOrdered ? 10 : 6) {
            case 0, 1:
                members.add(object(target))
                graph.add(key, name, target)
            case 2:
                if isOrdered {
                    owner.mutableOrderedSetValue(forKey: name).add(object(target))
                } else {
                    owner.mutableSetValue(forKey: name).add(object(target))
                }
                graph.add(key, name, target)
            case 3:
                members.remove(object(target))
                graph.remove(key, name, target)
            case 4:
                if isOrdered {
                    owner.mutableOrderedSetValue(forKey: name).remove(object(target))
                } else {
                    owner.mutableSetValue(forKey: name).remove(object(target))
                }
                graph.remove(key, name, target)
            case 5:
                var wanted: [Int] = []
                for _ in 0..<random.below(5) { if let other = pick(), !wanted.contains(other) { wanted.append(other) } }
                let objects = wanted.map(object)
                owner.setValue(isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: name)
                graph.set(key, name, wanted)
            case 6:
                let index = random.below(count + 1)
                members.insert(object(target), at: index)
                graph.insert(key, name, target, at: index)
            case 7:
                let index = random.below(count + 1)
                owner.mutableOrderedSetValue(forKey: name).insert(object(target), at: index)
                graph.insert(key, name, target, at: index)
            case 8 where count > 0:
                let (source, place) = (random.below(count), random.below(count))
                members.move(from: source, to: place)
                graph.move(key, name, from: source, to: place)
            default:
                guard count > 0 else { return }
                let (source, place) = (random.below(count), random.below(count))
                owner.mutableOrderedSetValue(forKey: name).moveObjects(at: IndexSet(integer: source), to: place)
                graph.move(key, name, from: source, to: place)
            }
        }

        func compare() {
            for key in graph.nodes.keys {
                let object = object(key)
                for (name, relation) in NaiveGraph.relations {
                    let wanted = graph.targets(key, name)
                    let found = keys(object, name)
                    let isEqual = relation.isOrdered ? found == wanted : Set(found) == Set(wanted)
                    if !isEqual || found.count != wanted.count {
                        hasFailed = true
                        Issue.record("\(key).\(name) is \(found), not \(wanted)")
                        return
                    }
                    if relation.isToMany, object.members(ToManySlot<NSManagedObject>(name)).count != wanted.count {
                        hasFailed = true
                        Issue.record("the count of \(key).\(name) is not \(wanted.count)")
                    }
                }
            }
        }

        func keys(_ object: NSManagedObject, _ name: String) -> [Int] {
            let objects: [Any]
            switch object.value(forKey: name) {
            case let set as NSOrderedSet: objects = set.array
            case let set as Set<NSManagedObject>: objects = Array(set)
            case let one as NSManagedObject: objects = [one]
            default: objects = []
            }
            return objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "key") as? Int }
        }

        /// What has been saved is what a store that was closed and opened has.
        func finish() throws {
            try context.performAndWait { try save() }
            ids = ids.filter { graph.nodes[$0.key] != nil }
            let uris = ids.mapValues { $0.uriRepresentation() }
            try store.reopen()
            context = store.context()
            for (key, uri) in uris {
                let id = try #require(store.coordinator.managedObjectID(forURIRepresentation: uri))
                ids[key] = id
            }
            context.performAndWait { compare() }
        }
    }
}
