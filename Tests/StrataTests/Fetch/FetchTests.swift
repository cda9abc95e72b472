import CoreData
import Foundation
import Testing

@Suite struct FetchTests {
    private func filled(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let departments = (0..<4).map { number in
                let department = Department(context: context)
                department.title = "D\(number)"
                return department
            }
            for number in 0..<40 {
                let employee = number % 10 == 9 ? Manager(context: context) : Employee(context: context)
                employee.name = "E\((number * 7) % 40)"
                employee.age = Int16(20 + number % 5)
                employee.department = departments[number % 4]
            }
            try context.save()
        }
        return store
    }

    @Test(arguments: StoreKind.allCases) func predicatesSortsAndWindows(_ kind: StoreKind) throws {
        let store = try filled(kind)
        let context = store.context()
        try context.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "age >= %d AND department.title == %@", 22, "D1")
            request.sortDescriptors = [
                NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "name", ascending: true),
            ]
            let found = try context.fetch(request)
            #expect(!found.isEmpty && found.allSatisfy { $0.age >= 22 && $0.department?.title == "D1" })
            #expect(zip(found, found.dropFirst()).allSatisfy { ($1.age, $0.name) <= ($0.age, $1.name) })
            #expect(try context.count(for: request) == found.count)
            request.fetchOffset = 2
            request.fetchLimit = 3
            #expect(try context.fetch(request) == Array(found.dropFirst(2).prefix(3)))
            #expect(try context.count(for: request) == min(3, found.count - 2))
        }
    }

    @Test(arguments: StoreKind.allCases) func subentities(_ kind: StoreKind) throws {
        let store = try filled(kind)
        let context = store.context()
        try context.performAndWait {
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 40)
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.includesSubentities = false
            #expect(try context.count(for: request) == 36)
            #expect(try context.fetch(request).count == 36)
            let managers = try fetchAll(Manager.self, "Manager", context)
            #expect(managers.count == 4)
            let plain = try context.fetch(Manager.fetchRequest())
            #expect(plain.count == 4)
        }
    }

    @Test(arguments: StoreKind.allCases) func fetchingByIdentityAndByParent(_ kind: StoreKind) throws {
        let store = try filled(kind)
        let context = store.context()
        try context.performAndWait {
            let all = try fetchAll(Employee.self, "Employee", context)
            let one = try fetchAll(Employee.self, "Employee", context, NSPredicate(format: "SELF == %@", all[3]))
            #expect(one == [all[3]])
            let some = try fetchAll(
                Employee.self, "Employee", context, NSPredicate(format: "SELF IN %@", [all[5], all[1]]))
            #expect(Set(some) == [all[1], all[5]])
            let department = try #require(all[0].department)
            let members = try fetchAll(
                Employee.self, "Employee", context, NSPredicate(format: "department == %@ AND age > 21", department))
            #expect(Set(members) == Set(department.employees.filter { $0.age > 21 }))
        }
    }

    @Test(arguments: StoreKind.allCases) func unsavedChangesCount(_ kind: StoreKind) throws {
        let store = try filled(kind)
        let context = store.context()
        try context.performAndWait {
            let all = try fetchAll(Employee.self, "Employee", context)
            all[0].age = 99
            let new = Employee(context: context)
            new.age = 99
            let old = NSPredicate(format: "age == 99")
            context.delete(all[1])
            #expect(Set(try fetchAll(Employee.self, "Employee", context, old)) == [all[0], new])
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            #expect(try context.count(for: request) == 40)
            request.includesPendingChanges = false
            #expect(try context.count(for: request) == 40)
            request.predicate = old
            #expect(try context.fetch(request).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func storedValuesDecideForCleanObjects(_ kind: StoreKind) throws {
        // An object in memory that is older than its row is found by the row's values and keeps its own.
        let store = try filled(kind)
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let object = try fetchAll(Employee.self, "Employee", first)[0]
            let before = object.age
            let same = try #require(second.object(with: object.objectID) as? Employee)
            same.age = 77
            try second.save()
            let found = try fetchAll(Employee.self, "Employee", first, NSPredicate(format: "age == 77"))
            #expect(found == [object] && object.age == before)
        }
    }

    @Test func otherResultTypes() throws {
        let store = try filled(.memory)
        let context = store.context()
        try context.performAndWait {
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Department")
            ids.resultType = .managedObjectIDResultType
            let found = try context.fetch(ids)
            #expect(found.count == 4)
            let count = NSFetchRequest<NSNumber>(entityName: "Department")
            count.resultType = .countResultType
            #expect(try context.fetch(count) == [4])
            let rows = NSFetchRequest<NSDictionary>(entityName: "Employee")
            rows.resultType = .dictionaryResultType
            rows.propertiesToFetch = ["age"]
            rows.returnsDistinctResults = true
            rows.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            #expect(try context.fetch(rows).map { $0["age"] as? Int } == [20, 21, 22, 23, 24])
            let unknown = NSFetchRequest<NSManagedObject>(entityName: "Nobody")
            #expect(throws: CocoaError.self) { try context.fetch(unknown) }
        }
    }

    @Test func requestExecutesInItsContext() throws {
        let store = try filled(.memory)
        let context = store.context()
        try context.performAndWait {
            let found = try NSFetchRequest<Department>(entityName: "Department").execute()
            #expect(found.count == 4)
        }
        #expect(throws: CocoaError.self) { try NSFetchRequest<Department>(entityName: "Department").execute() }
    }
}
