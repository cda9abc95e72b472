import CoreData
import Foundation
import Testing

/// Objects that keep only the other ends of what their rows refer to, in memory that has room for nothing else, until
/// they are changed.
@Suite struct ShortOverlayTests {
    private static func employee(_ store: TestStore, _ context: NSManagedObjectContext) throws -> Employee {
        let manager = Manager(context: context)
        manager.name = "somebody with a name that is no small string"
        manager.age = 41
        manager.department = Department(context: context)
        manager.badge = insert("Badge", context)
        manager.badge?.setValue(5, forKey: "number")
        try context.save()
        context.reset()
        let employee = try #require(fetchAll(Employee.self, "Employee", context).first)
        #expect(employee.department != nil && employee.badge != nil)
        return employee
    }

    private static func expectValues(_ store: TestStore, _ name: String, _ age: Int16) throws {
        let other = store.context()
        try other.performAndWait {
            let employee = try #require(fetchAll(Employee.self, "Employee", other).first)
            #expect(employee.name == name && employee.age == age && employee.badge != nil)
            #expect(employee.department?.employees == [employee])
        }
    }

    private static let name = "another name that is no small string"

    @Test(arguments: StoreKind.allCases) func valuesAreSetAfterReferencesWereRead(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let employee = try Self.employee(store, context)
            let (department, badge) = (employee.department, employee.badge)
            employee.name = Self.name
            employee.age = 42
            #expect(employee.department === department && employee.badge === badge)
            try context.save()
            #expect(employee.name == Self.name && employee.department === department && employee.badge === badge)
        }
        try Self.expectValues(store, Self.name, 42)
    }

    /// The ways to set values that do not go through typed accessors.
    @Test(arguments: 0..<4) func valuesAreSetByKey(way: Int) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = try Self.employee(store, context)
            let department = employee.department
            switch way {
            case 0: employee.setValue(Self.name, forKey: "name")
            case 1:
                employee.willChangeValue(forKey: "name")
                employee.setPrimitiveValue(Self.name, forKey: "name")
                employee.didChangeValue(forKey: "name")
            case 2:
                employee.setPrimitiveValue(Self.name, forKey: "name")
                // Written at once, as the object has changes already.
                employee.name += ""
            default:
                employee.willChangeValue(forKey: "name")
                employee.name = Self.name
                employee.didChangeValue(forKey: "name")
            }
            #expect(employee.name == Self.name && employee.department === department)
            try context.save()
        }
        try Self.expectValues(store, Self.name, 41)
    }

    /// A reference is set first, then values, then all of it is taken back.
    @Test func referencesAreSetAndTakenBack() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = try Self.employee(store, context)
            let department = try #require(employee.department)
            employee.department = nil
            employee.age = 50
            #expect(department.employees.isEmpty && employee.badge != nil)
            context.refresh(employee, mergeChanges: true)
            #expect(employee.age == 50 && employee.department == nil && employee.badge != nil)
            context.rollback()
            #expect(employee.age == 41 && employee.department === department && department.employees == [employee])
            context.undoManager = UndoManager()
            employee.name = Self.name
            context.delete(employee)
            context.processPendingChanges()
            #expect(department.employees.isEmpty && employee.department === department)
            context.undo()
            #expect(!employee.isDeleted && employee.department === department && department.employees == [employee])
        }
    }

    /// A deleted object refers to what it referred to until the deletion has been saved, whoever has asked before.
    @Test(arguments: [false, true]) func aDeletedObjectStillRefers(wasAsked: Bool) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let id = try Self.employee(store, context).objectID
            context.reset()
            let employee = try #require(context.existingObject(with: id) as? Employee)
            if wasAsked { #expect(employee.department != nil) }
            context.delete(employee)
            context.processPendingChanges()
            let department = try #require(employee.department)
            #expect(context.updatedObjects.contains(department) && department.employees.isEmpty)
            try context.save()
            #expect(employee.managedObjectContext == nil && employee.department == nil && !department.hasChanges)
        }
    }
}
