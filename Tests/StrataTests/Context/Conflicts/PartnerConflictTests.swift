import CoreData
import Testing

/// Contexts that do not know of each other's changes give objects other partners. Both ends of a one-to-one
/// relationship are stored, and could disagree: two objects claimed the same partner, or a partner that was gone.
@Suite struct PartnerConflictTests {
    private final class World {
        let store: TestStore
        let here: NSManagedObjectContext
        let there: NSManagedObjectContext
        /// By their codes: the left ones are a, c and e, the right ones b, d and f.
        private(set) var objects: [String: NSManagedObject] = [:]

        init(
            _ kind: StoreKind, _ policy: NSMergePolicy, pairs: [(String, String)] = [], isDerived: Bool = false
        ) throws {
            store = try TestStore(kind, Self.model(isDerived: isDerived))
            (here, there) = (store.context(), store.context())
            (here.mergePolicy, there.mergePolicy) = (policy, policy)
            let here = here
            objects = try here.performAndWait {
                var objects: [String: NSManagedObject] = [:]
                for code in ["a", "c", "e"] { objects[code] = insert("Left", here).set(["code": code]) }
                for code in ["b", "d", "f"] { objects[code] = insert("Right", here).set(["code": code]) }
                for (left, right) in pairs { objects[left]?.setValue(objects[right], forKey: "right") }
                try here.save()
                for object in objects.values {
                    _ = object.value(forKey: object.entity.name == "Left" ? "right" : "left")
                }
                return objects
            }
        }

        subscript(_ code: String) -> NSManagedObject {
            guard let object = objects[code] else { preconditionFailure("nothing is called \(code)") }
            return object
        }

        func other(_ code: String) -> NSManagedObject { there.object(with: self[code].objectID) }

        func elsewhere(_ body: () throws -> Void) throws {
            try there.performAndWait {
                try body()
                try there.save()
            }
        }

        /// Saves here, which is a conflict.
        func save(_ policy: NSMergePolicy) throws {
            if policy === NSMergePolicy.error {
                #expect(saveError(here)?.code == .managedObjectMerge)
            } else {
                try here.save()
                #expect(!here.hasChanges)
            }
        }

        /// The pairs that are stored, which both ends agree about.
        func pairs(_ location: SourceLocation = #_sourceLocation) throws -> [String] {
            let fresh = store.context()
            let found = try fresh.performAndWait { try Self.pairs(in: fresh, location) }
            let seen = try here.performAndWait {
                here.refreshAllObjects()
                return try Self.pairs(in: here, location)
            }
            #expect(seen == found, sourceLocation: location)
            return found
        }

        private static func pairs(
            in context: NSManagedObjectContext, _ location: SourceLocation
        ) throws -> [String] {
            func pairs(_ entity: String, _ key: String) throws -> [String] {
                try fetchAll(NSManagedObject.self, entity, context).compactMap { object in
                    guard let id = object.objectIDs(forRelationshipNamed: key).first else { return nil }
                    let partner = try? context.existingObject(with: id)
                    return [object.text("code") ?? "", partner?.text("code") ?? "gone"].sorted().joined()
                }
                .sorted()
            }
            let (lefts, rights) = (try pairs("Left", "right"), try pairs("Right", "left"))
            #expect(lefts == rights, sourceLocation: location)
            return lefts
        }

        private static func model(isDerived: Bool) -> NSManagedObjectModel {
            let (left, right) = (GraphModel.entity("Left"), GraphModel.entity("Right"))
            let (toRight, toLeft) = (
                GraphModel.relationship("right", to: right), GraphModel.relationship("left", to: left)
            )
            GraphModel.link(toRight, toLeft)
            left.properties = [GraphModel.attribute("code", .stringAttributeType), toRight]
            right.properties = [GraphModel.attribute("code", .stringAttributeType), toLeft]
            if isDerived {
                let key = NSDerivedAttributeDescription()
                key.name = "key"
                key.attributeType = .stringAttributeType
                key.derivationExpression = NSExpression(format: "canonical:(code)")
                right.properties.append(key)
            }
            let model = NSManagedObjectModel()
            model.entities = [left, right]
            return model
        }
    }

    private static let objectWins: [NSMergePolicy] = [.mergeByPropertyObjectTrump, .overwrite]
    private static let storeWins: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .rollback]

    @Test(arguments: StoreKind.allCases) func bothTakeTheSame(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.error] + Self.objectWins + Self.storeWins {
            let world = try World(kind, policy)
            try world.here.performAndWait {
                try world.elsewhere { world.other("a").setValue(world.other("b"), forKey: "right") }
                world["c"].setValue(world["b"], forKey: "right")
                try world.save(policy)
                world.here.rollback()
            }
            #expect(try world.pairs() == (Self.objectWins.contains { $0 === policy } ? ["bc"] : ["ab"]))
        }
    }

    /// What the others had before belongs to nobody, or to whom the store says.
    @Test(arguments: StoreKind.allCases) func bothTakeTheSameFromOthers(_ kind: StoreKind) throws {
        for policy in Self.objectWins + Self.storeWins {
            let world = try World(kind, policy, pairs: [("a", "b"), ("c", "d"), ("e", "f")])
            try world.here.performAndWait {
                try world.elsewhere { world.other("a").setValue(world.other("f"), forKey: "right") }
                world["c"].setValue(world["f"], forKey: "right")
                try world.here.save()
                #expect(!world.here.hasChanges)
            }
            let pairs = try world.pairs()
            #expect(pairs.contains(Self.objectWins.contains { $0 === policy } ? "cf" : "af"))
        }
    }

    /// One end has been read anew, the other one has not: no row is newer than what it replaces.
    @Test(arguments: StoreKind.allCases) func onlyOneEndIsStale(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.error] + Self.objectWins {
            let world = try World(kind, policy)
            try world.here.performAndWait {
                try world.elsewhere { world.other("a").setValue(world.other("b"), forKey: "right") }
                world.here.refresh(world["a"], mergeChanges: false)
                #expect(world["a"].value(forKey: "right") as? NSManagedObject === world["b"])
                world["a"].setValue(world["d"], forKey: "right")
                try world.save(policy)
                world.here.rollback()
            }
            #expect(try world.pairs() == (policy === NSMergePolicy.error ? ["ab"] : ["ad"]))
        }
    }

    @Test(arguments: StoreKind.allCases) func oneIsDeletedMeanwhile(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.error] + Self.objectWins + Self.storeWins {
            for refreshed in [nil, "a", "b"] {
                let world = try World(kind, policy)
                try world.here.performAndWait {
                    try world.elsewhere { world.other("a").setValue(world.other("b"), forKey: "right") }
                    if let refreshed { world.here.refresh(world[refreshed], mergeChanges: false) }
                    world.here.delete(world["b"])
                    try world.save(policy)
                    world.here.rollback()
                }
                let pairs = try world.pairs()
                #expect(pairs == [] || pairs == ["ab"])
                if Self.objectWins.contains(where: { $0 === policy }) { #expect(pairs == []) }
            }
        }
    }

    /// A refresh took the other end's change back, which nobody else has to do with. Saved as it was, the ends would
    /// disagree; an entity with a derived attribute made the save try again 10,000 times.
    @Test(arguments: StoreKind.allCases, [false, true])
    func aRefreshedEndFollows(_ kind: StoreKind, _ isDerived: Bool) throws {
        for policy in [NSMergePolicy.error] + Self.objectWins + Self.storeWins {
            for isWritten in [false, true] {
                for pairs in [[], [("e", "b")], [("a", "d")], [("a", "d"), ("e", "b")]] {
                    let world = try World(kind, policy, pairs: pairs, isDerived: isDerived)
                    try world.here.performAndWait {
                        world["a"].setValue(world["b"], forKey: "right")
                        for code in ["b", "d"] { world.here.refresh(world[code], mergeChanges: false) }
                        if isWritten { world["b"].setValue("b", forKey: "code") }
                        try world.here.save()
                        #expect(!world.here.hasChanges)
                        #expect(world["b"].value(forKey: "left") as? NSManagedObject === world["a"])
                    }
                    #expect(try world.pairs() == ["ab"])
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func aRefreshedEndIsLeft(_ kind: StoreKind, _ isDerived: Bool) throws {
        for policy in [NSMergePolicy.error] + Self.objectWins + Self.storeWins {
            for isDeleted in [false, true] {
                let world = try World(kind, policy, pairs: [("a", "b")], isDerived: isDerived)
                try world.here.performAndWait {
                    if isDeleted {
                        world.here.delete(world["a"])
                        world.here.processPendingChanges()
                    } else {
                        world["a"].setValue(nil, forKey: "right")
                    }
                    world.here.refresh(world["b"], mergeChanges: false)
                    world["b"].setValue("B", forKey: "code")
                    try world.here.save()
                    #expect(world["b"].value(forKey: "left") == nil)
                }
                #expect(try world.pairs() == [])
            }
        }
    }

    /// A refresh shows what another context has saved, which is not to be overwritten unasked.
    @Test(arguments: StoreKind.allCases, [false, true])
    func aRefreshedEndBelongsToAnother(_ kind: StoreKind, _ isDerived: Bool) throws {
        for policy in [NSMergePolicy.error] + Self.objectWins + Self.storeWins {
            let world = try World(kind, policy, isDerived: isDerived)
            try world.here.performAndWait {
                world["a"].setValue(world["b"], forKey: "right")
                try world.elsewhere { world.other("e").setValue(world.other("b"), forKey: "right") }
                world.here.refresh(world["b"], mergeChanges: false)
                world["b"].setValue("b", forKey: "code")
                try world.save(policy)
                world.here.rollback()
            }
            #expect(try world.pairs() == ["be"])
        }
    }

    /// All of the object is written, also the partner that it had when it was read.
    @Test(arguments: StoreKind.allCases) func anOverwrittenObjectLeavesOnePair(_ kind: StoreKind) throws {
        let world = try World(kind, .overwrite, pairs: [("a", "b")])
        try world.here.performAndWait {
            try world.elsewhere { world.other("a").setValue(world.other("d"), forKey: "right") }
            world["b"].setValue("B", forKey: "code")
            try world.here.save()
        }
        #expect(try world.pairs().count == 1)
    }
}
