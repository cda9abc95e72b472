import CoreData
import Foundation
import Testing

@Suite struct RelationshipTests {
    @Test(arguments: StoreKind.allCases) func inversesOfToMany(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let sales = Department(context: context)
            let research = Department(context: context)
            let people = (0..<5).map { _ in Employee(context: context) }
            for person in people { person.department = sales }
            #expect(sales.employees == Set(people))
            research.employees = [people[0], people[1]]
            #expect(people[0].department === research && sales.employees == Set(people[2...]))
            people[1].department = nil
            #expect(research.employees == [people[0]])
            try context.save()
            people[2].department = research
            #expect(sales.isUpdated && research.isUpdated)
            #expect(research.employees == [people[0], people[2]])
            try context.save()
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait {
            let departments = try fetchAll(Department.self, "Department", other)
            #expect(departments.map { $0.employees.count } == [2, 2])
            #expect(departments.map { $0.count(of: Department.employeesSlot) } == [2, 2])
            let moved = try #require(departments[0].employees.first)
            moved.department = departments[1]
            #expect(departments[0].count(of: Department.employeesSlot) == 1)
            #expect(departments[1].employees.contains(moved))
        }
    }

    @Test(arguments: StoreKind.allCases) func addingDoesNotReadTheOthers(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            for _ in 0..<10 { Employee(context: context).department = department }
            try context.save()
            let other = store.context()
            let same = try #require(try fetchAll(Department.self, "Department", other).first)
            let new = Employee(context: other)
            same.add(new, to: Department.employeesSlot)
            #expect(same.hasFault(forRelationshipNamed: "employees"))
            #expect(same.count(of: Department.employeesSlot) == 11)
            #expect(other.registeredObjects.count == 2)
            #expect(same.employees.count == 11 && same.employees.contains(new))
            #expect(!same.hasFault(forRelationshipNamed: "employees"))
        }
    }

    @Test(arguments: StoreKind.allCases) func oneToOne(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let a = Employee(context: context)
            let b = Employee(context: context)
            let badge = insert("Badge", context)
            badge.setValue(1, forKey: "number")
            a.badge = badge
            #expect(badge.value(forKey: "owner") as? Employee === a)
            b.badge = badge
            #expect(a.badge == nil && badge.value(forKey: "owner") as? Employee === b)
            badge.setValue(a, forKey: "owner")
            #expect(b.badge == nil && a.badge === badge)
            try context.save()
            let fresh = store.context()
            let found = try fetchAll(Employee.self, "Employee", fresh)
            #expect(found.compactMap(\.badge).count == 1)
            #expect(found[0].badge?.value(forKey: "owner") as? Employee === found[0])
        }
    }

    @Test(arguments: StoreKind.allCases) func manyToMany(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let people = (0..<4).map { _ in Employee(context: context) }
            let projects = (0..<3).map { _ in insert("Project", context) }
            projects[0].setValue(Set<NSManagedObject>(people), forKey: "staff")
            people[0].setValue(Set(projects), forKey: "projects")
            #expect((projects[2].value(forKey: "staff") as? Set<Employee>) == [people[0]])
            try context.save()
            let fresh = store.context()
            let found = try fetchAll(NSManagedObject.self, "Project", fresh)
            #expect(found.map { ($0.value(forKey: "staff") as? Set<Employee>)?.count } == [4, 1, 1])
            let first = try #require(fresh.object(with: people[0].objectID) as? Employee)
            first.setValue(Set([found[1]]), forKey: "projects")
            #expect((found[0].value(forKey: "staff") as? Set<Employee>)?.count == 3)
            try fresh.save()
            fresh.delete(found[0])
            try fresh.save()
            let third = store.context()
            let last = try fetchAll(NSManagedObject.self, "Project", third)
            #expect(last.map { ($0.value(forKey: "staff") as? Set<Employee>)?.count } == [1, 0])
            let all = try fetchAll(Employee.self, "Employee", third)
            #expect(all.map { $0.count(of: Employee.projectsSlot) } == [1, 0, 0, 0])
        }
    }

    @Test(arguments: StoreKind.allCases) func symmetricAndWithoutInverse(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let people = (0..<3).map { _ in Employee(context: context) }
            people[0].setValue(Set(people[1...]), forKey: "friends")
            #expect((people[2].value(forKey: "friends") as? Set<Employee>) == [people[0]])
            let project = insert("Project", context)
            let badges = (0..<3).map { number in
                let badge = insert("Badge", context)
                badge.setValue(number, forKey: "number")
                return badge
            }
            project.setValue(Set(badges), forKey: "tags")
            try context.save()
            let fresh = store.context()
            let found = try fetchAll(Employee.self, "Employee", fresh)
            #expect(found.map { ($0.value(forKey: "friends") as? Set<Employee>)?.count } == [2, 1, 1])
            let same = try #require(try fetchAll(NSManagedObject.self, "Project", fresh).first)
            #expect((same.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 3)
            found[1].setValue(Set<NSManagedObject>(), forKey: "friends")
            try fresh.save()
            let third = store.context()
            let last = try fetchAll(Employee.self, "Employee", third)
            #expect(last.map { ($0.value(forKey: "friends") as? Set<Employee>)?.count } == [1, 0, 1])
        }
    }

    @Test(arguments: StoreKind.allCases) func orderedToMany(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let project = insert("Project", context)
            let tasks = (0..<6).map { number in
                let task = insert("Task", context)
                task.setValue("\(number)", forKey: "text")
                return task
            }
            for task in tasks[..<4] { task.setValue(project, forKey: "project") }
            #expect(texts(project) == ["0", "1", "2", "3"])
            try context.save()
            #expect(texts(project) == ["0", "1", "2", "3"])
            project.setValue(NSOrderedSet(array: [tasks[3], tasks[5], tasks[0], tasks[1], tasks[2]]), forKey: "tasks")
            try context.save()
            let fresh = store.context()
            let same = try #require(try fetchAll(NSManagedObject.self, "Project", fresh).first)
            #expect(texts(same) == ["3", "5", "0", "1", "2"])
            let extra = fresh.object(with: tasks[4].objectID)
            extra.setValue(same, forKey: "project")
            try fresh.save()
            let third = store.context()
            let last = try #require(try fetchAll(NSManagedObject.self, "Project", third).first)
            #expect(texts(last) == ["3", "5", "0", "1", "2", "4"])
        }
    }

    private func texts(_ project: NSManagedObject) -> [String] {
        (project.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "text") as? String
        } ?? []
    }

    @Test(arguments: [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule, .noActionDeleteRule])
    func deleteRules(_ rule: NSDeleteRule) throws {
        let store = try TestStore(.memory, GraphModel.company(employeesRule: rule))
        let context = store.context()
        try context.performAndWait {
            let department = Department(context: context)
            let people = (0..<3).map { _ in Employee(context: context) }
            for person in people { person.department = department }
            let badge = insert("Badge", context)
            badge.setValue(1, forKey: "number")
            people[0].badge = badge
            try context.save()
            context.delete(department)
            context.processPendingChanges()
            switch rule {
            case .nullifyDeleteRule:
                #expect(people.allSatisfy { $0.department == nil && $0.isUpdated })
                try context.save()
                #expect(try fetchAll(Employee.self, "Employee", store.context()).allSatisfy { $0.department == nil })
            case .cascadeDeleteRule:
                #expect(people.allSatisfy(\.isDeleted) && badge.isDeleted)
                try context.save()
                #expect(try fetchAll(Employee.self, "Employee", store.context()).isEmpty)
                #expect(try fetchAll(NSManagedObject.self, "Badge", store.context()).isEmpty)
            case .denyDeleteRule:
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.code.rawValue == 1600)
                for person in people { person.department = nil }
                try context.save()
                #expect(try fetchAll(Department.self, "Department", store.context()).isEmpty)
            case .noActionDeleteRule:
                #expect(people.allSatisfy { $0.department === department })
                try context.save()
                #expect(try fetchAll(Employee.self, "Employee", store.context()).count == 3)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func aFriendOfItself(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let (a, b) = (Employee(context: context), Employee(context: context))
            a.setValue([a, b] as Set<NSManagedObject>, forKey: "friends")
            a.setValue([b] as Set<NSManagedObject>, forKey: "friends")
            a.setValue([a, b] as Set<NSManagedObject>, forKey: "friends")
            try context.save()
            func friends(_ object: NSManagedObject) throws -> Int {
                let copy = try store.context().existingObject(with: object.objectID)
                return (copy.value(forKey: "friends") as? Set<NSManagedObject>)?.count ?? -1
            }
            #expect(try friends(a) == 2 && friends(b) == 1)
            a.setValue([b] as Set<NSManagedObject>, forKey: "friends")
            try context.save()
            #expect(try friends(a) == 1 && friends(b) == 1)
            // Either end may take the friendship back.
            b.setValue([] as Set<NSManagedObject>, forKey: "friends")
            #expect((a.value(forKey: "friends") as? Set<NSManagedObject>)?.isEmpty == true)
            try context.save()
            #expect(try friends(a) == 0 && friends(b) == 0)
        }
    }
}
