import CoreData
import Foundation
import Testing

/// Which life-cycle method is called when, and how often.
@Suite(.serialized) final class LifeCycleOrderTests {
    private var stores: [TestStore] = []

    private func makeContext(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        stores.append(store)
        return (store, store.context())
    }

    @Test(arguments: StoreKind.allCases) func aWholeLife(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = Probe(context: context)
            #expect(probe.takeCalls() == ["awakeFromInsert"])
            probe.name = "a"
            context.processPendingChanges()
            #expect(probe.takeCalls() == [])
            try context.save()
            #expect(probe.takeCalls() == ["willSave", "validateForInsert", "didSave"])
            try context.save()
            #expect(probe.takeCalls() == [])
            probe.name = "b"
            try context.save()
            #expect(probe.takeCalls() == ["willSave", "validateForUpdate", "didSave"])
            context.refresh(probe, mergeChanges: true)
            #expect(probe.takeCalls() == ["refresh"] && !probe.isFault)
            context.refresh(probe, mergeChanges: false)
            #expect(probe.takeCalls() == ["willTurnIntoFault", "didTurnIntoFault"] && probe.isFault)
            context.refresh(probe, mergeChanges: false)
            #expect(probe.takeCalls() == [])
            #expect(probe.name == "b")
            #expect(probe.takeCalls() == ["awakeFromFetch"])
            context.delete(probe)
            #expect(probe.takeCalls() == ["prepareForDeletion"])
            context.delete(probe)
            context.processPendingChanges()
            #expect(probe.takeCalls() == [])
            try context.save()
            #expect(probe.takeCalls() == ["willSave", "validateForDelete", "didSave"])
        }
    }

    @Test func resetAndRollback() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let changed = Probe(context: context)
            let untouched = Probe(context: context)
            let fault = Probe(context: context)
            try context.save()
            context.refresh(fault, mergeChanges: false)
            changed.count = 8
            for probe in [changed, untouched, fault] { _ = probe.takeCalls() }
            context.rollback()
            #expect(changed.takeCalls() == ["rollback"] && !changed.isFault)
            #expect(untouched.takeCalls() == [])
            #expect(changed.count == 3)
            _ = changed.takeCalls()
            context.reset()
            #expect(changed.takeCalls() == ["willTurnIntoFault", "didTurnIntoFault"])
            #expect(untouched.takeCalls() == ["willTurnIntoFault", "didTurnIntoFault"] && fault.takeCalls() == [])
        }
    }

    @Test(arguments: StoreKind.allCases) func willSaveMayChangeEverything(_ kind: StoreKind) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = Probe(context: context)
            let doomed = Probe(context: context)
            let bystander = Probe(context: context)
            probe.name = "probe"
            try context.save()
            probe.name = "changed"
            var made: Probe?
            probe.handlers["willSave"] = { probe in
                guard made == nil else { return }
                probe.setPrimitiveValue("in willSave", forKey: "name")
                let new = Probe(context: context)
                new.name = "made in willSave"
                made = new
                context.delete(doomed)
                bystander.count = 11
            }
            for each in [probe, doomed, bystander] { _ = each.takeCalls() }
            try context.save()
            #expect(!context.hasChanges && made?.objectID.isTemporaryID == false)
            #expect(made?.takeCalls() == ["awakeFromInsert", "willSave", "validateForInsert", "didSave"])
            #expect(doomed.takeCalls() == ["prepareForDeletion", "willSave", "validateForDelete", "didSave"])
            #expect(bystander.takeCalls() == ["willSave", "validateForUpdate", "didSave"])
            #expect(probe.calls.last == "didSave" && probe.calls.count { $0 == "didSave" } == 1)
            let stored = try fetchAll(Probe.self, "Probe", store.context(), sort: "name")
            #expect(Set(stored.map(\.name)) == [nil, "in willSave", "made in willSave"])
            #expect(stored.contains { $0.count == 11 })
        }
    }

    @Test func endlessWillSaveIsGivenUp() throws {
        let (store, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.handlers["willSave"] = { $0.count += 1 }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("1000") == true)
            #expect(probe.isInserted && probe.calls.count { $0 == "willSave" } == 1_000)
            #expect(try fetchAll(Probe.self, "Probe", store.context()).isEmpty)
            probe.handlers = [:]
            try context.save()
            #expect(try fetchAll(Probe.self, "Probe", store.context()).count == 1)
        }
    }

    @Test func savingInsideOfASaveIsRefused() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            var codes: [Int] = []
            for name in ["willSave", "validateForInsert", "didSave"] {
                probe.handlers[name] = { _ in
                    do { try context.save() } catch let error as CocoaError { codes.append(error.code.rawValue) }
                }
            }
            try context.save()
            #expect(codes == [132001, 132001, 132001])
        }
    }

    @Test func observersThatGoOnChangingAreGivenUp() throws {
        let (_, context) = try makeContext(.memory)
        struct Box: @unchecked Sendable { let probe: Probe }
        let box = Box(probe: Probe(context: context))
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in box.probe.count += 1 }
        context.performAndWait {
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(box.probe.isInserted)
            NotificationCenter.default.removeObserver(token)
            #expect(throws: Never.self) { try context.save() }
        }
    }

    @Test func awakeFromInsertIsPartOfTheInsertion() throws {
        let (store, context) = try makeContext(.memory)
        Probe.shared["awakeFromInsert"] = { $0.name = "from awakeFromInsert" }
        defer { Probe.shared = [:] }
        try context.performAndWait {
            let probe = Probe(context: context)
            #expect(probe.changedValues()["name"] as? String == "from awakeFromInsert")
            try context.save()
            #expect(try fetchAll(Probe.self, "Probe", store.context()).first?.name == "from awakeFromInsert")
        }
    }

    @Test(arguments: [false, true]) func whatAwakeFromFetchSetsIsNoChange(_ primitively: Bool) throws {
        let (store, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "stored"
            try context.save()
        }
        Probe.shared["awakeFromFetch"] = { probe in
            if primitively {
                probe.setPrimitiveValue("derived", forKey: "note")
                probe.setPrimitiveValue(77, forKey: "count")
            } else {
                probe.note = "derived"
                probe.count = 77
            }
        }
        defer { Probe.shared = [:] }
        let other = store.context()
        try other.performAndWait {
            let probe = try #require(try fetchAll(Probe.self, "Probe", other).first)
            #expect(probe.note == "derived" && probe.count == 77)
            #expect(!probe.hasChanges && !other.hasChanges && other.updatedObjects.isEmpty)
            #expect(probe.changedValues().isEmpty && probe.changedValuesForCurrentEvent().isEmpty)
            probe.name = "changed"
            #expect(probe.changedValues().keys.sorted() == ["name"])
        }
    }

    @Test(arguments: StoreKind.allCases) func cascadesPrepareEveryObjectOnce(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let root = Probe(context: context)
            let child = Probe(context: context)
            let grandchild = Probe(context: context)
            child.parent = root
            grandchild.parent = child
            try context.save()
            for probe in [root, child, grandchild] { _ = probe.takeCalls() }
            context.delete(root)
            #expect(root.calls == ["prepareForDeletion"] && child.calls == [] && !child.isDeleted)
            context.delete(child)
            context.processPendingChanges()
            for probe in [root, child, grandchild] {
                #expect(probe.takeCalls() == ["prepareForDeletion"] && probe.isDeleted)
            }
            context.rollback()
            context.propagatesDeletesAtEndOfEvent = false
            context.delete(root)
            context.processPendingChanges()
            #expect(!child.isDeleted && context.deletedObjects == [root])
            for probe in [root, child, grandchild] { _ = probe.takeCalls() }
            try context.save()
            #expect(child.takeCalls().contains("prepareForDeletion"))
            #expect([root, child, grandchild].allSatisfy { $0.managedObjectContext == nil })
        }
    }

    /// What an object is asked in its prepareForDeletion is whether others are left, and it must not count itself.
    @Test(arguments: StoreKind.allCases) func theLastChildTakesItsParentAlong(_ kind: StoreKind) throws {
        let (store, context) = try makeContext(kind)
        try context.performAndWait {
            let parent = Probe(context: context)
            let children = (0..<2).map { _ in Probe(context: context) }
            for child in children {
                child.parent = parent
                child.handlers["prepareForDeletion"] = { child in
                    guard let parent = child.parent, parent.children.allSatisfy(\.isDeleted) else { return }
                    context.delete(parent)
                }
            }
            try context.save()
            context.delete(children[0])
            #expect(!parent.isDeleted)
            context.delete(children[1])
            #expect(parent.isDeleted)
            try context.save()
            #expect(try fetchAll(Probe.self, "Probe", store.context()).isEmpty)
        }
    }

    @Test func prepareForDeletionMayDoAnything() throws {
        let (store, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            let other = Probe(context: context)
            try context.save()
            probe.handlers["prepareForDeletion"] = { probe in
                #expect(probe.isDeleted && context.deletedObjects.isEmpty)
                context.delete(probe)
                context.delete(other)
                Probe(context: context).name = "grave"
            }
            context.delete(probe)
            #expect(probe.isDeleted && other.isDeleted)
            #expect(probe.calls.count { $0 == "prepareForDeletion" } == 1)
            try context.save()
            #expect(try fetchAll(Probe.self, "Probe", store.context()).map(\.name) == ["grave"])
        }
    }

    @Test(arguments: StoreKind.allCases) func deletedObjectsLeave(_ kind: StoreKind) throws {
        let (_, context) = try makeContext(kind)
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "last words"
            try context.save()
            let id = probe.objectID
            var inDidSave: (Bool, Bool)?
            probe.handlers["didSave"] = { inDidSave = ($0.isDeleted, $0.managedObjectContext != nil) }
            context.delete(probe)
            #expect(probe.isDeleted && probe.managedObjectContext === context && probe.name == "last words")
            context.processPendingChanges()
            #expect(probe.isDeleted && probe.managedObjectContext === context)
            try context.save()
            #expect(inDidSave?.0 == true && inDidSave?.1 == true)
            #expect(!probe.isDeleted && !probe.hasChanges && probe.managedObjectContext == nil)
            #expect(probe.objectID == id && context.registeredObject(for: id) == nil)
            #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
            // Never saved: it leaves with the next save, without a word.
            let brief = Probe(context: context)
            context.delete(brief)
            #expect(!context.hasChanges && context.deletedObjects.isEmpty && context.insertedObjects.isEmpty)
            try context.save()
            #expect(brief.managedObjectContext == nil && !brief.isDeleted && !brief.isInserted)
            #expect(brief.calls == ["awakeFromInsert", "prepareForDeletion"])
        }
    }

    @Test func failedSaveCallsNoDidSave() throws {
        let (_, context) = try makeContext(.memory)
        try context.performAndWait {
            let probe = Probe(context: context)
            probe.handlers["validateForInsert"] = { _ in throw CocoaError(.validationMissingMandatoryProperty) }
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(probe.takeCalls() == ["awakeFromInsert", "willSave", "validateForInsert"])
            #expect(probe.isInserted)
            probe.handlers = [:]
            try context.save()
            #expect(probe.takeCalls() == ["willSave", "validateForInsert", "didSave"])
        }
    }
}
