import CoreData
import Foundation
import Testing

@Suite struct MutableCollectionTests {
    private func keys(_ collection: Any?) -> [Int] {
        let objects = (collection as? NSOrderedSet)?.array ?? (collection as? NSSet)?.allObjects ?? []
        return objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "key") as? Int }
    }

    @Test(arguments: StoreKind.allCases, ["children", "follows", "friends"])
    func mutableSetIsLive(_ kind: StoreKind, _ key: String) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        let inverse = ["children": "parent", "follows": "followers", "friends": "friends"][key]!
        try context.performAndWait {
            let root = make("Node", context, ["key": 100])
            let nodes = (0..<6).map { make("Node", context, ["key": $0]) }
            try context.save()
            let set = root.mutableSetValue(forKey: key)
            set.add(nodes[0])
            #expect(root.isUpdated && nodes[0].isUpdated)
            let back = nodes[0].value(forKey: inverse)
            #expect((back as? NSManagedObject) === root || (back as? NSSet)?.contains(root) == true)
            set.addObjects(from: [nodes[1], nodes[2], nodes[0]])
            #expect(set.count == 3 && set.contains(nodes[2]) && !set.contains(nodes[3]))
            root.setValue(Set(nodes[2...3]), forKey: key)
            #expect(set.count == 2 && set.contains(nodes[3]) && Set(keys(set)) == [2, 3])
            set.union([nodes[4], nodes[3]])
            set.minus([nodes[2]])
            #expect(Set(keys(set)) == [3, 4])
            set.intersect([nodes[4], nodes[5]])
            #expect(Set(keys(root.value(forKey: key))) == [4])
            set.setSet([nodes[5], nodes[0]])
            #expect(set.isEqual(NSSet(array: [nodes[5], nodes[0]])) && (set.copy() as? NSSet)?.count == 2)
            set.remove(nodes[5])
            try context.save()
            context.refreshAllObjects()
            #expect(keys(set) == [0] && root.hasFault(forRelationshipNamed: key) == false)
            set.removeAllObjects()
            #expect(set.count == 0 && set.anyObject() == nil)
            try context.save()
        }
    }

    @Test(arguments: StoreKind.allCases) func addingToAMutableSetReadsNoMembers(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        try context.performAndWait {
            let root = make("Node", context)
            root.setValue((0..<5).map { make("Node", context, ["key": $0]) }, forKey: "children")
            try context.save()
            let other = store.context()
            let same = other.object(with: root.objectID)
            let set = same.mutableSetValue(forKey: "children")
            set.add(make("Node", other))
            #expect(set.count == 6 && same.hasFault(forRelationshipNamed: "children"))
            #expect(other.registeredObjects.count == 2)
            #expect(set.allObjects.count == 6 && !same.hasFault(forRelationshipNamed: "children"))
        }
    }

    @Test(arguments: StoreKind.allCases, ["items", "queue", "left"])
    func mutableOrderedSetIsLive(_ kind: StoreKind, _ key: String) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        try context.performAndWait {
            let root = make("Node", context, ["key": 100])
            let nodes = (0..<8).map { make("Node", context, ["key": $0]) }
            try context.save()
            let set = root.mutableOrderedSetValue(forKey: key)
            func expect(_ wanted: [Int], _ location: SourceLocation = #_sourceLocation) {
                #expect(keys(set) == wanted, sourceLocation: location)
                #expect(keys(root.value(forKey: key)) == wanted, sourceLocation: location)
                #expect(set.array.count == wanted.count && set.count == wanted.count, sourceLocation: location)
            }
            set.addObjects(from: Array(nodes[0..<4]))
            expect([0, 1, 2, 3])
            set.insert(nodes[4], at: 1)
            expect([0, 4, 1, 2, 3])
            set.insert(nodes[4], at: 3)
            set.add(nodes[0])
            expect([0, 4, 1, 2, 3])
            set.moveObjects(at: IndexSet([0, 1]), to: 3)
            expect([1, 2, 3, 0, 4])
            set.exchangeObject(at: 0, withObjectAt: 4)
            expect([4, 2, 3, 0, 1])
            set.replaceObject(at: 2, with: nodes[5])
            expect([4, 2, 5, 0, 1])
            set.removeObject(at: 0)
            set.remove(nodes[1])
            expect([2, 5, 0])
            set.insert([nodes[6], nodes[7]], at: IndexSet([0, 4]))
            expect([6, 2, 5, 0, 7])
            set.sort {
                ($0 as? NSManagedObject)!.number < ($1 as? NSManagedObject)!.number
                    ? .orderedAscending : .orderedDescending
            }
            expect([0, 2, 5, 6, 7])
            set.minusSet([nodes[5]])
            set.union(NSOrderedSet(array: [nodes[3], nodes[0]]))
            expect([0, 2, 6, 7, 3])
            set.removeObjects(at: IndexSet([1, 2]))
            set.intersectSet([nodes[0], nodes[3]])
            expect([0, 3])
            set[0] = nodes[1]
            expect([1, 3])
            try context.save()
            expect([1, 3])
            root.setValue(NSOrderedSet(array: [nodes[2], nodes[3], nodes[1]]), forKey: key)
            expect([2, 3, 1])
            #expect(set.firstObject as? NSManagedObject === nodes[2] && set.index(of: nodes[1]) == 2)
            #expect(root.mutableOrderedSetValue(forKey: key) === set)
            let copy = set.copy() as? NSOrderedSet
            set.removeAllObjects()
            #expect(copy?.count == 3 && set.count == 0)
            context.rollback()
            expect([1, 3])
        }
    }

    @Test(arguments: StoreKind.allCases) func typedMembers(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        try context.performAndWait {
            let root = make("Node", context, ["key": 100])
            let nodes = (0..<8).map { make("Node", context, ["key": $0]) }
            let items = root.members(NodeModel.items)
            items.add(contentsOf: nodes[0..<3])
            items.insert(nodes[3], at: 0)
            #expect(items.map(\.number) == [3, 0, 1, 2])
            items.insert(contentsOf: nodes[4...5], at: 1)
            items.move(from: 0, to: 5)
            #expect(items.map(\.number) == [4, 5, 0, 1, 2, 3])
            items.replace(at: 0, with: nodes[6])
            items.remove(at: 1)
            items.remove(at: IndexSet([0, 1]))
            #expect(items.map(\.number) == [1, 2, 3] && items[1] === nodes[2] && items.firstIndex(of: nodes[3]) == 2)
            #expect(items.contains(nodes[1]) && !items.contains(nodes[0]) && items.first === nodes[1])
            items.insert([nodes[0], nodes[7]], at: IndexSet([0, 4]))
            items.replace(at: IndexSet([1, 2]), with: [nodes[4], nodes[5]])
            #expect(items.map(\.number) == [0, 4, 5, 3, 7] && items.last === nodes[7])
            #expect(
                nodes[1].value(forKey: "owner") == nil && nodes[4].value(forKey: "owner") as? NSManagedObject === root)
            try context.save()
            let other = store.context()
            let same = other.object(with: root.objectID).members(NodeModel.items)
            let member = other.object(with: nodes[4].objectID)
            #expect(same.count == 5 && same.contains(member) && !same.contains(other.object(with: nodes[1].objectID)))
            #expect(
                other.registeredObjects.allSatisfy {
                    $0.objectID == root.objectID || same.contains($0) == ($0 === member)
                })
            same.removeAll()
            #expect(same.isEmpty && member.value(forKey: "owner") == nil)
            same.set([member])
            #expect(same.array == [member])
        }
    }

    @Test(arguments: StoreKind.allCases) func movingOneWritesOneRow(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        try context.performAndWait {
            let root = make("Node", context)
            root.setValue((0..<100).map { make("Node", context, ["key": $0]) }, forKey: "items")
            try context.save()
            let seen = SaveNotifications(context)
            root.members(NodeModel.items).move(from: 99, to: 0)
            try context.save()
            let updated = seen.all.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>
            #expect(updated.map { $0.compactMap { $0 === root ? nil : $0.number } } == [99])
            let other = store.context()
            let order = other.object(with: root.objectID).members(NodeModel.items).map(\.number)
            #expect(order == [99] + Array(0..<99))
        }
    }

    @Test(arguments: StoreKind.allCases, ["items", "queue"])
    func ordersOfTwoContextsAreMerged(_ kind: StoreKind, _ key: String) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let first = store.context()
        let second = store.context()
        second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        first.performAndWait {
            let root = make("Node", first, ["key": 100])
            let nodes = (0..<4).map { make("Node", first, ["key": $0]) }
            root.setValue(nodes, forKey: key)
            #expect(throws: Never.self) { try first.save() }
            let same = second.object(with: root.objectID)
            #expect(keys(same.value(forKey: key)) == [0, 1, 2, 3])
            // One moves the last to the front, the other adds two; what was added stays behind what it was added to.
            same.mutableOrderedSetValue(forKey: key).moveObjects(at: IndexSet([3]), to: 0)
            let set = root.mutableOrderedSetValue(forKey: key)
            set.add(make("Node", first, ["key": 4]))
            set.insert(make("Node", first, ["key": 5]), at: 1)
            #expect(throws: Never.self) { try first.save() }
            second.refresh(same, mergeChanges: true)
            #expect(keys(same.value(forKey: key)) == [3, 4, 0, 5, 1, 2] && same.hasChanges)
            #expect(throws: Never.self) { try second.save() }
            let third = store.context()
            #expect(keys(third.object(with: root.objectID).value(forKey: key)) == [3, 4, 0, 5, 1, 2])
        }
    }

    @Test(arguments: StoreKind.allCases) func filteringIsAChange(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NodeModel.nodes())
        let context = store.context()
        try context.performAndWait {
            let root = make("Node", context, ["key": 100])
            let nodes = (0..<6).map { make("Node", context, ["key": $0]) }
            let even = NSPredicate { object, _ in (object as? NSManagedObject).map { $0.number % 2 == 0 } ?? false }
            for key in ["items", "left"] {
                root.setValue(nodes, forKey: key)
                let set = root.mutableOrderedSetValue(forKey: key)
                set.filter(using: even)
                #expect(keys(root.value(forKey: key)) == [0, 2, 4] && keys(set) == [0, 2, 4])
                set.sort(comparator: {
                    ($0 as? NSManagedObject)!.number > ($1 as? NSManagedObject)!.number
                        ? .orderedAscending : .orderedDescending
                })
                #expect(keys(root.value(forKey: key)) == [4, 2, 0])
                #expect(set.reversed.array.count == 3 && set.set.count == 3 && set.map { $0 }.count == 3)
            }
            for key in ["children", "friends"] {
                root.setValue(nodes, forKey: key)
                root.mutableSetValue(forKey: key).filter(using: even)
                #expect(Set(keys(root.value(forKey: key))) == [0, 2, 4])
            }
            try context.save()
        }
    }

    @Test func theWrongKindOfCollectionStops() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory, NodeModel.nodes())
            _ = make("Node", store.context()).mutableSetValue(forKey: "items")
        }
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory, NodeModel.nodes())
            make("Node", store.context()).mutableSetValue(forKey: "children").add("a string")
        }
    }
}

extension NSManagedObject {
    var number: Int { value(forKey: "key") as? Int ?? -1 }
}
