import CoreData
import Dispatch
import Foundation
import Synchronization
import Testing

/// Sums the counts of both sides: what a program that knows its data does.
private final class SummingPolicy: NSMergePolicy, @unchecked Sendable {
    private(set) var calls: [String] = []

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(mergeConflicts list: [Any]) throws {
        calls.append("all \(list.count)")
        try super.resolve(mergeConflicts: list)
    }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        calls.append("locking \(list.count)")
        var sums: [(NSManagedObject, Int)] = []
        for conflict in list {
            let before = conflict.objectSnapshot?["count"] as? Int ?? 0
            let theirs = conflict.cachedSnapshot?["count"] as? Int ?? 0
            let mine = conflict.sourceObject.number("count") ?? 0
            sums.append((conflict.sourceObject, theirs + mine - before))
        }
        try super.resolve(optimisticLockingConflicts: list)
        for (object, sum) in sums { object.setValue(sum, forKey: "count") }
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        calls.append("constraints \(list.count)")
        try super.resolve(constraintConflicts: list)
    }
}

/// Leaves everything as the context has it.
private final class IgnoringPolicy: NSMergePolicy, @unchecked Sendable {
    init() { super.init(merge: .errorMergePolicyType) }

    override func resolve(mergeConflicts list: [Any]) throws {}
}

/// Resolves conflicts, but each time somebody else has saved the same object before the save is tried again.
private final class OvertakenPolicy: NSMergePolicy, @unchecked Sendable {
    // Unchecked: used on one context's queue.
    private var left: Int
    private let overtake: () throws -> Void

    init(times: Int, _ overtake: @escaping () throws -> Void) {
        left = times
        self.overtake = overtake
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    override func resolve(mergeConflicts list: [Any]) throws {
        try super.resolve(mergeConflicts: list)
        if left == 0 { return }
        left -= 1
        try overtake()
    }
}

/// Resolves nothing, and says that it has.
private final class IdlePolicy: NSMergePolicy, @unchecked Sendable {
    // Unchecked: used on one context's queue.
    private(set) var calls = 0

    init() { super.init(merge: .errorMergePolicyType) }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws { calls += 1 }
}

@Suite struct MergePolicyTests {
    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// After 16 times it was error 133020.
    @Test(arguments: StoreKind.allCases) func aSaveThatOthersOvertakeAgainAndAgainGetsThrough(_ kind: StoreKind) throws
    {
        let store = try TestStore(kind, ConflictModel.make())
        let (first, second) = (store.context(), store.context())
        try first.performAndWait {
            let object = item(first, ["code": "a", "name": "start", "count": 1])
            try first.save()
            let theirs = second.object(with: object.objectID)
            var times = 0
            first.mergePolicy = OvertakenPolicy(times: 60) {
                times += 1
                try second.performAndWait {
                    second.refresh(theirs, mergeChanges: false)
                    theirs.setValue(times, forKey: "count")
                    try second.save()
                }
            }
            try second.performAndWait {
                theirs.setValue(0, forKey: "count")
                try second.save()
            }
            object.setValue("mine", forKey: "name")
            try first.save()
            #expect(times == 60 && object.value(forKey: "count") as? Int == 60)
            second.performAndWait {
                second.refresh(theirs, mergeChanges: false)
                #expect(
                    theirs.value(forKey: "name") as? String == "mine" && theirs.value(forKey: "count") as? Int == 60)
            }
        }
    }

    @Test func aPolicyThatResolvesNothingEndsTheSave() throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let context = store.context()
        let policy = IdlePolicy()
        context.mergePolicy = policy
        try context.performAndWait {
            _ = item(context, ["code": "a"])
            try context.save()
            context.reset()
            _ = item(context, ["code": "a"])
            #expect(throws: CocoaError.self) { try context.save() }
        }
        #expect(policy.calls > 1 && policy.calls <= 17)
    }

    /// Sixteen clients of one object, each with a context for each change, as a service has them.
    @Test(arguments: StoreKind.allCases) func manyClientsOfOneObjectGetThrough(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let maker = store.context()
        let id = try maker.performAndWait {
            let object = item(maker, ["code": "a", "count": 0])
            try maker.save()
            return object.objectID
        }
        let failures = Mutex<[String]>([])
        let coordinator = store.coordinator
        DispatchQueue.concurrentPerform(iterations: 16) { client in
            for round in 0..<20 {
                let context = Self.context(coordinator)
                context.performAndWait {
                    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    let object = context.object(with: id)
                    object.setValue("\(client) \(round)", forKey: "name")
                    do { try context.save() } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    /// A batch request of a store that others write all the time.
    @Test(arguments: StoreKind.allCases) func aBatchUpdateBesideWritersOfItsRowsGetsThrough(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let maker = store.context()
        let ids = try maker.performAndWait {
            let objects = (0..<200).map { item(maker, ["code": "\($0)", "count": 0]) }
            try maker.save()
            return objects.map(\.objectID)
        }
        let isOver = Mutex(false)
        let failures = Mutex<[String]>([])
        let coordinator = store.coordinator
        DispatchQueue.concurrentPerform(iterations: 4) { client in
            if client == 0 {
                defer { isOver.withLock { $0 = true } }
                let context = Self.context(coordinator)
                for round in 1...10 {
                    let request = NSBatchUpdateRequest(entityName: "Item")
                    request.propertiesToUpdate = ["count": round]
                    do {
                        try context.performAndWait { _ = try context.execute(request) }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
                return
            }
            var index = client
            while !isOver.withLock({ $0 }) {
                let context = Self.context(coordinator)
                index = (index * 7 + 1) % ids.count
                context.performAndWait {
                    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    context.object(with: ids[index]).setValue("\(client)", forKey: "name")
                    do { try context.save() } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    private func withConflict(
        _ kind: StoreKind = .memory, policy: NSMergePolicy, mine: [String: Any?], theirs: [String: Any?],
        _ body: (TestStore, NSManagedObject, NSManagedObjectContext) throws -> Void
    ) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        first.mergePolicy = policy
        try first.performAndWait {
            let object = item(first, ["code": "a", "name": "start", "count": 1])
            try first.save()
            _ = second.object(with: object.objectID).set(theirs)
            _ = object.set(mine)
            try second.save()
            try body(store, object, first)
        }
    }

    @Test(arguments: StoreKind.allCases) func theErrorSaysWhatIsInConflict(_ kind: StoreKind) throws {
        try withConflict(kind, policy: .error, mine: ["count": 2], theirs: ["name": "theirs"]) {
            store, object, context in
            let saves = NotificationRecorder(.NSManagedObjectContextDidSave, context, NSUpdatedObjectsKey)
            for _ in 0..<2 {
                let error = saveError(context)
                #expect(error?.code.rawValue == 133020 && error?.persistentStoreSaveConflicts?.count == 1)
                let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
                #expect(conflict.sourceObject === object)
                #expect(conflict.objectSnapshot?["name"] as? String == "start")
                #expect(conflict.objectSnapshot?["count"] as? Int == 1)
                #expect(conflict.cachedSnapshot?["name"] as? String == "theirs")
                #expect(conflict.persistedSnapshot == nil)
                #expect(conflict.newVersionNumber > conflict.oldVersionNumber && conflict.oldVersionNumber > 0)
                #expect(object.number("count") == 2 && object.text("name") == "start" && object.isUpdated)
            }
            #expect(saves.count == 0)
            context.refresh(object, mergeChanges: true)
            try context.save()
            #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["theirs"])
            #expect(saves.count == 1 && saves.objects == [object])
        }
    }

    @Test(arguments: StoreKind.allCases) func subclassesResolve(_ kind: StoreKind) throws {
        let policy = SummingPolicy()
        try withConflict(
            kind, policy: policy, mine: ["count": 4], theirs: ["count": 11, "name": "theirs"]
        ) { store, object, context in
            try context.save()
            #expect(policy.calls == ["all 1", "locking 1"])
            let all = try stored("Item", store, sort: "code")
            #expect(all.map { $0.number("count") } == [14] && all.map { $0.text("name") } == ["theirs"])
            #expect(object.number("count") == 14 && object.text("name") == "theirs" && !object.hasChanges)
            _ = item(store.context(), ["code": "b"])
            _ = item(context, ["code": "a"])
            try context.save()
            #expect(policy.calls.suffix(2) == ["all 1", "constraints 1"])
        }
    }

    @Test func aPolicyThatDoesNothingOverwrites() throws {
        try withConflict(
            policy: IgnoringPolicy(), mine: ["count": 4], theirs: ["count": 11, "name": "theirs"]
        ) { store, object, context in
            try context.save()
            let all = try stored("Item", store, sort: "code")
            #expect(all.map { $0.number("count") } == [4] && all.map { $0.text("name") } == ["start"])
            #expect(object.text("name") == "start")
        }
    }

    @Test(arguments: resolvingPolicies) func relationshipsAreMerged(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        first.mergePolicy = NSMergePolicy(merge: type)
        try first.performAndWait {
            let owners = (0..<3).map { item(first, ["code": "\($0)"]) }
            let part = insert("Part", first).set(["owner": owners[0], "text": "start"])
            try first.save()
            for owner in owners { _ = owner.members("parts") }
            let theirs = second.object(with: part.objectID)
            theirs.setValue(second.object(with: owners[1].objectID), forKey: "owner")
            try second.save()
            part.setValue(owners[2], forKey: "owner")
            try first.save()
            let wins = type == .overwriteMergePolicyType || type == .mergeByPropertyObjectTrumpMergePolicyType
            #expect(part.value(forKey: "owner") as? NSManagedObject === owners[wins ? 2 : 1])
            #expect(owners.map { $0.members("parts").count } == (wins ? [0, 0, 1] : [0, 1, 0]))
            let all = try stored("Item", store, sort: "code")
            #expect(all.map { $0.members("parts").count } == (wins ? [0, 0, 1] : [0, 1, 0]))
            #expect(!first.hasChanges)
        }
    }

    @Test(arguments: resolvingPolicies) func overwrittenRelationshipsReachBothSides(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        first.mergePolicy = NSMergePolicy(merge: type)
        try first.performAndWait {
            let owners = (0..<2).map { item(first, ["code": "\($0)"]) }
            let part = insert("Part", first).set(["owner": owners[0], "text": "start"])
            try first.save()
            second.object(with: part.objectID).setValue(second.object(with: owners[1].objectID), forKey: "owner")
            try second.save()
            // Only another property is changed here.
            part.setValue("mine", forKey: "text")
            try first.save()
            let expected = type == .overwriteMergePolicyType ? [1, 0] : [0, 1]
            #expect(try stored("Item", store, sort: "code").map { $0.members("parts").count } == expected)
            #expect(owners.map { $0.members("parts").count } == expected)
            let text = try stored("Part", store, sort: "text").first?.text("text")
            #expect(text == (type == .rollbackMergePolicyType ? "start" : "mine"))
        }
    }

    @Test(arguments: resolvingPolicies) func manyToManyChangesOfARolledBackObject(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        first.mergePolicy = NSMergePolicy(merge: type)
        try first.performAndWait {
            let mine = item(first, ["code": "a", "name": "start"])
            let labels = (0..<2).map { insert("Label", first).set(["text": "\($0)"]) }
            mine.setValue(Set([labels[0]]), forKey: "labels")
            try first.save()
            second.object(with: mine.objectID).setValue("theirs", forKey: "name")
            try second.save()
            _ = mine.set(["name": "mine", "labels": Set([labels[1]])])
            try first.save()
            let expected = type == .rollbackMergePolicyType ? [1, 0] : [0, 1]
            #expect(try stored("Label", store, sort: "text").map { $0.members("items").count } == expected)
            #expect(labels.map { $0.members("items").count } == expected && mine.members("labels").count == 1)
        }
    }

    @Test(arguments: resolvingPolicies) func updatedHereDeletedThere(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let mine = item(first, ["code": "a"])
            let part = insert("Part", first)
            try first.save()
            second.delete(second.object(with: mine.objectID))
            try second.save()
            mine.setValue("changed", forKey: "name")
            part.setValue(mine, forKey: "owner")
            let conflict = try #require(saveError(first)?.persistentStoreSaveConflicts?.first)
            #expect(conflict.newVersionNumber == 0 && conflict.cachedSnapshot == nil)
            first.mergePolicy = NSMergePolicy(merge: type)
            let deleted = NotificationRecorder(
                .NSManagedObjectContextObjectsDidChange, first, NSDeletedObjectsKey)
            try first.save()
            #expect(try stored("Item", store, sort: "code").isEmpty)
            #expect(mine.managedObjectContext == nil && deleted.objects == [mine] && !first.hasChanges)
        }
    }

    @Test(arguments: resolvingPolicies) func deletedHereUpdatedThere(_ type: NSMergePolicyType) throws {
        let store = try TestStore(.memory, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let mine = item(first, ["code": "a", "name": "start"])
            try first.save()
            second.object(with: mine.objectID).setValue("theirs", forKey: "name")
            try second.save()
            first.delete(mine)
            #expect(saveError(first)?.code.rawValue == 133020)
            #expect(mine.isDeleted)
            first.mergePolicy = NSMergePolicy(merge: type)
            try first.save()
            let names = try stored("Item", store, sort: "code").map { $0.text("name") }
            if type == .rollbackMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType {
                #expect(names == ["theirs"] && mine.text("name") == "theirs" && !mine.isDeleted)
            } else {
                #expect(names.isEmpty && mine.managedObjectContext == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func deletedOnBothSides(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let mine = item(first, ["code": "a"])
            try first.save()
            second.delete(second.object(with: mine.objectID))
            try second.save()
            first.delete(mine)
            #expect(saveError(first)?.code.rawValue == 133020)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
            #expect(!first.hasChanges && mine.managedObjectContext == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func detectConflictsForUnchangedObjects(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let watched = item(first, ["code": "a", "name": "start"])
            let other = item(first, ["code": "b"])
            try first.save()
            first.detectConflicts(for: watched)
            other.setValue("one", forKey: "name")
            try first.save()
            second.object(with: watched.objectID).setValue("theirs", forKey: "name")
            try second.save()
            other.setValue("two", forKey: "name")
            try first.save()
            first.detectConflicts(for: watched)
            other.setValue("three", forKey: "name")
            let conflict = try #require(saveError(first)?.persistentStoreSaveConflicts?.first)
            #expect(conflict.sourceObject === watched && conflict.cachedSnapshot?["name"] as? String == "theirs")
            first.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try first.save()
            #expect(watched.text("name") == "theirs")
            second.object(with: watched.objectID).setValue("again", forKey: "name")
            try second.save()
            first.mergePolicy = NSMergePolicy.error
            first.detectConflicts(for: watched)
            #expect(saveError(first)?.code.rawValue == 133020)
            other.setValue("four", forKey: "name")
            first.refresh(watched, mergeChanges: true)
            try first.save()
        }
    }

    @Test(arguments: StoreKind.allCases) func watchedObjectsMayBeDeletedElsewhere(_ kind: StoreKind) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let watched = item(first, ["code": "a"])
            let other = item(first, ["code": "b"])
            try first.save()
            first.detectConflicts(for: watched)
            second.delete(second.object(with: watched.objectID))
            try second.save()
            other.setValue("one", forKey: "name")
            #expect(saveError(first)?.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
            first.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try first.save()
            #expect(watched.managedObjectContext == nil && !other.hasChanges)
            first.mergePolicy = NSMergePolicy.error
            first.detectConflicts(for: other)
            first.rollback()
            second.object(with: other.objectID).setValue("two", forKey: "name")
            try second.save()
            _ = item(first, ["code": "c"])
            try first.save()
        }
    }

    @Test func threeWayMergesDifferentProperties() throws {
        try withConflict(
            policy: ThreeWayMergePolicy(), mine: ["count": 2], theirs: ["name": "theirs"]
        ) { store, object, context in
            try context.save()
            #expect(object.text("name") == "theirs" && object.number("count") == 2)
            #expect(try stored("Item", store, sort: "code").map { $0.text("name") } == ["theirs"])
        }
        try withConflict(
            policy: ThreeWayMergePolicy(), mine: ["count": 2, "name": "mine"], theirs: ["name": "theirs"]
        ) { _, object, context in
            #expect(saveError(context)?.code.rawValue == 133020)
            #expect(object.text("name") == "mine" && object.number("count") == 2)
            context.mergePolicy = ThreeWayMergePolicy(fallback: .mergeByPropertyStoreTrump)
            try context.save()
            #expect(object.text("name") == "theirs" && object.number("count") == 2)
        }
        // Both did the same, and one was set to what it was: no conflict.
        try withConflict(
            policy: ThreeWayMergePolicy(), mine: ["count": 2, "name": "start"], theirs: ["count": 2, "name": "theirs"]
        ) { _, object, context in
            try context.save()
            #expect(object.text("name") == "theirs" && object.number("count") == 2)
        }
    }

    @Test func globalsAreTheClassProperties() {
        let globals: [AnyObject] = [
            NSErrorMergePolicy, NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy,
            NSOverwriteMergePolicy, NSRollbackMergePolicy,
        ]
        let properties: [NSMergePolicy] = [
            .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ]
        #expect(globals.map { ObjectIdentifier($0) } == properties.map { ObjectIdentifier($0) })
        #expect(properties.map(\.mergeType.rawValue) == [0, 1, 2, 3, 4])
    }
}
