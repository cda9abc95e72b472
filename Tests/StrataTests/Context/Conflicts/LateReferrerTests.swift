import CoreData
import Dispatch
import StrataTestKit
import Testing

/// A context deletes an object to which another one has saved a reference meanwhile.
///
/// The deletion went through under every merge policy. The reference led to a row that was gone, and no delete rule
/// reached the object that had it.
@Suite struct LateReferrerTests {
    /// What is deleted, and what refers to it.
    enum Shape: String, CaseIterable, Sendable {
        case set, ordered, ofASubentity, many

        fileprivate var isOrdered: Bool { self == .ordered }
        fileprivate var isLinked: Bool { self == .many }
    }

    private final class World {
        let store: TestStore
        let here: NSManagedObjectContext
        let there: NSManagedObjectContext
        let parent: NSManagedObject
        let child: NSManagedObject
        let shape: Shape

        init(_ kind: StoreKind, _ shape: Shape, _ rule: NSDeleteRule, _ policy: NSMergePolicy) throws {
            self.shape = shape
            store = try TestStore(kind, Self.model(shape, rule))
            (here, there) = (store.context(), store.context())
            here.mergePolicy = policy
            let context = here
            (parent, child) = try context.performAndWait {
                let parent = insert(shape == .ofASubentity ? "Ward" : "Parent", context)
                let child = insert("Child", context).set(["code": "c"])
                insert("Toy", context).setValue(child, forKey: "owner")
                try context.save()
                return (parent, child)
            }
        }

        /// Another context makes the child one of the parent's.
        func adoptElsewhere() throws {
            try there.performAndWait {
                let (parent, child) = (there.object(with: parent.objectID), there.object(with: child.objectID))
                if shape.isLinked {
                    child.mutableSetValue(forKey: "parents").add(parent)
                } else {
                    child.setValue(parent, forKey: "parent")
                }
                try there.save()
            }
        }

        /// How many there are of each entity, and how many of the children have a parent.
        func counts() throws -> [Int] {
            let fresh = store.context()
            return try fresh.performAndWait {
                let children = try fetchAll(NSManagedObject.self, "Child", fresh)
                let key = shape.isLinked ? "parents" : "parent"
                let parents = children.flatMap { $0.objectIDs(forRelationshipNamed: key) }
                for id in parents { #expect(throws: Never.self) { try fresh.existingObject(with: id) } }
                return [
                    try fetchAll(NSManagedObject.self, "Parent", fresh).count, children.count,
                    try fetchAll(NSManagedObject.self, "Toy", fresh).count, parents.count,
                ]
            }
        }

        private static func model(_ shape: Shape, _ rule: NSDeleteRule) -> NSManagedObjectModel {
            let (parent, ward) = (GraphModel.entity("Parent"), GraphModel.entity("Ward"))
            let (child, toy) = (GraphModel.entity("Child"), GraphModel.entity("Toy"))
            let children = GraphModel.relationship(
                "children", to: child, toMany: true, rule: rule, ordered: shape.isOrdered)
            let parentOf = GraphModel.relationship(
                shape.isLinked ? "parents" : "parent", to: parent, toMany: shape.isLinked)
            GraphModel.link(children, parentOf)
            let toys = GraphModel.relationship("toys", to: toy, toMany: true, rule: .cascadeDeleteRule)
            let owner = GraphModel.relationship("owner", to: child)
            GraphModel.link(toys, owner)
            parent.properties = [GraphModel.attribute("code", .stringAttributeType), children]
            parent.subentities = [ward]
            child.properties = [GraphModel.attribute("code", .stringAttributeType), parentOf, toys]
            toy.properties = [owner]
            let model = NSManagedObjectModel()
            model.entities = [parent, ward, child, toy]
            return model
        }
    }

    private static let rules: [NSDeleteRule] = [.nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule]
    private static let shapes: [Shape] = [.set, .ordered, .ofASubentity]

    @Test(arguments: StoreKind.allCases, shapes)
    func isAConflict(_ kind: StoreKind, _ shape: Shape) throws {
        for rule in Self.rules {
            let world = try World(kind, shape, rule, .error)
            try world.here.performAndWait {
                #expect(world.parent.objectIDs(forRelationshipNamed: "children").isEmpty)
                _ = world.parent.value(forKey: "children")
                try world.adoptElsewhere()
                world.here.delete(world.parent)
                let error = saveError(world.here)
                #expect(error?.code == .managedObjectMerge)
                #expect(error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [world.parent])
            }
            #expect(try world.counts() == [1, 1, 1, 1])
        }
    }

    @Test(arguments: StoreKind.allCases, shapes)
    func theRulesReachThem(_ kind: StoreKind, _ shape: Shape) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            for (rule, left) in [
                (NSDeleteRule.nullifyDeleteRule, [0, 1, 1, 0]), (.cascadeDeleteRule, [0, 0, 0, 0]),
            ] {
                for isRead in [false, true] {
                    let world = try World(kind, shape, rule, policy)
                    try world.here.performAndWait {
                        _ = world.parent.value(forKey: "children")
                        if !isRead { world.here.refresh(world.child, mergeChanges: false) }
                        try world.adoptElsewhere()
                        world.here.delete(world.parent)
                        try world.here.save()
                        #expect(!world.here.hasChanges)
                        if rule == .nullifyDeleteRule { #expect(world.child.value(forKey: "parent") == nil) }
                    }
                    #expect(try world.counts() == left)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, shapes)
    func deniesWhatTheyDeny(_ kind: StoreKind, _ shape: Shape) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let world = try World(kind, shape, .denyDeleteRule, policy)
            try world.here.performAndWait {
                _ = world.parent.value(forKey: "children")
                try world.adoptElsewhere()
                world.here.delete(world.parent)
                #expect(saveError(world.here)?.code == .validationRelationshipDeniedDelete)
                world.here.rollback()
            }
            #expect(try world.counts() == [1, 1, 1, 1])
        }
    }

    @Test(arguments: StoreKind.allCases, shapes)
    func theStoreMayKeepWhatWasDeleted(_ kind: StoreKind, _ shape: Shape) throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let world = try World(kind, shape, .nullifyDeleteRule, policy)
            try world.here.performAndWait {
                _ = world.parent.value(forKey: "children")
                try world.adoptElsewhere()
                world.here.delete(world.parent)
                try world.here.save()
                #expect(!world.parent.isDeleted && !world.here.hasChanges)
                world.here.refreshAllObjects()
                #expect(world.child.value(forKey: "parent") as? NSManagedObject === world.parent)
            }
            #expect(try world.counts() == [1, 1, 1, 1])
        }
    }

    /// Links to what is deleted go with it. What the rules say of those that they led to was not asked.
    @Test(arguments: StoreKind.allCases) func linksAreFollowed(_ kind: StoreKind) throws {
        for rule in Self.rules {
            let world = try World(kind, .many, rule, .mergeByPropertyObjectTrump)
            try world.here.performAndWait {
                _ = world.parent.value(forKey: "children")
                try world.adoptElsewhere()
                world.here.delete(world.parent)
                if rule == .denyDeleteRule {
                    #expect(saveError(world.here)?.code == .validationRelationshipDeniedDelete)
                } else {
                    try world.here.save()
                }
            }
            let left =
                switch rule {
                case .denyDeleteRule: [1, 1, 1, 1]
                case .cascadeDeleteRule: [0, 0, 0, 0]
                default: [0, 1, 1, 0]
                }
            #expect(try world.counts() == left)
        }
    }

    /// The object itself was read anew, and what refers to it was not.
    @Test(arguments: StoreKind.allCases) func whatIsReadFreshAgainstWhatIsStale(_ kind: StoreKind) throws {
        let world = try World(kind, .set, .nullifyDeleteRule, .mergeByPropertyObjectTrump)
        try world.here.performAndWait {
            #expect(world.child.value(forKey: "parent") == nil)
            try world.adoptElsewhere()
            world.here.refresh(world.parent, mergeChanges: false)
            #expect((world.parent.value(forKey: "children") as? Set<NSManagedObject>)?.count == 1)
            world.here.delete(world.parent)
            try world.here.save()
        }
        #expect(try world.counts() == [0, 1, 1, 0])
    }

    @Test(arguments: StoreKind.allCases) func aChildsDeletion(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.error, .overwrite] {
            let world = try World(kind, .set, .nullifyDeleteRule, policy)
            world.here.performAndWait { _ = world.parent.value(forKey: "children") }
            let part = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            part.parent = world.here
            try part.performAndWait {
                let parent = part.object(with: world.parent.objectID)
                _ = parent.value(forKey: "children")
                try world.adoptElsewhere()
                part.delete(parent)
                try part.save()
            }
            try world.here.performAndWait {
                if policy === NSMergePolicy.error {
                    #expect(saveError(world.here)?.code == .managedObjectMerge)
                } else {
                    try world.here.save()
                }
            }
            #expect(try world.counts() == (policy === NSMergePolicy.error ? [1, 1, 1, 1] : [0, 1, 1, 0]))
        }
    }

    /// A context that shows an earlier state does not see who has come since, but must not leave them behind.
    @Test(arguments: StoreKind.allCases) func aPinnedContextsDeletion(_ kind: StoreKind) throws {
        let world = try World(kind, .set, .cascadeDeleteRule, .overwrite)
        try world.here.performAndWait {
            try world.here.setQueryGenerationFrom(.current)
            _ = world.parent.value(forKey: "children")
            try world.there.performAndWait {
                let late = insert("Child", world.there)
                late.setValue(world.there.object(with: world.parent.objectID), forKey: "parent")
                insert("Toy", world.there).setValue(late, forKey: "owner")
                try world.there.save()
            }
            world.here.delete(world.parent)
            try world.here.save()
        }
        #expect(try world.counts() == [0, 1, 1, 0])
    }

    /// A batch delete has found what follows from it when somebody else saves a reference.
    @Test(arguments: StoreKind.allCases, [Shape.set, .many]) func aBatchesDeletion(
        _ kind: StoreKind, _ shape: Shape
    ) throws {
        for rule in [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule] {
            let world = try World(kind, shape, rule, .error)
            let calls = LockedBox(0)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Parent")
            request.predicate = NSPredicate { [world] _, _ in
                calls.change { $0 += 1 }
                do {
                    switch calls.value {
                    case 1:
                        // From now on the request looks at the predicate again when it builds its transaction.
                        try world.there.performAndWait {
                            world.there.object(with: world.child.objectID).setValue("new", forKey: "code")
                            try world.there.save()
                        }
                    case 2: try world.adoptElsewhere()
                    default: break
                    }
                } catch {
                    Issue.record(error)
                }
                return true
            }
            let context = world.store.context()
            try context.performAndWait { _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request)) }
            #expect(calls.value >= 2)
            #expect(try world.counts() == (rule == .nullifyDeleteRule ? [0, 1, 1, 0] : [0, 0, 0, 0]))
        }
    }

    /// The context knew that the object was gone. The reference that it was given after that was stored all the same.
    @Test(arguments: StoreKind.allCases, resolvingPolicies)
    func nothingRefersToWhatWasFoundToBeGone(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
        let store = try TestStore(kind, ConflictModel.make())
        let (context, rival) = (store.context(), store.context())
        let (owner, part) = try rival.performAndWait {
            let (owner, part) = (item(rival, ["code": "a"]), insert("Part", rival))
            try rival.save()
            return (owner, part)
        }
        context.mergePolicy = NSMergePolicy(merge: type)
        try context.performAndWait {
            let (gone, late) = (context.object(with: owner.objectID), context.object(with: part.objectID))
            try rival.performAndWait {
                rival.delete(owner)
                try rival.save()
            }
            #expect(gone.text("code") == nil && gone.isDeleted)
            _ = late.set(["owner": gone, "text": "late"])
            try context.save()
            #expect(late.value(forKey: "owner") == nil)
            let found = try stored("Part", store, sort: "text")
            #expect(found.map { $0.text("text") } == ["late"] && found.first?.value(forKey: "owner") == nil)
        }
    }

    /// Deletions race with references for real.
    @Test(arguments: StoreKind.allCases) func manyAtOnce(_ kind: StoreKind) throws {
        let world = try World(kind, .set, .nullifyDeleteRule, .overwrite)
        for _ in 0..<8 {
            let ids = try world.here.performAndWait {
                let parents = (0..<4).map { _ in insert("Parent", world.here) }
                let children = (0..<4).map { _ in insert("Child", world.here) }
                try world.here.save()
                return (parents.map(\.objectID), children.map(\.objectID))
            }
            let coordinator = world.store.coordinator
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                context.performAndWait {
                    if index % 2 == 0 {
                        for id in ids.0[(index)...(index + 1)] { context.delete(context.object(with: id)) }
                    } else {
                        for (id, parent) in zip(ids.1, ids.0) {
                            context.object(with: id).setValue(context.object(with: parent), forKey: "parent")
                        }
                    }
                    #expect(throws: Never.self) { try context.save() }
                }
            }
            #expect(try world.counts()[3] == 0)
        }
    }
}
