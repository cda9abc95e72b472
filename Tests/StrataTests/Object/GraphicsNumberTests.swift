import CoreData
import Foundation
import Testing

/// `CGFloat` is a number wherever others are, though Linux's Foundation does not bridge it.
@Suite struct GraphicsNumberTests {
    @Test(arguments: StoreKind.allCases) func attributesTakeIt(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait { () throws in
            let thing = insert("Thing", context)
            for key in ["double", "float", "int16", "decimal", "bool"] { thing.setValue(CGFloat(2.5), forKey: key) }
            try context.save()
            context.refresh(thing, mergeChanges: false)
            #expect(thing.value(forKey: "double") as? Double == 2.5)
            #expect(thing.value(forKey: "float") as? Float == 2.5)
            #expect(thing.value(forKey: "int16") as? Int == 2)
            #expect(thing.value(forKey: "decimal") as? NSDecimalNumber == 2.5)
            #expect(thing.value(forKey: "bool") as? Bool == true)
            thing.setValue(CGFloat(70_000), forKey: "int16")
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            let batch = NSBatchInsertRequest(entityName: "Thing", objects: [["double": CGFloat(4)]])
            _ = try context.execute(batch)
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.predicate = NSPredicate(format: "double == %f", CGFloat(4))
            update.propertiesToUpdate = ["double": CGFloat(5)]
            _ = try context.execute(update)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            for predicate in [
                NSPredicate(format: "double == %@", argumentArray: [CGFloat(5)]),
                NSPredicate(format: "double > %f", CGFloat(4)), NSPredicate(format: "double IN %@", [CGFloat(5)]),
            ] {
                request.predicate = predicate
                let found = try context.fetch(request)
                #expect(found.count == 1 && predicate.evaluate(with: found.first), "\(predicate)")
            }
        }
    }

    @Test func expressionsAndDefaultsTakeIt() {
        let attribute = GraphModel.attribute("width", .doubleAttributeType, default: CGFloat(2))
        #expect(attribute.defaultValue as? Double == 2)
        #expect(NSPredicate(format: "w > 1").evaluate(with: ["w": CGFloat(2)]))
        let sum = NSExpression(format: "%@ + 1", argumentArray: [CGFloat(2)])
        #expect(sum.expressionValue(with: nil, context: nil) as? Double == 3)
    }
}
