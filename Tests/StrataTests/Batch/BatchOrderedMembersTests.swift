import CoreData
import Foundation
import Testing

/// Members of an ordered relationship that batches have inserted: they have no place of their own, and are in the order
/// of their insertion, whatever entities they are of.
@Suite struct BatchOrderedMembersTests {
    private static func model() -> NSManagedObjectModel {
        let (shelf, item, other) = (
            GraphModel.entity("Shelf"), GraphModel.entity("Item"), GraphModel.entity("OtherItem")
        )
        let items = GraphModel.relationship("items", to: item, toMany: true, ordered: true)
        let holder = GraphModel.relationship("shelf", to: shelf)
        let label = GraphModel.relationship("label", to: item, rule: .denyDeleteRule)
        GraphModel.link(items, holder)
        shelf.properties = [GraphModel.attribute("name", .stringAttributeType), items]
        item.properties = [GraphModel.attribute("number", .integer64AttributeType), holder, label]
        item.subentities = [other]
        let model = NSManagedObjectModel()
        model.entities = [shelf, item, other]
        return model
    }

    private static func numbers(_ shelf: NSManagedObject) -> [Int] {
        (shelf.value(forKey: "items") as? NSOrderedSet)?.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "number") as? Int
        } ?? []
    }

    @Test(arguments: StoreKind.allCases) func theirOrderIsThatOfTheirInsertion(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            let shelf = insert("Shelf", context)
            try context.save()
            for number in 0..<60 {
                let entity = number % 3 == 1 ? "OtherItem" : "Item"
                let row: [String: Any] = ["number": number, "shelf": shelf.objectID]
                try context.execute(NSBatchInsertRequest(entityName: entity, objects: [row]))
            }
            context.refreshAllObjects()
            #expect(Self.numbers(shelf) == Array(0..<60))
            // The order that was read comes back.
            let items = shelf.mutableOrderedSetValue(forKey: "items")
            items.removeObject(at: 30)
            items.exchangeObject(at: 0, withObjectAt: 40)
            let committed = shelf.committedValues(forKeys: ["items"])["items"] as? NSOrderedSet
            #expect(
                committed?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "number") as? Int } == Array(0..<60))
            context.rollback()
            #expect(Self.numbers(shelf) == Array(0..<60))
            let first = try #require((shelf.value(forKey: "items") as? NSOrderedSet)?[7] as? NSManagedObject)
            context.delete(first)
            context.processPendingChanges()
            context.rollback()
            #expect(Self.numbers(shelf) == Array(0..<60))
        }
    }
}
