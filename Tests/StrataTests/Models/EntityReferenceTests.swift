import Foundation
import StrataSupport
import Testing

@testable import Strata
@testable import StrataSchema

/// What leads from properties, indexes and subentities to their entity: neither keeps it alive nor makes counting
/// references to it slow.
@Suite struct EntityReferenceTests {
    /// Whether the object's references are counted in the object itself, and not in a table beside it, where the
    /// runtime moves them for good as soon as there is a weak one: the first bit of the second word then says so.
    private static func countsInPlace(_ object: AnyObject) -> Bool {
        let counts = Unmanaged.passUnretained(object).toOpaque().load(fromByteOffset: 8, as: UInt64.self)
        return counts >> 63 == 0
    }

    private static func model() -> NSManagedObjectModel {
        let (parent, child) = (NSEntityDescription(), NSEntityDescription())
        (parent.name, child.name) = ("Parent", "Child")
        let (toChild, toParent) = (NSRelationshipDescription(), NSRelationshipDescription())
        (toChild.name, toChild.destinationEntity, toChild.maxCount) = ("children", child, 0)
        (toParent.name, toParent.destinationEntity, toParent.maxCount) = ("parent", parent, 1)
        (toChild.inverseRelationship, toParent.inverseRelationship) = (toParent, toChild)
        let number = NSAttributeDescription()
        (number.name, number.attributeType) = ("number", .integer64AttributeType)
        parent.properties = [number, toChild]
        child.properties = [toParent]
        parent.subentities = [child]
        parent.indexes = [
            NSFetchIndexDescription(
                name: "byNumber", elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
        ]
        let model = NSManagedObjectModel()
        model.entities = [parent, child]
        return model
    }

    private final class Probe {}

    @Test func weakReferencesMoveTheCount() {
        // What the others rest on.
        let probe = Probe()
        #expect(Self.countsInPlace(probe))
        weak let leading = probe
        #expect(leading === probe)
        #expect(!Self.countsInPlace(probe))
    }

    @Test func nothingLeadsWeaklyToAnEntityInUse() throws {
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Child", into: context)
            try context.save()
            _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Parent"))
        }
        for entity in model.entities {
            #expect(Self.countsInPlace(entity), "\(entity.name ?? "")")
            #expect(entity.properties.allSatisfy { $0.entity.name != nil })
        }
    }

    @Test func whatLeadsToAnEntityDoesNotKeepIt() throws {
        var model: NSManagedObjectModel? = Self.model()
        let parent = try #require(model?.entitiesByName["Parent"])
        let toChild = try #require(parent.relationshipsByName["children"])
        #expect(toChild.destinationEntity?.name == "Child")
        #expect(toChild.destinationEntity?.superentity === parent)
        let index = try #require(parent.indexes.first)
        #expect(index.entity === parent)
        parent.subentities = []
        model?.entities = []
        model = nil
        #expect(toChild.destinationEntity == nil)
        #expect(toChild.owningEntity === parent)
    }

    @Test func propertiesOutliveTheirEntity() throws {
        let number = NSAttributeDescription()
        number.name = "number"
        var entity: NSEntityDescription? = NSEntityDescription()
        entity?.properties = [number]
        #expect(number.owningEntity === entity)
        entity = nil
        #expect(number.owningEntity == nil)
    }
}
