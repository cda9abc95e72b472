import CoreData
import Foundation
import Strata
import StrataTestKit
import Testing

/// The members of a to-many relationship, made all at once, and the faults that fire among them.
@Suite struct MembersTests {
    private static let count = 300

    /// A department whose employees lie in many rows between those of others.
    private func company(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let departments = (0..<5).map { number in
                let department = Department(context: context)
                department.title = "department \(number)"
                return department
            }
            for number in 0..<Self.count * 5 {
                let type = number % 7 == 0 ? "Manager" : "Employee"
                let employee = insert(type, context)
                employee.setValue("employee \(number)", forKey: "name")
                employee.setValue(departments[number % 5], forKey: "department")
            }
            try context.save()
        }
        return store
    }

    private func department(_ context: NSManagedObjectContext) throws -> Department {
        let request = NSFetchRequest<Department>(entityName: "Department")
        request.predicate = NSPredicate(format: "title == 'department 2'")
        return try #require(try context.fetch(request).first)
    }

    private static let names = Set((0..<count).map { "employee \($0 * 5 + 2)" })

    @Test(arguments: StoreKind.allCases) func namesInTheOrderOfTheSet(_ kind: StoreKind) throws {
        let store = try company(kind)
        let context = store.context()
        try context.performAndWait {
            let department = try department(context)
            let before = context.faultStatistics
            let employees = department.employees
            #expect(employees.count == Self.count)
            #expect(Set(employees.map(\.name)) == Self.names)
            #expect(context.faultStatistics.batchLookups - before.batchLookups == 1)
            #expect(employees.allSatisfy { $0.calls == ["awakeFromFetch"] })
            #expect(employees.allSatisfy { $0 is Manager || $0.entity.name == "Employee" })
            // One object for a row, also when it is found in another way.
            for employee in employees { #expect(context.object(with: employee.objectID) === employee) }
            for employee in employees { #expect(employees.contains(employee)) }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func namesInAnyOrder(_ seed: UInt64) throws {
        print("MembersTests.namesInAnyOrder: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try company(.memory)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            // Some are there before, and some of them realized or changed.
            let known = try context.fetch(request).filter { _ in random.chance(0.2) }
            for employee in known where random.chance(0.5) { _ = employee.name }
            let department = try department(context)
            for employee in known where employee.department === department && random.chance(0.3) {
                employee.name += "!"
            }
            let employees = Array(department.employees).shuffled(using: &random)
            #expect(Set(employees.map { $0.name.filter { $0 != "!" } }) == Self.names)
            for employee in known where employee.department === department { #expect(employees.contains(employee)) }
            // Once more, as faults again.
            context.refreshAllObjects()
            let others = Array(department.employees).shuffled(using: &random)
            #expect(Set(others.map { $0.name.filter { $0 != "!" } }) == Self.names)
        }
    }

    @Test func changesAreLaidOverTheMembers() throws {
        let store = try company(.memory)
        let context = store.context()
        try context.performAndWait {
            let department = try department(context)
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name IN %@", ["employee 2", "employee 3"])
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let two = try context.fetch(request)
            two[0].department = nil
            two[1].department = department
            let names = Self.names.subtracting(["employee 2"]).union(["employee 3"])
            #expect(Set(department.employees.map(\.name)) == names)
            context.rollback()
            #expect(Set(department.employees.map(\.name)) == Self.names)
        }
    }

    @Test func aMemberDiesWithItsLastReference() throws {
        let store = try company(.memory)
        let context = store.context()
        weak var member: Employee?
        weak var owner: Department?
        try context.performAndWait {
            let department = try department(context)
            owner = department
            member = department.employees.first
            #expect(member?.name.isEmpty == false)
        }
        context.performAndWait {
            #expect(owner == nil)
            #expect(member == nil)
            #expect(context.registeredObjects.isEmpty)
        }
    }
}
