import CoreData
import Foundation
import Testing

/// URIs and IDs that name an object by another entity of its hierarchy than its own.
///
/// The ID was another one than the object's: a batch insert stored references by it that no inverse, fetch or delete
/// rule found, and that led nowhere once the object was deleted.
@Suite struct OtherEntityReferenceTests {
    private final class World {
        let store: TestStore
        let special: NSManagedObjectID
        let plain: NSManagedObjectID

        init(_ kind: StoreKind, _ rule: NSDeleteRule = .nullifyDeleteRule) throws {
            let (base, heir, owner) = (GraphModel.entity("Base"), GraphModel.entity("Heir"), GraphModel.entity("Owner"))
            let target = GraphModel.relationship("target", to: base)
            let owners = GraphModel.relationship("owners", to: owner, toMany: true, rule: rule)
            GraphModel.link(target, owners)
            base.properties = [GraphModel.attribute("name", .stringAttributeType), owners]
            heir.properties = [GraphModel.attribute("extra", .stringAttributeType)]
            base.subentities = [heir]
            owner.properties = [
                GraphModel.attribute("name", .stringAttributeType), target,
                GraphModel.relationship("heir", to: heir),
            ]
            let model = NSManagedObjectModel()
            model.entities = [base, heir, owner]
            store = try TestStore(kind, model)
            let context = store.context()
            (special, plain) = try context.performAndWait {
                let objects = ["Heir", "Base"].map { insert($0, context).set(["name": $0]) }
                try context.save()
                return (objects[0].objectID, objects[1].objectID)
            }
        }

        /// An object's URI with another entity's name.
        func uri(_ id: NSManagedObjectID, as name: String) throws -> URL {
            let text = id.uriRepresentation().absoluteString
            return try #require(
                URL(string: text.replacingOccurrences(of: "/\(id.entity.name ?? "")/", with: "/\(name)/")))
        }

        func id(_ id: NSManagedObjectID, as name: String) throws -> NSManagedObjectID {
            try #require(store.coordinator.managedObjectID(forURIRepresentation: uri(id, as: name)))
        }
    }

    @Test(arguments: StoreKind.allCases) func aURINamesTheObject(_ kind: StoreKind) throws {
        let world = try World(kind)
        for (id, name) in [(world.special, "Base"), (world.special, "Heir"), (world.plain, "Heir")] {
            let found = try world.id(id, as: name)
            #expect(found == id && found.entity.name == id.entity.name)
            #expect(found.uriRepresentation() == id.uriRepresentation())
        }
        let context = world.store.context()
        try context.performAndWait {
            let object = try context.existingObject(with: world.special)
            #expect(try context.existingObject(with: world.id(world.special, as: "Base")) === object)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
            request.predicate = NSPredicate(format: "SELF == %@", try world.id(world.special, as: "Base"))
            #expect(try context.fetch(request) == [object])
        }
    }

    /// Who has made the ID when there was no such object yet gets the object nevertheless.
    @Test(arguments: StoreKind.allCases) func anEarlyIDFindsTheObject(_ kind: StoreKind) throws {
        let world = try World(kind)
        let text = world.special.uriRepresentation().absoluteString.replacingOccurrences(
            of: "/Heir/p1", with: "/Base/p3")
        let early = try #require(world.store.coordinator.managedObjectID(for: text))
        let context = world.store.context()
        try context.performAndWait {
            let heir = insert("Heir", context).set(["name": "late"])
            try context.save()
            #expect(
                heir.objectID.uriRepresentation().absoluteString == text.replacingOccurrences(of: "Base", with: "Heir"))
            #expect(try context.existingObject(with: early) === heir)
            let request = NSBatchInsertRequest(entityName: "Owner", objects: [["name": "o", "target": early]])
            _ = try context.execute(request)
            context.refresh(heir, mergeChanges: false)
            #expect(heir.members("owners").count == 1)
        }
    }

    private static func insertOwners(_ world: World, _ context: NSManagedObjectContext) throws {
        let target = try world.id(world.special, as: "Base")
        let request = NSBatchInsertRequest(
            entityName: "Owner", objects: [["name": "a", "target": target], ["name": "b", "target": target]])
        _ = try context.execute(request)
    }

    @Test(arguments: StoreKind.allCases) func whatABatchRefersToIsFoundFromBothEnds(_ kind: StoreKind) throws {
        let world = try World(kind)
        let context = world.store.context()
        try context.performAndWait {
            try Self.insertOwners(world, context)
            let special = try context.existingObject(with: world.special)
            #expect(special.members("owners").count == 2)
            for format in ["target == %@", "target IN %@", "ANY target.owners.target == %@"] {
                let value: Any = format.contains("IN") ? [special] : special
                let found = try fetchAll(
                    NSManagedObject.self, "Owner", context, NSPredicate(format: format, argumentArray: [value]))
                #expect(found.count == 2, "\(format)")
                #expect(found.allSatisfy { $0.value(forKey: "target") as? NSManagedObject === special })
            }
            let counted = try fetchAll(
                NSManagedObject.self, "Base", context, NSPredicate(format: "owners.@count == 2"))
            #expect(counted == [special])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
            request.relationshipKeyPathsForPrefetching = ["owners", "owners.target"]
            request.predicate = NSPredicate(format: "ANY owners.name == 'a'")
            #expect(try context.fetch(request) == [special])
            let update = NSBatchUpdateRequest(entityName: "Owner")
            update.propertiesToUpdate = ["target": try world.id(world.plain, as: "Heir")]
            _ = try context.execute(update)
            context.refreshAllObjects()
            #expect(special.members("owners").isEmpty)
            #expect(try context.existingObject(with: world.plain).members("owners").count == 2)
        }
    }

    /// The relationship takes heirs: the row decides, and not the name that the ID was given.
    @Test(arguments: StoreKind.allCases) func whatIsNotOfTheDestinationIsRefused(_ kind: StoreKind) throws {
        let world = try World(kind)
        let context = world.store.context()
        try context.performAndWait {
            func request(_ target: NSManagedObjectID) -> NSBatchInsertRequest {
                NSBatchInsertRequest(entityName: "Owner", objects: [["name": "x", "heir": target]])
            }
            _ = try context.execute(request(try world.id(world.special, as: "Base")))
            #expect(throws: CocoaError.self) { try context.execute(request(try world.id(world.plain, as: "Heir"))) }
        }
    }

    @Test(arguments: StoreKind.allCases, [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule])
    func deleteRulesReachTheReferrers(_ kind: StoreKind, _ rule: NSDeleteRule) throws {
        for isBatch in [false, true] {
            for isLate in [false, true] where !isBatch || !isLate {
                let world = try World(kind, rule)
                let (context, other) = (world.store.context(), world.store.context())
                try context.performAndWait {
                    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    if !isLate { try Self.insertOwners(world, other) }
                    let special = try context.existingObject(with: world.special)
                    if isBatch {
                        let request = NSBatchDeleteRequest(objectIDs: [try world.id(world.special, as: "Base")])
                        _ = try context.execute(request)
                    } else {
                        context.delete(special)
                        context.processPendingChanges()
                        if isLate { try other.performAndWait { try Self.insertOwners(world, other) } }
                        if rule == .denyDeleteRule {
                            #expect(saveError(context)?.code == .validationRelationshipDeniedDelete)
                            return
                        }
                        try context.save()
                    }
                }
                let fresh = world.store.context()
                try fresh.performAndWait {
                    let owners = try fetchAll(NSManagedObject.self, "Owner", fresh)
                    let isDenied = rule == .denyDeleteRule && !isBatch
                    #expect(owners.count == (rule == .cascadeDeleteRule ? 0 : 2), "batch: \(isBatch) late: \(isLate)")
                    #expect(owners.allSatisfy { ($0.value(forKey: "target") == nil) == !isDenied })
                }
            }
        }
    }
}
