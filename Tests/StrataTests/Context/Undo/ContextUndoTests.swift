import CoreData
import Foundation
import Testing

@Suite final class ContextUndoTests {
    private var stores: [TestStore] = []

    /// A context whose every event is an undo group.
    private func makeContext(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        stores.append(store)
        return (store, store.undoContext())
    }

    private func stored(_ store: TestStore) throws -> [Probe] {
        try fetchAll(Probe.self, "Probe", store.context(), sort: "name")
    }

    @Test func thereIsNoUndoManagerByDefault() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        #expect(context.undoManager == nil)
        let employee = Employee(context: context)
        context.undo()
        context.redo()
        #expect(employee.isInserted)
    }

    @Test(arguments: StoreKind.allCases) func attributesGoBackAndForth(_ kind: StoreKind) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "a"
            try context.save()
            probe.name = "b"
            probe.count = 4
            probe.note = "n"
            context.processPendingChanges()
            probe.name = nil
            context.undo()
            #expect(probe.name == "b" && probe.isUpdated && context.hasChanges)
            _ = probe.takeCalls()
            context.undo()
            #expect(probe.name == "a" && probe.count == 3 && probe.note == nil)
            #expect(probe.takeCalls() == ["undoUpdate"])
            #expect(!probe.isUpdated && !probe.hasChanges && !context.hasChanges && context.updatedObjects.isEmpty)
            context.redo()
            #expect(probe.name == "b" && probe.count == 4 && probe.note == "n" && probe.isUpdated)
            context.redo()
            #expect(probe.name == nil && probe.count == 4)
            #expect(context.undoManager?.canRedo == false)
            context.undo()
            try context.save()
            #expect(try stored(store).map(\.name) == ["b"])
            context.undo()
            #expect(probe.name == "a" && probe.isUpdated)
            try context.save()
            #expect(try stored(store).map(\.name) == ["a"])
        }
    }

    /// Members can be changed without reading the row: what is set afterwards in the same event goes back to what it
    /// was.
    @Test(arguments: StoreKind.allCases, ["children", "items", "peers"])
    func whatAFaultHeldComesBackThoughItsMembersChangedFirst(_ kind: StoreKind, _ relationship: String) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let (probe, holder, other) = (Probe(context: context), Probe(context: context), Probe(context: context))
            (probe.name, probe.count, probe.holder) = ("probe", 7, holder)
            other.name = "other"
            try context.save()
            context.reset()
            let all = try fetchAll(Probe.self, "Probe", context)
            let (found, member) = (
                try #require(all.first { $0.name == "probe" }), try #require(all.first { $0.name == "other" })
            )
            context.refreshAllObjects()
            #expect(found.isFault)
            let members: Any = relationship == "items" ? NSOrderedSet(array: [member]) : NSSet(array: [member])
            found.setValue(members, forKey: relationship)
            (found.name, found.count, found.holder) = ("changed", 8, nil)
            context.undo()
            #expect(found.name == "probe" && found.count == 7 && found.holder != nil)
            context.redo()
            #expect(found.name == "changed" && found.count == 8 && found.holder == nil)
            context.undo()
            try context.save()
            #expect(try stored(store).compactMap(\.name) == ["other", "probe"])
        }
    }

    @Test(arguments: StoreKind.allCases) func insertionGoesAndComes(_ kind: StoreKind) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let parent = Probe(context: context)
            try context.save()
            let child = Probe(context: context)
            child.name = "child"
            child.parent = parent
            context.undo()
            #expect(!child.isInserted && context.insertedObjects.isEmpty && !context.hasChanges)
            #expect(parent.children.isEmpty && !parent.isUpdated)
            #expect(child.calls.last == "undoInsertion")
            #expect(try fetchAll(Probe.self, "Probe", context) == [parent])
            context.redo()
            #expect(child.isInserted && context.insertedObjects == [child] && parent.children == [child])
            #expect(child.name == "child" && child.parent === parent && child.calls.last == "undoDeletion")
            try context.save()
            let id = child.objectID
            // The insertion has been saved: undoing it deletes.
            context.undo()
            #expect(child.isDeleted && context.deletedObjects == [child] && parent.children.isEmpty)
            try context.save()
            #expect(try stored(store).count == 1 && child.managedObjectContext == nil)
            context.redo()
            #expect(child.isInserted && child.objectID == id && child.parent === parent)
            #expect(context.object(with: id) === child)
            try context.save()
            let copies = try stored(store)
            #expect(
                copies.count == 2 && copies.contains { $0.objectID == id && $0.parent?.objectID == parent.objectID })
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func deletionIsTakenBack(_ kind: StoreKind, _ isSaved: Bool) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let probes = ["root", "left", "right", "leaf", "peer", "item"].map { name in
                let probe = Probe(context: context)
                probe.name = name
                return probe
            }
            let (root, left, leaf, peer, item) = (probes[0], probes[1], probes[3], probes[4], probes[5])
            probes[1].parent = root
            probes[2].parent = root
            leaf.parent = left
            root.peers = [peer, left]
            item.items = [root, leaf, peer]
            try context.save()
            let ids = probes.map(\.objectID)
            for probe in probes { _ = probe.takeCalls() }
            context.delete(root)
            if isSaved { try context.save() } else { context.processPendingChanges() }
            #expect(item.items == [peer] && peer.peers.isEmpty)
            #expect(leaf.calls.first == "prepareForDeletion")
            for probe in probes { _ = probe.takeCalls() }
            context.undo()
            for probe in probes.prefix(4) {
                #expect(probe.takeCalls() == ["undoDeletion"])
                #expect(!probe.isDeleted && probe.isInserted == isSaved && probe.managedObjectContext === context)
            }
            #expect(probes.map(\.objectID) == ids && probes.map(\.name).first == "root")
            #expect(ids.allSatisfy { id in probes.contains { $0 === context.registeredObject(for: id) } })
            #expect(root.children == [left, probes[2]] && left.children == [leaf] && leaf.parent === left)
            #expect(root.peers == [peer, left] && peer.peers == [root] && item.items == [root, leaf, peer])
            #expect(context.hasChanges == isSaved)
            try context.save()
            let copies = try stored(store)
            #expect(Set(copies.map(\.objectID)) == Set(ids))
            let copy = try #require(copies.first { $0.name == "root" })
            #expect(Set(copy.children.map(\.name)) == ["left", "right"])
            #expect(Set(copy.peers.map(\.name)) == ["left", "peer"])
            #expect(copies.first { $0.name == "item" }?.items.map(\.name) == ["root", "leaf", "peer"])
            // And once more.
            context.redo()
            #expect(root.isDeleted && leaf.isDeleted && item.items == [peer])
            try context.save()
            #expect(try stored(store).count == 2)
            context.undo()
            try context.save()
            #expect(try stored(store).count == 6)
        }
    }

    @Test(arguments: StoreKind.allCases) func relationshipsGoBackOnBothSides(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let (a, b, c) = (Probe(context: context), Probe(context: context), Probe(context: context))
            let holder = Probe(context: context)
            a.parent = b
            holder.items = [a, b, c]
            try context.save()
            a.parent = c
            a.peers = [b, c]
            context.processPendingChanges()
            holder.items = [c, a]
            context.processPendingChanges()
            context.undo()
            #expect(holder.items == [a, b, c] && b.holder === holder)
            context.undo()
            #expect(a.parent === b && b.children == [a] && c.children.isEmpty)
            #expect(a.peers.isEmpty && b.peers.isEmpty && !context.hasChanges)
            context.redo()
            #expect(a.parent === c && c.children == [a] && b.children.isEmpty && b.peers == [a])
            context.redo()
            #expect(holder.items == [c, a] && b.holder == nil)
            context.undo()
            context.undo()
            #expect(!context.hasChanges)
        }
    }

    @Test func groupsHoldSeveralEvents() throws {
        let (_, context) = try makeContext(.memory)
        let manager = try #require(context.undoManager)
        context.performAndWait {
            let probe = Probe(context: context)
            context.processPendingChanges()
            manager.beginUndoGrouping()
            probe.count = 10
            context.processPendingChanges()
            probe.count = 20
            manager.beginUndoGrouping()
            probe.count = 30
            manager.endUndoGrouping()
            manager.setActionName("Count")
            manager.endUndoGrouping()
            #expect(manager.undoActionName == "Count")
            context.undo()
            #expect(probe.count == 3 && manager.redoActionName == "Count")
            context.redo()
            #expect(probe.count == 30)
        }
    }

    @Test func disabledRegistrationLeavesChangesInPlace() throws {
        let (_, context) = try makeContext(.memory)
        let manager = try #require(context.undoManager)
        context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "a"
            context.processPendingChanges()
            manager.disableUndoRegistration()
            probe.count = 50
            context.processPendingChanges()
            manager.enableUndoRegistration()
            probe.name = "b"
            context.undo()
            #expect(probe.name == "a" && probe.count == 50 && probe.isInserted)
            context.undo()
            #expect(!probe.isInserted && !manager.canUndo)
        }
    }

    @Test func whatChangesNothingCannotBeUndone() throws {
        let (_, context) = try makeContext(.memory)
        let manager = try #require(context.undoManager)
        try context.performAndWait {
            let probe = Probe(context: context)
            try context.save()
            manager.removeAllActions()
            probe.count = 3
            #expect(!manager.canUndo)
            probe.count = 4
            probe.count = 3
            #expect(!manager.canUndo)
            context.delete(Probe(context: context))
            #expect(!manager.canUndo)
        }
    }

    @Test func undoManagersOwnMethodsSeePendingChanges() throws {
        let (_, context) = try makeContext(.memory)
        let manager = try #require(context.undoManager)
        manager.groupsByEvent = true
        context.performAndWait {
            let probe = Probe(context: context)
            #expect(manager.canUndo && manager.groupingLevel == 1)
            manager.undo()
            #expect(!probe.isInserted && manager.canRedo)
            manager.redo()
            #expect(probe.isInserted)
        }
    }

    @Test func performIsAnEvent() async throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        context.undoManager = UndoManager()
        struct Box: @unchecked Sendable { var probe: Probe }
        let box = await context.perform { Box(probe: Probe(context: context)) }
        await context.perform {
            #expect(context.undoManager?.groupingLevel == 0)
            box.probe.count = 5
            context.processPendingChanges()
            box.probe.count = 6
        }
        await context.perform {
            context.undo()
            #expect(box.probe.count == 3 && box.probe.isInserted)
            context.undo()
            #expect(!box.probe.isInserted)
        }
    }

    @Test func rollbackAndResetForgetWhatCouldBeUndone() throws {
        let (_, context) = try makeContext(.memory)
        let manager = try #require(context.undoManager)
        try context.performAndWait {
            let probe = Probe(context: context)
            try context.save()
            probe.count = 4
            context.processPendingChanges()
            probe.count = 5
            context.rollback()
            #expect(!manager.canUndo && !manager.canRedo && probe.count == 3)
            probe.count = 4
            context.processPendingChanges()
            #expect(manager.canUndo)
            context.reset()
            #expect(!manager.canUndo)
            _ = Probe(context: context)
            context.processPendingChanges()
            context.undoManager = nil
            #expect(!manager.canUndo && context.undoManager == nil)
        }
    }

    @Test func undoingIsReportedAsAChange() throws {
        let (_, context) = try makeContext(.memory)
        let seen = ContextTests.Seen()
        let name = Notification.Name.NSManagedObjectContextObjectsDidChange
        let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { seen.add($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.performAndWait {
            let probe = Probe(context: context)
            context.processPendingChanges()
            #expect(seen.take(name) == [[NSInsertedObjectsKey: [probe]]])
            context.undo()
            #expect(seen.take(name) == [[NSDeletedObjectsKey: [probe]]])
            context.redo()
            #expect(seen.take(name) == [[NSInsertedObjectsKey: [probe]]])
            try context.save()
            probe.count = 1
            context.processPendingChanges()
            _ = seen.take(name)
            context.undo()
            #expect(seen.take(name) == [[NSUpdatedObjectsKey: [probe]]])
            context.delete(probe)
            context.processPendingChanges()
            #expect(seen.take(name) == [[NSDeletedObjectsKey: [probe]]])
            context.undo()
            #expect(seen.take(name) == [[NSInsertedObjectsKey: [probe]]])
        }
    }

    @Test func whatAwakeningSetsIsNoChange() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            try context.save()
            probe.handlers["undoUpdate"] = { $0.note = "awake" }
            probe.count = 9
            context.undo()
            #expect(probe.note == "awake" && !context.hasChanges)
            #expect(context.undoManager?.undoCount == 1)
        }
    }

    @Test func nothingKeepsAContextAlive() throws {
        let store = try TestStore(.memory, Probe.model())
        let manager = UndoManager()
        manager.groupsByEvent = false
        weak var weakContext: NSManagedObjectContext?
        weak var weakProbe: Probe?
        try {
            let context = store.shortLivedContext()
            weakContext = context
            context.undoManager = manager
            try context.performAndWait {
                let probe = Probe(context: context)
                probe.parent = Probe(context: context)
                weakProbe = probe
                try context.save()
                probe.name = "changed"
                context.processPendingChanges()
            }
            #expect(manager.undoCount == 2)
        }()
        #expect(weakContext == nil && weakProbe == nil && !manager.canUndo && manager.undoCount == 0)
    }

    @Test func deletionThatHasNotSpreadIsTakenBackToo() throws {
        let (_, context) = try makeContext(.memory)
        context.propagatesDeletesAtEndOfEvent = false
        try context.performAndWait {
            let (root, child, other) = (Probe(context: context), Probe(context: context), Probe(context: context))
            child.parent = root
            other.items = [child, root]
            try context.save()
            root.name = "changed before"
            context.delete(root)
            #expect(!child.isDeleted && other.items == [child, root])
            context.undo()
            #expect(!root.isDeleted && !child.isDeleted && root.name == nil && other.items == [child, root])
            #expect(!context.hasChanges)
        }
    }

    @Test func changesInWillSaveCanBeUndone() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            try context.save()
            probe.handlers["willSave"] = { if $0.count != 12 { $0.count = 12 } }
            probe.name = "x"
            try context.save()
            probe.handlers = [:]
            context.undo()
            #expect(probe.count == 3 && probe.name == "x" && probe.isUpdated)
            context.undo()
            #expect(probe.name == nil)
        }
    }
}
