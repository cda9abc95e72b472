import CoreData
import Testing

/// A model names classes as `@objc(Name)` did on Apple's platforms. Without the plugin a class is registered.
@Suite struct ObjectiveCNameTests {
    private final class Invoice: NSManagedObject {
        override class var objectiveCName: String? { "ABCInvoiceOfTheTests" }
    }

    @Test func aRegisteredClassIsFoundByIt() throws {
        ManagedObjectClasses.register(Invoice.self)
        let entity = NSEntityDescription()
        entity.name = "Invoice"
        entity.managedObjectClassName = "ABCInvoiceOfTheTests"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Invoice", into: context)
            #expect(object is Invoice && object.className == "ABCInvoiceOfTheTests")
            #expect(context.className == NSStringFromClass(NSManagedObjectContext.self))
        }
    }
}
