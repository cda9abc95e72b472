import CoreData
import Foundation
import Testing

/// A program that uses the library wrongly is stopped with a message on standard error: what was used, what is wrong,
/// and what to do. In release builds, too, where a failed precondition says nothing: these tests also run in release.
struct ProgrammerErrorMessageTests {
    /// What a stopped program has said.
    private static func said(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func aValueOfTheWrongTypeIsNotPrinted() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            context.performAndWait { make("Employee", context).setValue(secretText(), forKey: "age") }
        }
        let text = Self.said(result)
        #expect(text.contains("Employee.age: Unacceptable type of value for attribute"))
        #expect(text.contains("desired type = int16; given type = String"))
        #expect(text.contains("Convert the value before setting it"))
        #expect(!text.contains("secret"))
    }

    @Test func anUnknownKeyNamesTheOneThatWasMeant() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            _ = context.performAndWait { make("Employee", context).value(forKey: "nmae") }
        }
        let text = Self.said(result)
        #expect(text.contains("the entity Employee is not key value coding-compliant for the key \"nmae\""))
        #expect(text.contains("did you mean \"name\"?"))
    }

    @Test func anObjectThatWasSavedKeepsItsStore() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (store, other) = (try TestStore(.memory), NSPersistentStore.StoreType.inMemory)
            let second = try store.coordinator.addPersistentStore(type: other, at: URL(fileURLWithPath: "/dev/null"))
            let context = store.context()
            try context.performAndWait {
                let badge = make("Badge", context)
                badge.setValue(1, forKey: "number")
                context.assign(badge, to: second)
                context.assign(badge, to: store.store)
                try context.save()
                context.assign(badge, to: store.store)
                FileHandle.standardError.write(Data("so far".utf8))
                context.assign(badge, to: second)
            }
        }
        let text = Self.said(result)
        #expect(text.contains("so far"))
        #expect(text.contains("an object of Badge that has a permanent ID cannot change its store"))
    }

    @Test func aPlainObjectIsNotReadAsOneOfItsEntitysClass() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            try context.performAndWait {
                let entity = try #require(store.coordinator.managedObjectModel.entitiesByName["Employee"])
                let plain = NSManagedObject(entity: entity, insertInto: context)
                let badge = make("Badge", context)
                badge.setValue(plain, forKey: "owner")
                FileHandle.standardError.write(Data("so far".utf8))
                print(badge[ToOneSlot<Employee>("owner")]?.calls ?? [])
            }
        }
        let text = Self.said(result)
        #expect(text.contains("so far"))
        #expect(text.contains("Employee: an object of the entity was made as NSManagedObject and is read as"))
    }

    @Test func aPlainMemberIsNotReadAsOneOfItsEntitysClass() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            try context.performAndWait {
                let entity = try #require(store.coordinator.managedObjectModel.entitiesByName["Employee"])
                let plain = NSManagedObject(entity: entity, insertInto: context)
                let department = try #require(make("Department", context) as? Department)
                plain.setValue(department, forKey: "department")
                FileHandle.standardError.write(Data("so far".utf8))
                for employee in department.employees { employee.calls.append("read") }
            }
        }
        let text = Self.said(result)
        #expect(text.contains("so far"))
        #expect(text.contains("Employee: an object of the entity was made as NSManagedObject and is read as"))
    }

    @Test func anUnknownEntityNamesTheOneThatWasMeant() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            _ = context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Employe", into: context)
            }
        }
        #expect(Self.said(result).contains("could not locate an entity named 'Employe'"))
        #expect(Self.said(result).contains("did you mean \"Employee\"?"))
    }

    @Test func objectsOfTwoContexts() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let (one, other) = (store.context(), store.context())
            let department = one.performAndWait { () -> Department in
                let department = Department(context: one)
                department.title = secretText()
                return department
            }
            other.performAndWait { Employee(context: other).department = department }
        }
        let text = Self.said(result)
        #expect(text.contains("Employee.department: illegal attempt to establish a relationship 'department'"))
        #expect(text.contains("Use context.object(with: target.objectID)"))
        #expect(!text.contains("secret"))
    }

    @Test func anObjectOfAnotherEntity() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let context = store.context()
            context.performAndWait {
                make("Employee", context).setValue(make("Badge", context), forKey: "department")
            }
        }
        #expect(
            Self.said(result).contains("Employee.department: the relationship takes objects of Department, not Badge"))
    }

    @Test func deletingAnotherContextsObject() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            let (one, other) = (store.context(), store.context())
            let object = one.performAndWait { make("Badge", one) }
            other.performAndWait { other.delete(object) }
        }
        #expect(Self.said(result).contains("Badge: delete(_:) was given an object that is in another context"))
    }

    @Test func anAccessorThatTheModelDoesNotHave() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ManagedObjectClasses.register(Misfit.self)
            let entity = GraphModel.entity("Misfit", Misfit.self)
            entity.properties = [GraphModel.attribute("title", .stringAttributeType)]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let store = try TestStore(.memory, model)
            let context = store.context()
            _ = context.performAndWait { Misfit(context: context).titel }
        }
        let text = Self.said(result)
        #expect(text.contains("the entity Misfit has no property named \"titel\""))
        #expect(text.contains("did you mean \"title\"?"))
    }

    @Test func aFaultyFormat() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "name == AND 3")
        }
        #expect(Self.said(result).contains("NSPredicate(format:): Unable to parse"))
        #expect(Self.said(result).contains("at position 8"))
        #expect(Self.said(result).contains("NSPredicate(validating:)"))
    }

    @Test func aModelInUse() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = GraphModel.company()
            let store = try TestStore(.memory, model)
            withExtendedLifetime(store) { model.entitiesByName["Employee"]?.name = "Worker" }
        }
        #expect(Self.said(result).contains("Can't modify an immutable model"))
        #expect(Self.said(result).contains("Change a copy of the model instead"))
    }

    @Test func aParentForAContextWithCoordinator() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            store.context().parent = store.context()
        }
        #expect(Self.said(result).contains("NSManagedObjectContext.parent: the context already has a coordinator"))
    }

    @Test func aResultsControllerWithoutOrder() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore(.memory)
            _ = NSFetchedResultsController(
                fetchRequest: NSFetchRequest<Employee>(entityName: "Employee"), managedObjectContext: store.context(),
                sectionNameKeyPath: nil, cacheName: nil)
        }
        #expect(Self.said(result).contains("requires a fetch request with sort descriptors"))
    }

    @Test func anUndoGroupThatWasNotBegun() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            UndoManager().endUndoGrouping()
        }
        #expect(Self.said(result).contains("UndoManager: endUndoGrouping() was called without"))
    }

    @Test func aMissingInverseIsWarnedOfOnce() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for _ in 0..<2 { _ = try TestStore(.memory, GraphModel.company()) }
        }
        let parts = Self.said(result).components(separatedBy: "Project.tags should have an inverse")
        #expect(parts.count == 2)
        #expect(!Self.said(result).contains("Employee.friends should"))
    }
}

private final class Misfit: NSManagedObject {
    private static let titleSlot = AttributeSlot<String?>("titel")

    var titel: String? { self[Self.titleSlot] }
}

/// Not a literal, which would stand in a backtrace's source lines.
private func secretText() -> String { String("terces".reversed()) }
