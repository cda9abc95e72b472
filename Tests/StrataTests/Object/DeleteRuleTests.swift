import CoreData
import Foundation
import Testing

@Suite struct DeleteRuleTests {
    /// Nodes with relationships of every shape and rule among themselves.
    private static func model() -> NSManagedObjectModel {
        let node = GraphModel.entity("Node")
        func pair(
            _ name: String, _ rule: NSDeleteRule, toMany: Bool, ordered: Bool = false, _ inverse: String,
            _ inverseRule: NSDeleteRule = .nullifyDeleteRule, inverseToMany: Bool = false
        ) -> [NSRelationshipDescription] {
            let there = GraphModel.relationship(name, to: node, toMany: toMany, rule: rule, ordered: ordered)
            let back = GraphModel.relationship(inverse, to: node, toMany: inverseToMany, rule: inverseRule)
            GraphModel.link(there, back)
            return [there, back]
        }
        let friends = GraphModel.relationship("friends", to: node, toMany: true)
        friends.inverseRelationship = friends
        node.properties =
            [GraphModel.attribute("name", .stringAttributeType), friends]
            + pair("children", .cascadeDeleteRule, toMany: true, "parent")
            + pair("steps", .cascadeDeleteRule, toMany: true, ordered: true, "plan")
            + pair("next", .cascadeDeleteRule, toMany: false, "previous", .cascadeDeleteRule)
            + pair("guards", .denyDeleteRule, toMany: true, "guarded")
            + pair("owns", .noActionDeleteRule, toMany: true, "owner")
            + pair("groups", .cascadeDeleteRule, toMany: true, "members", inverseToMany: true)
            + pair("listed", .nullifyDeleteRule, toMany: true, ordered: true, "listing")
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    private func with(
        _ kind: StoreKind, _ names: [String],
        _ body: (TestStore, NSManagedObjectContext, [NSManagedObject]) throws -> Void
    ) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            try body(store, context, names.map { insert("Node", context).set(["name": $0]) })
        }
    }

    private func names(_ store: TestStore) throws -> [String] {
        try stored("Node", store, sort: "name").compactMap { $0.text("name") }
    }

    /// The parent used to follow the rules from what a deleted object had referred to before the child changed it: what
    /// the child had taken away from it went all the same.
    @Test(arguments: StoreKind.allCases) func whatAChildTookFromAnObjectStaysWhenItDeletesTheObject(
        _ kind: StoreKind
    ) throws {
        try with(kind, ["a", "b", "c", "guard", "group", "step", "next"]) { store, root, nodes in
            let (a, b) = (nodes[0], nodes[1])
            nodes[2].setValue(a, forKey: "parent")
            nodes[3].setValue(a, forKey: "guarded")
            a.mutableSetValue(forKey: "groups").add(nodes[4])
            a.mutableOrderedSetValue(forKey: "steps").add(nodes[5])
            a.setValue(nodes[6], forKey: "next")
            try root.save()
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = root
            let ids = nodes.map(\.objectID)
            try child.performAndWait {
                let mine = ids.map { child.object(with: $0) }
                mine[0].mutableSetValue(forKey: "children").remove(mine[2])
                mine[0].mutableSetValue(forKey: "guards").remove(mine[3])
                mine[0].mutableSetValue(forKey: "groups").remove(mine[4])
                mine[5].setValue(mine[1], forKey: "plan")
                mine[0].setValue(nil, forKey: "next")
                child.delete(mine[0])
                try child.save()
            }
            #expect(!b.isDeleted && nodes[2...].allSatisfy { !$0.isDeleted })
            try root.save()
            #expect(try names(store) == ["b", "c", "group", "guard", "next", "step"])
        }
    }

    /// The same of a reference to one whose other end has many, or none.
    @Test(arguments: StoreKind.allCases, [true, false])
    func whatAChildMovedAwayFromStays(_ kind: StoreKind, _ hasInverse: Bool) throws {
        let node = GraphModel.entity("Node")
        let owner = GraphModel.relationship("owner", to: node, toMany: false, rule: .cascadeDeleteRule)
        let owned = GraphModel.relationship("owned", to: node, toMany: true)
        let tags = GraphModel.relationship("tags", to: node, toMany: true, rule: .cascadeDeleteRule)
        if hasInverse { GraphModel.link(owner, owned) }
        node.properties =
            [GraphModel.attribute("name", .stringAttributeType), owner, tags] + (hasInverse ? [owned] : [])
        let model = NSManagedObjectModel()
        model.entities = [node]
        let store = try TestStore(kind, model)
        let root = store.context()
        try root.performAndWait {
            let nodes = ["a", "b", "c", "tag", "other tag"].map { insert("Node", root).set(["name": $0]) }
            nodes[0].setValue(nodes[1], forKey: "owner")
            nodes[0].mutableSetValue(forKey: "tags").addObjects(from: [nodes[3], nodes[4]])
            try root.save()
            let ids = nodes.map(\.objectID)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = root
            try child.performAndWait {
                let mine = ids.map { child.object(with: $0) }
                mine[0].setValue(mine[2], forKey: "owner")
                mine[0].mutableSetValue(forKey: "tags").remove(mine[3])
                child.delete(mine[0])
                try child.save()
            }
            try root.save()
        }
        #expect(try names(store) == ["b", "tag"])
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func cascadesOfFaults(_ kind: StoreKind, _ atEndOfEvent: Bool) throws {
        try with(kind, ["a", "b", "c", "d", "e"]) { store, context, nodes in
            nodes[1].setValue(nodes[0], forKey: "parent")
            nodes[2].setValue(nodes[1], forKey: "parent")
            nodes[3].setValue(nodes[1], forKey: "plan")
            try context.save()
            let other = store.context()
            other.propagatesDeletesAtEndOfEvent = atEndOfEvent
            let root = other.object(with: nodes[0].objectID)
            let added = insert("Node", other).set(["name": "added", "parent": root])
            let kept = other.object(with: nodes[2].objectID)
            kept.setValue(nil, forKey: "parent")
            other.delete(root)
            #expect(other.deletedObjects == [root])
            other.processPendingChanges()
            let names = other.deletedObjects.compactMap { $0.text("name") }
            #expect(Set(names) == (atEndOfEvent ? ["a", "b", "d"] : ["a"]))
            #expect((added.managedObjectContext == nil) == atEndOfEvent && !kept.isDeleted)
            try other.save()
            #expect(try self.names(store) == ["c", "e"])
            #expect(!other.hasChanges && other.registeredObjects.contains(kept))
        }
    }

    /// With `propagatesDeletesAtEndOfEvent` off, an object that was deleted before it was ever saved left the context
    /// at the event's end, and its rules were never followed.
    @Test(arguments: StoreKind.allCases) func rulesOfUnsavedObjectsWaitForTheSave(_ kind: StoreKind) throws {
        try with(kind, ["a", "b"]) { store, context, nodes in
            try context.save()
            context.propagatesDeletesAtEndOfEvent = false
            let fresh = insert("Node", context).set(["children": Set(nodes[1...])])
            context.delete(fresh)
            context.processPendingChanges()
            #expect(!nodes[1].isDeleted && context.hasChanges)
            try context.save()
            #expect(try names(store) == ["a"] && !context.hasChanges)
        }
    }

    @Test(arguments: StoreKind.allCases) func cyclesOfCascadesEnd(_ kind: StoreKind) throws {
        try with(kind, ["a", "b", "c", "d"]) { store, context, nodes in
            for index in 0..<3 { nodes[index].setValue(nodes[(index + 1) % 3], forKey: "next") }
            nodes[0].setValue(nodes[0], forKey: "parent")
            nodes[0].setValue(Set([nodes[1], nodes[0]]), forKey: "groups")
            try context.save()
            context.delete(nodes[1])
            try context.save()
            #expect(try names(store) == ["d"])
        }
    }

    @Test(arguments: StoreKind.allCases) func nullifyOfEveryShape(_ kind: StoreKind) throws {
        try with(kind, ["a", "b", "c", "d"]) { store, context, nodes in
            nodes[0].setValue(Set(nodes[1...]), forKey: "friends")
            nodes[3].setValue(NSOrderedSet(array: [nodes[2], nodes[0], nodes[1]]), forKey: "listed")
            nodes[1].setValue(Set([nodes[0]]), forKey: "children")
            try context.save()
            context.delete(nodes[0])
            context.processPendingChanges()
            func check(_ nodes: [NSManagedObject]) {
                #expect(nodes.allSatisfy { $0.members("friends").isEmpty })
                let listed = nodes[2].value(forKey: "listed") as? NSOrderedSet
                #expect(listed?.array.compactMap { ($0 as? NSManagedObject)?.text("name") } == ["c", "b"])
                #expect(nodes[0].members("children").isEmpty)
            }
            #expect(nodes[2].isDeleted == false)
            check(Array(nodes[1...]))
            #expect(nodes[3].isUpdated && nodes[1].isUpdated)
            try context.save()
            check(Array(nodes[1...]))
            #expect(try names(store) == ["b", "c", "d"])
            check(try stored("Node", store, sort: "name"))
        }
    }

    @Test(arguments: StoreKind.allCases) func manyToManyCascades(_ kind: StoreKind) throws {
        try with(kind, ["a", "b", "c"]) { store, context, nodes in
            nodes[0].setValue(Set([nodes[1]]), forKey: "groups")
            nodes[2].setValue(Set([nodes[1]]), forKey: "groups")
            try context.save()
            let other = store.context()
            other.delete(other.object(with: nodes[0].objectID))
            try other.save()
            #expect(try names(store) == ["c"])
            #expect(try stored("Node", store, sort: "name").first?.members("groups").isEmpty == true)
        }
    }

    @Test(arguments: StoreKind.allCases) func denyLooksAtWhatIsLeft(_ kind: StoreKind) throws {
        try with(kind, ["a", "b", "c"]) { store, context, nodes in
            nodes[0].setValue(Set(nodes[1...]), forKey: "guards")
            try context.save()
            context.delete(nodes[0])
            for _ in 0..<2 {
                let error = saveError(context)
                #expect(error?.code.rawValue == 1600 && error?.validationKey == "guards")
                #expect(error?.localizedDescription.contains("Items cannot be deleted from Node.guards") == true)
                #expect((error?.validationValue as? Set<NSManagedObject>)?.count == 2)
                #expect(nodes[0].isDeleted && context.deletedObjects == [nodes[0]])
            }
            #expect(try names(store) == ["a", "b", "c"])
            // One of them goes in the same save, the other is let go.
            context.delete(nodes[1])
            nodes[2].setValue(nil, forKey: "guarded")
            try context.save()
            #expect(try names(store) == ["c"])
        }
    }

    /// An object that was deleted before it was ever saved leaves the context when the event ends. It stayed in what a
    /// deleted object guards, and its rule refused the save though both go.
    @Test(arguments: StoreKind.allCases, DenyOrder.allCases)
    func denyDoesNotCountWhatWasNeverSaved(_ kind: StoreKind, _ order: DenyOrder) throws {
        let store = try TestStore(kind, Self.model())
        let root = store.context()
        let id = try root.performAndWait {
            let nodes = ["a", "b"].map { insert("Node", root).set(["name": $0]) }
            try root.save()
            return nodes[0].objectID
        }
        let context = order == .inChild ? NSManagedObjectContext(.privateQueue) : root
        if order == .inChild { context.parent = root }
        try context.performAndWait {
            let guardian = try context.existingObject(with: id)
            let unsaved = insert("Node", context).set(["name": "c", "guarded": guardian])
            if order == .inTwoEvents { context.processPendingChanges() }
            if order == .guardedFirst { context.delete(unsaved) }
            context.delete(guardian)
            if order == .inTwoEvents { context.processPendingChanges() }
            if order != .guardedFirst { context.delete(unsaved) }
            context.processPendingChanges()
            try context.save()
        }
        try root.performAndWait { try root.save() }
        #expect(try names(store) == ["b"])
    }

    enum DenyOrder: CaseIterable {
        case guardianFirst, guardedFirst, inTwoEvents, inChild
    }

    @Test(arguments: StoreKind.allCases) func noActionLeavesTheOthersAlone(_ kind: StoreKind) throws {
        try with(kind, ["a", "b"]) { store, context, nodes in
            nodes[1].setValue(nodes[0], forKey: "owner")
            try context.save()
            context.delete(nodes[0])
            context.processPendingChanges()
            #expect(!nodes[1].isUpdated && nodes[1].value(forKey: "owner") as? NSManagedObject === nodes[0])
            try context.save()
            let left = try #require(try stored("Node", store, sort: "name").first)
            #expect(left.text("name") == "b")
            // The reference leads to a row that is gone, which reads as an object without values.
            #expect((left.value(forKey: "owner") as? NSManagedObject)?.text("name") == nil)
        }
    }

    @Test func notificationsNameTheDeletedObjects() throws {
        try with(.memory, ["a", "b", "c"]) { _, context, nodes in
            nodes[1].setValue(nodes[0], forKey: "parent")
            try context.save()
            for deleted in [Set([nodes[2]]), Set([nodes[0], nodes[1]])] {
                let changes = NotificationRecorder(
                    .NSManagedObjectContextObjectsDidChange, context, NSDeletedObjectsKey)
                let saves = NotificationRecorder(.NSManagedObjectContextDidSave, context, NSDeletedObjectsKey)
                context.delete(deleted.contains(nodes[2]) ? nodes[2] : nodes[0])
                context.processPendingChanges()
                let passing = insert("Node", context)
                context.processPendingChanges()
                context.delete(passing)
                try context.save()
                #expect(changes.objects == deleted.union([passing]) && saves.objects == deleted)
            }
        }
    }
}
