import CoreData
import Foundation
import Testing

/// What an object says of itself once its deletion has been saved.
@Suite struct DeletedObjectTests {
    private func makeEmployee(_ name: String, in context: NSManagedObjectContext) throws -> Employee {
        let employee = Employee(context: context)
        employee.name = name
        try context.save()
        return employee
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)], StoreKind.allCases)
    func afterTheSaveItIsAFaultWithoutContext(_ state: (isChild: Bool, wasFault: Bool), _ kind: StoreKind) throws {
        let (isChild, wasFault) = state
        let line = try ContextLine(kind)
        try line.root.check { _ = try makeEmployee("Ada", in: line.root) }
        let context = isChild ? line.child : line.root
        try context.check {
            let object = try #require(try fetchAll(Employee.self, "Employee", context).first)
            if wasFault {
                context.refresh(object, mergeChanges: false)
            } else {
                #expect(object.name == "Ada" && !object.isFault)
            }
            context.delete(object)
            context.processPendingChanges()
            #expect(object.isFault == wasFault || !object.isFault)
            try context.save()
            #expect(object.isFault && object.faultingState == 1 && object.value(forKey: "isFault") as? Bool == true)
            #expect(object.managedObjectContext == nil && !object.isDeleted && !object.hasChanges)
            // What it had can still be read, which makes it no less a fault.
            if !wasFault { #expect(object.name == "Ada" && object.value(forKey: "name") as? String == "Ada") }
            #expect(object.isFault && object.description.contains("fault"))
            // Inserted again, it is a new object.
            context.insert(object)
            #expect(!object.isFault && object.isInserted && object.managedObjectContext === context)
        }
    }

    @Test(arguments: StoreKind.allCases) func undoneItIsThereAgain(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check {
            let object = try makeEmployee("Ada", in: context)
            context.undoManager = UndoManager()
            context.delete(object)
            try context.save()
            #expect(object.isFault)
            context.undo()
            #expect(!object.isFault && object.name == "Ada" && object.isInserted)
        }
    }

    @Test(arguments: StoreKind.allCases) func othersStayAsTheyAre(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check {
            let kept = try makeEmployee("Ada", in: context)
            let new = Employee(context: context)
            context.delete(new)
            try context.save()
            #expect(!kept.isFault && !new.isFault)
            context.refreshAllObjects()
            #expect(kept.isFault && kept.managedObjectContext === context)
            context.reset()
            #expect(!kept.isFault && kept.managedObjectContext == nil)
        }
    }
}
