import CoreData
import Dispatch
import Foundation
import StrataLog
import Testing

@testable import Strata

/// Another context gives the row that is in the way another value, once the save has been refused and before its
/// conflict is resolved: nothing is in the way any more. What was saved was merged into that row, took its value back,
/// or deleted it.
@Suite struct RenamedRivalTests {
    /// How the merge policy is called while the rival's row changes.
    enum Way: CaseIterable, Sendable {
        case beforeAllConflicts, beforeConstraintConflicts
    }

    /// Lets somebody save before the conflicts are resolved.
    private final class PausingPolicy: NSMergePolicy, @unchecked Sendable {
        // Unchecked: set before the policy is used, and called by one save.
        var way = Way.beforeAllConflicts
        var pause: (() throws -> Void)?
        private(set) var calls = 0

        private func stop() throws {
            let pause = pause
            self.pause = nil
            calls += 1
            try pause?()
        }

        override func resolve(mergeConflicts list: [Any]) throws {
            if way == .beforeAllConflicts { try stop() }
            try super.resolve(mergeConflicts: list)
        }

        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            if way == .beforeConstraintConflicts { try stop() }
            try super.resolve(constraintConflicts: list)
        }
    }

    /// A store, and the context of somebody else who has saved the row that is in the way.
    private final class Scene {
        let store: TestStore
        let other: NSManagedObjectContext
        private let second: NSPersistentStoreCoordinator?
        let rival: NSManagedObject
        let id: NSManagedObjectID

        init(_ kind: StoreKind, _ values: [String: Any?] = ["code": "a", "name": "stored"]) throws {
            store = try TestStore(kind, ConflictModel.make())
            var second: NSPersistentStoreCoordinator?
            var other = store.context()
            // Another coordinator's, but a store in memory is its coordinator's alone.
            if kind == .log {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: store.model)
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: store.url,
                    options: [StrataDurabilityOption: "os"])
                other = NSManagedObjectContext(.privateQueue)
                other.persistentStoreCoordinator = coordinator
                second = coordinator
            }
            (self.second, self.other) = (second, other)
            let context = other
            self.rival = try context.performAndWait {
                let object = item(context, values)
                try context.save()
                return object
            }
            id = self.rival.objectID
        }

        deinit {
            for store in second?.persistentStores ?? [] { try? second?.remove(store) }
        }

        func change(_ values: [String: Any?]) throws {
            try other.performAndWait {
                _ = rival.set(values)
                try other.save()
            }
        }

        /// A context with a merge policy during which the rival gets other values.
        func context(
            _ type: NSMergePolicyType, _ way: Way = .beforeAllConflicts,
            changing values: [String: Any?] = ["code": "b", "name": "renamed"]
        ) -> NSManagedObjectContext {
            let policy = PausingPolicy(merge: type)
            policy.way = way
            policy.pause = { [unowned self] in try change(values) }
            let context = store.context()
            context.mergePolicy = policy
            return context
        }

        func items() throws -> [String] {
            let context = store.context()
            return try context.performAndWait {
                try fetchAll(NSManagedObject.self, "Item", context, sort: "code")
                    .map { "\($0.text("code") ?? "-") \($0.text("name") ?? "-")" }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func whatIsInsertedIsAnObjectOfItsOwn(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        for way in Way.allCases {
            for isKnown in [false, true] {
                let scene = try Scene(kind)
                let context = scene.context(type, way)
                try context.performAndWait {
                    let known = isKnown ? context.object(with: scene.id) : nil
                    #expect(known?.text("code") == (isKnown ? "a" : nil))
                    let new = item(context, ["code": "a", "name": "new"])
                    try context.save()
                    #expect(new.managedObjectContext === context && !new.isDeleted && new.objectID != scene.id)
                    #expect(!context.hasChanges)
                    #expect(new.text("code") == "a" && new.text("name") == "new")
                    if let known { context.refresh(known, mergeChanges: false) }
                    #expect(context.object(with: scene.id).text("code") == "b")
                }
                #expect(try scene.items() == ["a new", "b renamed"], "\(way) known: \(isKnown)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func whatIsUpdatedKeepsItsValue(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        for way in Way.allCases {
            let scene = try Scene(kind)
            let context = scene.context(type, way)
            try context.performAndWait {
                let own = item(context, ["code": "c", "name": "own"])
                try context.save()
                own.setValue("a", forKey: "code")
                try context.save()
                #expect(own.text("code") == "a" && !own.hasChanges)
            }
            #expect(try scene.items() == ["a own", "b renamed"], "\(way)")
        }
    }

    /// A value that is given up is as free as one that is changed; one that is only written again is not.
    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func onlyTheValueCounts(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        for (values, isFree) in [(["code": nil, "name": "renamed"], true), (["name": "renamed"], false)] {
            let scene = try Scene(kind)
            let context = scene.context(type, changing: values)
            try context.performAndWait {
                _ = item(context, ["code": "a", "count": 7])
                try context.save()
            }
            #expect(try scene.items().count == (isFree ? 2 : 1))
        }
    }

    /// Somebody else takes the value before the save gets another turn: that is the next conflict.
    @Test(arguments: StoreKind.allCases) func theNextHolderIsTheNextConflict(_ kind: StoreKind) throws {
        let scene = try Scene(kind)
        let context = scene.store.context()
        let policy = PausingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        policy.pause = {
            try scene.other.performAndWait {
                _ = scene.rival.set(["code": "b"])
                _ = item(scene.other, ["code": "a", "name": "third", "count": 9])
                try scene.other.save()
            }
        }
        context.mergePolicy = policy
        try context.performAndWait {
            _ = item(context, ["code": "a", "name": "new"])
            try context.save()
            let third = try fetchAll(NSManagedObject.self, "Item", context, NSPredicate(format: "code == 'a'"))
            #expect(third.map { $0.number("count") } == [9])
        }
        #expect(policy.calls == 2)
        #expect(try scene.items() == ["a new", "b stored"])
    }

    /// Values of a constraint over two properties, one of which changes, and a save of two objects with the same ones.
    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func allPropertiesOfAConstraintCount(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let (context, other) = (store.context(), store.context())
        let date = Date(timeIntervalSinceReferenceDate: 7)
        let policy = PausingPolicy(merge: type)
        try other.performAndWait {
            let rival = insert("Pair", other).set(["left": 1, "right": date, "text": "stored"])
            try other.save()
            policy.pause = {
                try other.performAndWait {
                    rival.setValue(date.addingTimeInterval(1), forKey: "right")
                    try other.save()
                }
            }
        }
        context.mergePolicy = policy
        try context.performAndWait {
            for text in ["first", "second"] {
                _ = insert("Pair", context).set(["left": 1, "right": date, "text": text])
            }
            try context.save()
        }
        try other.performAndWait {
            let pairs = try fetchAll(NSManagedObject.self, "Pair", other, sort: "right")
            #expect(pairs.count == 2 && pairs.last?.text("text") == "stored")
        }
    }

    /// A batch takes a row that is in the way as one to be updated, which another context renames meanwhile.
    @Test func aBatchUpdatesOnlyWhatHasTheValue() throws {
        let store = try TestStore(.log, ConflictModel.make())
        let (context, other) = (store.context(), store.context())
        context.performAndWait { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        other.performAndWait { other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        for round in 0..<100 {
            let id = try other.performAndWait {
                let rival = item(other, ["code": "code \(round)", "name": "stored"])
                try other.save()
                return rival.objectID
            }
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                let side = side == 0 ? context : other
                side.performAndWait {
                    #expect(throws: Never.self) {
                        if side === other {
                            side.object(with: id).setValue("renamed \(round)", forKey: "code")
                            try side.save()
                        } else {
                            let objects = [["code": "code \(round)", "name": "new"]]
                            _ = try side.execute(NSBatchInsertRequest(entityName: "Item", objects: objects))
                        }
                    }
                }
            }
            try other.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "code == %@", "renamed \(round)")
                let count = try other.count(for: request)
                #expect(count == 1, "round \(round)")
            }
        }
    }

    /// Between the refusal and the look at the store nothing of the program's own runs, but other threads do.
    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func theStoreIsComparedWithWhatWasRefused(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        let scene = try Scene(kind)
        let context = scene.store.context()
        context.mergePolicy = NSMergePolicy(merge: type)
        try context.performAndWait {
            let new = item(context, ["code": "a", "name": "new"])
            context.processPendingChanges()
            let pipeline = context.pipeline
            try pipeline.makeEndings(scene.store.coordinator)
            let made = try #require(pipeline.stores.first)
            let ending = OvertakenEnding(context, made.handle, made.storeIndex)
            ending.changes = made.changes
            ending.overtake = { try scene.change(["code": "b", "name": "renamed"]) }
            pipeline.stores = [ending]
            defer { pipeline.stores = [] }
            // Outside of a save nothing is tried again.
            #expect(throws: (any Error).self) { try ending.write() }
            #expect(ending.overtake == nil)
            #expect(new.isInserted && new.objectID.isTemporaryID && new.text("name") == "new")
        }
        #expect(try scene.items() == ["b renamed"])
    }
}

/// Lets somebody save as soon as its commit has been refused.
private final class OvertakenEnding: StoreEnding {
    var overtake: (() throws -> Void)?

    override func commit(_ transaction: WriteTransaction, _ control: RequestControl?) throws -> CommitReceipt? {
        do {
            return try super.commit(transaction, control)
        } catch {
            try overtake?()
            overtake = nil
            throw error
        }
    }
}
