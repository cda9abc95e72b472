import CoreData
import Foundation
import Testing

/// A fetched property whose request names the property's user info.
@Suite struct FetchedPropertyInfoTests {
    @Test(arguments: StoreKind.allCases) func changedUserInfoCountsAtOnce(_ kind: StoreKind) throws {
        let item = GraphModel.entity("Item")
        let shelf = GraphModel.entity("Shelf")
        let property = NSFetchedPropertyDescription()
        property.name = "chosen"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = item
        request.predicate = NSPredicate(format: "n < $FETCHED_PROPERTY.userInfo.limit")
        property.fetchRequest = request
        property.userInfo = ["limit": 2]
        item.properties = [GraphModel.attribute("n", .integer16AttributeType)]
        shelf.properties = [property, GraphModel.attribute("name", .stringAttributeType)]
        let store = try TestStore(kind, makeModel([item, shelf]))
        let context = store.context()
        try context.performAndWait {
            for n in 0..<5 { insert("Item", context).setValue(n, forKey: "n") }
            let object = insert("Shelf", context)
            try context.save()
            func chosen() -> Int { (object.value(forKey: "chosen") as? [NSManagedObject])?.count ?? -1 }
            #expect(chosen() == 2)
            let known = try #require(object.entity.propertiesByName["chosen"])
            known.userInfo = ["limit": 4]
            #expect(chosen() == 4)
            known.userInfo?["limit"] = 1
            #expect(chosen() == 1)
            #expect(chosen() == 1)
        }
    }
}
