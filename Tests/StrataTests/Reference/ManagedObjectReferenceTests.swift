import CoreData
import Foundation
import Testing

/// What Core Data's reference says of `NSManagedObject`, where no other suite says it.
@Suite struct ManagedObjectReferenceTests {
    /// A saved probe with a parent, three items and one peer, and another context that has nothing of it.
    private func saved(_ kind: StoreKind) throws -> (TestStore, Probe, NSManagedObjectContext) {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let probe = try context.performAndWait {
            let probe = Probe(context: context)
            probe.name = "probe"
            probe.parent = Probe(context: context)
            probe.items = ["c", "a", "b"].map { name in
                let item = Probe(context: context)
                item.name = name
                return item
            }
            probe.peers = [probe.items[0]]
            try context.save()
            return probe
        }
        return (store, probe, store.context())
    }

    @Test(arguments: StoreKind.allCases) func idsOfRelatedObjectsMakeNoObjects(_ kind: StoreKind) throws {
        let (store, probe, other) = try saved(kind)
        let expected = store.withContext(of: probe) { (probe.items.map(\.objectID), probe.peers.map(\.objectID)) }
        try other.check { () throws in
            let same = try #require(other.object(with: probe.objectID) as? Probe)
            #expect(same.faultingState != 0 && same.hasFault(forRelationshipNamed: "items"))
            #expect(same.objectIDs(forRelationshipNamed: "items") == expected.0)
            #expect(same.objectIDs(forRelationshipNamed: "peers") == expected.1)
            #expect(same.objectIDs(forRelationshipNamed: "parent").count == 1)
            #expect(other.registeredObjects.allSatisfy { $0 === same || $0.isFault })
            same.items.removeFirst()
            #expect(same.objectIDs(forRelationshipNamed: "items") == Array(expected.0.dropFirst()))
            _ = same.name
            #expect(same.faultingState == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func nullIsNSNullInDictionaries(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        try store.withContext(of: probe) {
            probe.name = nil
            probe.parent = nil
            #expect(probe.changedValues()["name"] is NSNull && probe.changedValues()["parent"] is NSNull)
            #expect(probe.committedValues(forKeys: ["name"])["name"] as? String == "probe")
            try probe.managedObjectContext?.save()
            #expect(probe.committedValues(forKeys: ["name", "parent"]).values.allSatisfy { $0 is NSNull })
            #expect(probe.dictionaryWithValues(forKeys: ["name"])["name"] is NSNull)
            #expect(probe.changedValues().isEmpty)
            probe.note = "transient"
            #expect(probe.hasChanges && !probe.hasPersistentChangedValues)
            #expect(probe.changedValues().isEmpty && probe.changedValuesForCurrentEvent().isEmpty)
            #expect(probe.committedValues(forKeys: nil)["note"] == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func anObjectMayBeMadeBeforeItIsInserted(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.check { () throws in
            let entity = try #require(store.model.entitiesByName["Probe"])
            let probe = Probe(entity: entity, insertInto: nil)
            #expect(probe.managedObjectContext == nil && !probe.isInserted && !probe.hasChanges && !probe.isFault)
            #expect(probe.takeCalls() == [] && probe.count == 3 && probe.objectID.isTemporaryID)
            probe.name = "early"
            context.insert(probe)
            #expect(probe.managedObjectContext === context && probe.isInserted)
            #expect(probe.takeCalls() == ["awakeFromInsert"])
            context.insert(probe)
            #expect(probe.takeCalls() == [])
            try context.save()
            context.refresh(probe, mergeChanges: false)
            #expect(probe.name == "early")
        }
    }

    @Test(arguments: StoreKind.allCases) func whatDidSaveChangesIsUnsaved(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        try store.withContext(of: probe) {
            let context = try #require(probe.managedObjectContext)
            probe.handlers["didSave"] = { $0.count = 9 }
            probe.name = "changed"
            try context.save()
            probe.handlers = [:]
            #expect(context.hasChanges && probe.isUpdated && probe.count == 9)
            try context.save()
            #expect(!context.hasChanges)
            context.refresh(probe, mergeChanges: false)
            #expect(probe.count == 9)
        }
    }

    /// "You can find out if an object is marked for deletion with `isDeleted`" in both.
    @Test(arguments: StoreKind.allCases) func deletionIsKnownInWillSaveAndDidSave(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        try store.withContext(of: probe) {
            let context = try #require(probe.managedObjectContext)
            nonisolated(unsafe) var states: [Bool] = []
            probe.handlers["willSave"] = { states.append($0.isDeleted) }
            probe.handlers["didSave"] = { states.append($0.isDeleted) }
            context.delete(probe)
            try context.save()
            #expect(states == [true, true])
            #expect(!probe.isDeleted && probe.managedObjectContext == nil && !probe.objectID.isTemporaryID)
        }
    }

    @Test(arguments: StoreKind.allCases) func valuesAreThereWhenAFaultIsAboutToBeMade(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        store.withContext(of: probe) {
            nonisolated(unsafe) var seen: [String] = []
            probe.note = "transient"
            probe.handlers["willTurnIntoFault"] = { seen.append("\($0.isFault) \($0.name ?? "-") \($0.note ?? "-")") }
            probe.handlers["didTurnIntoFault"] = { seen.append("\($0.isFault)") }
            probe.managedObjectContext?.refresh(probe, mergeChanges: false)
            #expect(seen == ["false probe transient", "true"])
            probe.handlers = [:]
            #expect(!probe.hasChanges && probe.note == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func awakeningSaysWhy(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        try store.withContext(of: probe) {
            let context = try #require(probe.managedObjectContext)
            probe.name = "changed"
            _ = probe.takeCalls()
            context.refresh(probe, mergeChanges: true)
            #expect(probe.takeCalls() == ["refresh"] && probe.name == "changed")
            context.rollback()
            #expect(probe.takeCalls() == ["rollback"] && probe.name == "probe")
            context.refresh(probe, mergeChanges: false)
            #expect(probe.takeCalls() == ["willTurnIntoFault", "didTurnIntoFault"])
            probe.willAccessValue(forKey: nil)
            #expect(!probe.isFault && probe.takeCalls() == ["awakeFromFetch"])
        }
    }

    @Test(arguments: StoreKind.allCases) func keyValueCodingTakesWholeDictionaries(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        store.withContext(of: probe) {
            probe.setValuesForKeys(["name": NSNull(), "count": 5])
            #expect(probe.name == nil && probe.count == 5)
            #expect(probe.value(forKeyPath: "parent.count") as? Int == 3)
            #expect(probe.value(forKeyPath: "items.name") as? NSOrderedSet == NSOrderedSet(array: ["c", "a", "b"]))
            probe.setValue(NSSet(), forKey: "peers")
            #expect(probe.peers.isEmpty)
            probe.setValue(nil, forKey: "items")
            #expect(probe.items.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func relationshipsInDictionariesAreSets(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        try store.withContext(of: probe) { () throws in
            let (items, peer) = (probe.items, try #require(probe.peers.first))
            probe.peers = [items[1]]
            probe.items = [items[1], items[0]]
            #expect(probe.changedValues()["peers"] as? Set<Probe> == [items[1]])
            #expect(probe.changedValues()["items"] as? NSOrderedSet == NSOrderedSet(array: [items[1], items[0]]))
            #expect(probe.committedValues(forKeys: ["peers"])["peers"] as? Set<Probe> == [peer])
            #expect(probe.committedValues(forKeys: ["items"])["items"] as? NSOrderedSet == NSOrderedSet(array: items))
            #expect(Set(probe.changedValues().keys) == ["peers", "items"])
        }
    }

    /// Transient values were gone after each merge.
    @Test(arguments: StoreKind.allCases, ["notification", "ids", "by itself", "fetch"])
    func mergesKeepTransientValues(_ kind: StoreKind, by way: String) throws {
        let (store, probe, other) = try saved(kind)
        let context = try #require(probe.managedObjectContext)
        let saved = SaveRecorder(.NSManagedObjectContextDidSave, other)
        context.performAndWait {
            context.automaticallyMergesChangesFromParent = way == "by itself"
            probe.note = "transient"
        }
        try other.check { () throws in
            (try other.existingObject(with: probe.objectID) as? Probe)?.name = "theirs"
            try other.save()
        }
        try context.check { () throws in
            switch way {
            case "notification":
                context.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, object: other, userInfo: saved.infos.last))
            case "ids":
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSUpdatedObjectsKey: [probe.objectID]], into: [context])
            case "fetch":
                let request = NSFetchRequest<Probe>(entityName: "Probe")
                request.shouldRefreshRefetchedObjects = true
                _ = try context.fetch(request)
            default: break
            }
            #expect(probe.name == "theirs" && probe.note == "transient")
        }
        withExtendedLifetime(store) {}
    }

    /// Before setters, but only when the new values can be read after what a merge brings.
    @Test(arguments: StoreKind.allCases) func publishersSendAfterMerges(_ kind: StoreKind) throws {
        let (store, probe, other) = try saved(kind)
        let context = try #require(probe.managedObjectContext)
        let saved = SaveRecorder(.NSManagedObjectContextDidSave, other)
        try other.check { () throws in
            (try other.existingObject(with: probe.objectID) as? Probe)?.name = "theirs"
            try other.save()
        }
        try context.check { () throws in
            nonisolated(unsafe) var names: [String?] = []
            nonisolated(unsafe) let watched = probe
            let subscription = probe.objectWillChange.sink { names.append(watched.name) }
            probe.count = 4
            context.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, object: other, userInfo: saved.infos.last))
            #expect(names == ["probe", "theirs"] && probe.count == 4)
            subscription.cancel()
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func idsAreURIs(_ kind: StoreKind) throws {
        let (store, probe, _) = try saved(kind)
        try store.withContext(of: probe) { () throws in
            let context = try #require(probe.managedObjectContext)
            let (id, new) = (probe.objectID, Probe(context: context).objectID)
            #expect(id.uriRepresentation().scheme == "x-coredata" && !id.isTemporaryID)
            #expect(id.uriRepresentation().host == store.store.identifier && id.persistentStore === store.store)
            #expect(id.entity.name == "Probe" && id.uriRepresentation().pathComponents[1] == "Probe")
            #expect(new.isTemporaryID && new.persistentStore == nil && new.entity === id.entity)
            #expect(new.uriRepresentation().host ?? "" == "")
        }
    }

    @Test func defaultsOfTheClass() {
        #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
    }
}

extension TestStore {
    /// Runs a block on the queue of an object's context.
    func withContext<R>(of object: NSManagedObject, _ body: () throws -> R) rethrows -> R {
        guard let context = object.managedObjectContext else { preconditionFailure("an object without context") }
        return try context.performAndWait(body)
    }
}
