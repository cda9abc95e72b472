import CoreData
import Foundation
import Testing

/// What a context says of objects that were deleted, until the next save.
@Suite struct DeletionStateTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func rulesAreFollowedAtTheSaveIfTheContextSaysSo(_ kind: StoreKind, inChild: Bool) throws {
        let store = try TestStore(kind, GraphModel.company(employeesRule: .cascadeDeleteRule))
        let parent = store.context()
        let context = inChild ? ContextLine.child(of: parent) : parent
        context.propagatesDeletesAtEndOfEvent = false
        try context.check {
            let department = Department(context: context)
            let employee = Employee(context: context)
            employee.department = department
            try context.save()
            context.delete(department)
            #expect(department.isDeleted && !employee.isDeleted)
            context.processPendingChanges()
            #expect(!employee.isDeleted && employee.department === department)
            try context.save()
            #expect(employee.managedObjectContext == nil)
            #expect(try context.employeeNames().isEmpty)
        }
        try parent.check { () throws in
            try parent.save()
            #expect(try store.context().employeeNames().isEmpty)
        }
    }

    /// References follow their rule no sooner, and a denial is found by the save.
    @Test(arguments: StoreKind.allCases, [NSDeleteRule.nullifyDeleteRule, .denyDeleteRule])
    func otherRulesWaitForTheSaveToo(_ kind: StoreKind, _ rule: NSDeleteRule) throws {
        let store = try TestStore(kind, GraphModel.company(employeesRule: rule))
        let context = store.context()
        context.propagatesDeletesAtEndOfEvent = false
        try context.check { () throws in
            let department = Department(context: context)
            let employee = Employee(context: context)
            employee.department = department
            try context.save()
            context.delete(department)
            context.processPendingChanges()
            #expect(employee.department === department && !employee.hasChanges)
            if rule == .denyDeleteRule {
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.code.rawValue == NSValidationRelationshipDeniedDeleteError)
                #expect(department.isDeleted && employee.department === department)
                employee.department = nil
            }
            try context.save()
            #expect(employee.department == nil && department.managedObjectContext == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func anUnsavedObjectLeavesAtTheEndOfTheEvent(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check {
            let employee = Employee(context: context)
            employee.name = "Ada"
            let id = employee.objectID
            context.processPendingChanges()
            context.delete(employee)
            #expect(context.registeredObjects.contains(employee))
            context.processPendingChanges()
            #expect(!context.registeredObjects.contains(employee) && context.registeredObject(for: id) == nil)
            #expect(context.deletedObjects.isEmpty && !context.hasChanges && employee.managedObjectContext == nil)
            #expect(employee.name == "Ada" && !employee.isInserted && !employee.isDeleted)
            try context.save()
            #expect(try context.employeeNames().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func aChildsUnsavedObjectLeavesItsParentToo(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        try line.child.check {
            let employee = Employee(context: line.child)
            try line.child.save()
            line.child.delete(employee)
            try line.child.save()
        }
        line.root.performAndWait {
            #expect(line.root.registeredObjects.isEmpty && line.root.deletedObjects.isEmpty && !line.root.hasChanges)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func inaccessibleFaultsAreExemptFromValidationAndCalls(_ kind: StoreKind, inChild: Bool) throws {
        let model = GraphModel.company()
        // What is read of such a fault, nothing, would not be valid.
        model.entitiesByName["Employee"]?.attributesByName["age"]?.isOptional = false
        let store = try TestStore(kind, model)
        let (parent, other) = (store.context(), store.context())
        let context = inChild ? ContextLine.child(of: parent) : parent
        let id = try other.performAndWait {
            let employee = Employee(context: other)
            try other.save()
            return employee.objectID
        }
        try context.check {
            let fault = try #require(context.object(with: id) as? Employee)
            try other.check {
                other.delete(other.object(with: id))
                try other.save()
            }
            #expect(fault.name == "" && fault.isDeleted)
            fault.calls = []
            try context.save()
            #expect(fault.calls.isEmpty && context.deletedObjects.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func inaccessibleFaultsGetNoCallsOfASave(_ kind: StoreKind, inChild: Bool) throws {
        let store = try TestStore(kind, Probe.model())
        let (parent, other) = (store.context(), store.context())
        let context = inChild ? ContextLine.child(of: parent) : parent
        let id = try other.performAndWait {
            let probe = Probe(context: other)
            try other.save()
            return probe.objectID
        }
        try context.check {
            let fault = try #require(context.object(with: id) as? Probe)
            try other.check {
                other.delete(other.object(with: id))
                try other.save()
            }
            #expect(fault.name == nil && fault.isDeleted)
            _ = fault.takeCalls()
            try context.save()
            #expect(fault.takeCalls() == [])
        }
    }

    /// A mandatory to-many relationship without members refused the save with code 1570, also where it has a maximum.
    @Test(arguments: StoreKind.allCases, [0, 3])
    func aMandatoryToManyRelationshipMayBeEmpty(_ kind: StoreKind, maximum: Int) throws {
        let model = GraphModel.company()
        model.entitiesByName["Department"]?.relationshipsByName["employees"]?.isOptional = false
        model.entitiesByName["Department"]?.relationshipsByName["employees"]?.maxCount = maximum
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.check {
            let department = Department(context: context)
            try context.save()
            let employee = Employee(context: context)
            employee.department = department
            try context.save()
            context.delete(employee)
            department.budget = 9
            try context.save()
            #expect(department.employees.isEmpty)
        }
    }
}
