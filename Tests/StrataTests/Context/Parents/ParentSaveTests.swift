import CoreData
import Foundation
import Testing

@Suite struct ParentSaveTests {
    // MARK: Identity

    @Test(arguments: StoreKind.allCases) func temporaryIDsAreSharedAndBecomePermanent(_ kind: StoreKind) throws {
        let line = try ContextLine(kind, depth: 3)
        let grandchild = line.contexts[2]
        try grandchild.performAndWait {
            let department = Department(context: grandchild)
            let employee = Employee(context: grandchild)
            employee.name = "x"
            employee.department = department
            let temporary = employee.objectID
            try grandchild.save()
            #expect(employee.objectID == temporary && temporary.isTemporaryID)
            let middle = try line.child.performAndWait {
                let object = try #require(line.child.registeredObject(for: temporary) as? Employee)
                #expect(object.isInserted && object.name == "x" && object.objectID == temporary)
                try line.child.save()
                return object
            }
            try line.root.performAndWait {
                let object = try #require(line.root.registeredObject(for: temporary) as? Employee)
                try line.root.save()
                #expect(!object.objectID.isTemporaryID)
                #expect(middle.objectID == object.objectID)
                #expect(employee.objectID == object.objectID)
            }
            let permanent = employee.objectID
            #expect(grandchild.registeredObject(for: permanent) === employee)
            #expect(grandchild.object(with: permanent) === employee)
            #expect(try grandchild.existingObject(with: permanent) === employee)
            #expect(try fetchAll(Employee.self, "Employee", grandchild) == [employee])
            #expect(employee.department === department && department.employees == [employee])
            grandchild.refresh(employee, mergeChanges: false)
            #expect(employee.department === department && employee.name == "x")
            employee.age = 5
            try grandchild.save()
        }
        try line.saveAll()
        let fresh = line.store.context()
        try fresh.check { () throws in #expect(try fetchAll(Employee.self, "Employee", fresh).map(\.age) == [5]) }
    }

    /// The parent lets go of an object that only the child holds; its own save is no conflict for the child's next one.
    @Test(arguments: StoreKind.allCases) func aChildGoesOnAfterItsParentHasSaved(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        let other = line.store.context()
        try other.check {
            let employee = Employee(context: other)
            employee.name = "held by the child"
            try other.save()
        }
        try child.check {
            let employee = try #require(try fetchAll(Employee.self, "Employee", child).first)
            for age in 1...3 as ClosedRange<Int16> {
                employee.age = age
                try child.save()
                try root.check {
                    try root.save()
                    #expect(root.registeredObjects.isEmpty)
                }
            }
        }
        let fresh = line.store.context()
        try fresh.check { () throws in #expect(try fetchAll(Employee.self, "Employee", fresh).map(\.age) == [3]) }
    }

    @Test(arguments: StoreKind.allCases) func permanentIDsAreObtainedInAChild(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        try child.performAndWait {
            let first = Employee(context: child)
            first.name = "before the save"
            try child.obtainPermanentIDs(for: [first])
            #expect(!first.objectID.isTemporaryID && first.isInserted)
            let second = Employee(context: child)
            second.name = "after the save"
            try child.save()
            #expect(second.objectID.isTemporaryID)
            try child.obtainPermanentIDs(for: [second])
            #expect(!second.objectID.isTemporaryID)
            #expect(child.registeredObject(for: second.objectID) === second)
            root.performAndWait {
                let objects = root.insertedObjects
                #expect(Set(objects.map(\.objectID)) == [first.objectID, second.objectID])
            }
            let ids = [first.objectID, second.objectID]
            try root.performAndWait { try root.save() }
            #expect([first.objectID, second.objectID] == ids)
            let fresh = line.store.context()
            try fresh.check { () throws in
                #expect(Set(try fetchAll(Employee.self, "Employee", fresh).map(\.objectID)) == Set(ids))
            }
        }
    }

    // MARK: Saving

    @Test(arguments: StoreKind.allCases) func changesOfAllKindsGoUp(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        try root.performAndWait {
            let (a, b) = (Department(context: root), Department(context: root))
            (a.title, b.title) = ("a", "b")
            for index in 0..<4 {
                let employee = Employee(context: root)
                employee.name = "e\(index)"
                employee.department = a
            }
            let project = insert("Project", root)
            project.setValue("p", forKey: "code")
            try root.save()
        }
        try child.performAndWait {
            let departments = try fetchAll(Department.self, "Department", child, sort: "title")
            let employees = try fetchAll(Employee.self, "Employee", child, sort: "name")
            let project = try #require(try fetchAll(NSManagedObject.self, "Project", child).first)
            employees[0].department = departments[1]
            employees[1].name = "e1 renamed"
            child.delete(employees[2])
            employees[3].badge = insert("Badge", child)
            employees[3].badge?.setValue(9, forKey: "number")
            employees[0].add(project, to: Employee.projectsSlot)
            employees[1].add(project, to: Employee.projectsSlot)
            project.setValue(
                NSOrderedSet(
                    array: ["y", "x"].map { text in
                        let task = insert("Task", child)
                        task.setValue(text, forKey: "text")
                        return task
                    }), forKey: "tasks")
            try child.save()
            #expect(!child.hasChanges && child.insertedObjects.isEmpty && child.deletedObjects.isEmpty)
            #expect(employees[2].managedObjectContext == nil)
            #expect(employees[1].changedValues().isEmpty)
            #expect(employees[1].committedValues(forKeys: ["name"])["name"] as? String == "e1 renamed")
        }
        func check(_ context: NSManagedObjectContext) throws {
            let departments = try fetchAll(Department.self, "Department", context, sort: "title")
            #expect(departments.map { Set($0.employees.map(\.name)) } == [["e1 renamed", "e3"], ["e0"]])
            let employees = try fetchAll(Employee.self, "Employee", context, sort: "name")
            #expect(employees.map(\.name) == ["e0", "e1 renamed", "e3"])
            #expect(employees[2].badge?.value(forKey: "number") as? Int == 9)
            let project = try #require(try fetchAll(NSManagedObject.self, "Project", context).first)
            #expect((project.value(forKey: "staff") as? Set<NSManagedObject>) == [employees[0], employees[1]])
            let tasks = try #require(project.value(forKey: "tasks") as? NSOrderedSet)
            #expect(tasks.array.map { ($0 as? NSManagedObject)?.value(forKey: "text") as? String } == ["y", "x"])
        }
        try root.performAndWait {
            #expect(root.hasChanges)
            try check(root)
            try root.save()
        }
        try child.performAndWait { try check(child) }
        let fresh = line.store.context()
        try fresh.performAndWait { try check(fresh) }
    }

    @Test(arguments: StoreKind.allCases) func childWinsOverItsParentsUnsavedChanges(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        try root.performAndWait {
            let employee = Employee(context: root)
            employee.name = "start"
            try root.save()
            try child.performAndWait {
                let mine = try #require(child.object(with: employee.objectID) as? Employee)
                mine.name = "child"
                employee.name = "parent"
                employee.age = 40
                try child.save()
                #expect(employee.name == "child" && employee.age == 40)
                #expect(mine.age == 18)
                child.refresh(mine, mergeChanges: true)
                #expect(mine.age == 40)
                // What the parent has deleted stays deleted.
                mine.name = "once more"
                root.delete(employee)
                try child.save()
                #expect(employee.isDeleted)
            }
            try root.save()
            #expect(try root.employeeNames() == [])
        }
    }

    @Test(arguments: StoreKind.allCases) func deleteRulesReachWhatTheChildDidNotKnow(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.company(employeesRule: .cascadeDeleteRule))
        let root = store.context()
        let child = ContextLine.child(of: root)
        try root.performAndWait {
            let department = Department(context: root)
            let known = Employee(context: root)
            known.name = "known"
            known.department = department
            try root.save()
            try child.performAndWait {
                let mine = try #require(child.object(with: department.objectID) as? Department)
                #expect(mine.employees.count == 1)
                let late = Employee(context: root)
                late.name = "late"
                late.department = department
                child.delete(mine)
                try child.save()
                #expect(department.isDeleted && known.isDeleted && late.managedObjectContext == nil)
            }
            try root.save()
            #expect(try root.employeeNames() == [])
        }
    }

    @Test(arguments: StoreKind.allCases) func conflictsAreFoundWhenTheRootSaves(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        let other = line.store.context()
        let id = try root.performAndWait {
            let employee = Employee(context: root)
            employee.name = "start"
            try root.save()
            return employee.objectID
        }
        try child.performAndWait {
            let mine = try #require(child.object(with: id) as? Employee)
            mine.name = "mine"
            try other.performAndWait {
                (other.object(with: id) as? Employee)?.name = "theirs"
                try other.save()
            }
            try child.save()
        }
        try root.performAndWait {
            let error = #expect(throws: CocoaError.self) { try root.save() }
            #expect(error?.code.rawValue == 133020)
            root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try root.save()
        }
        try other.check { () throws in
            other.refreshAllObjects()
            #expect(try other.employeeNames() == ["mine"])
        }
    }

    @Test func whatTheParentHasMergedIsNoConflict() throws {
        let line = try ContextLine(.memory)
        let (root, child) = (line.root, line.child)
        let other = line.store.context()
        let id = try root.performAndWait {
            let employee = Employee(context: root)
            try root.save()
            return employee.objectID
        }
        try child.performAndWait {
            let mine = try #require(child.object(with: id) as? Employee)
            #expect(mine.age == 18)
            let recorder = SaveRecorder(.NSManagedObjectContextDidSave, other)
            try other.performAndWait {
                (other.object(with: id) as? Employee)?.age = 30
                try other.save()
            }
            let info = try #require(recorder.infos.last)
            root.performAndWait {
                root.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, object: other, userInfo: info))
            }
            mine.name = "mine"
            try child.save()
        }
        try root.performAndWait {
            try root.save()
            #expect(try fetchAll(Employee.self, "Employee", root).map(\.age) == [30])
        }
    }

    /// An import through a child that forgets its objects after each part, before or after they are stored.
    @Test(arguments: StoreKind.allCases, [true, false])
    func aChildIsResetBetweenParts(_ kind: StoreKind, savesFirst: Bool) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        var ids: [NSManagedObjectID] = []
        for part in 0..<4 {
            try child.performAndWait { () throws in
                let department = Department(context: child)
                department.title = "d\(part)"
                for index in 0..<3 {
                    let employee = Employee(context: child)
                    employee.name = "\(part) \(index)"
                    employee.department = department
                }
                if part > 0 {
                    let before = try fetchAll(
                        Employee.self, "Employee", child, NSPredicate(format: "name == %@", "\(part - 1) 0"))
                    #expect(before.first?.department?.title == "d\(part - 1)")
                    before.first?.department = department
                }
                try child.save()
            }
            if savesFirst { try root.performAndWait { try root.save() } }
            child.performAndWait { child.reset() }
            if !savesFirst { try root.performAndWait { try root.save() } }
            try child.performAndWait { () throws in
                let employees = try fetchAll(Employee.self, "Employee", child, sort: "name")
                #expect(employees.count == 3 * (part + 1))
                #expect(employees.allSatisfy { !$0.objectID.isTemporaryID && $0.department?.title != nil })
                ids = employees.map(\.objectID)
            }
        }
        let other = line.store.context()
        other.performAndWait {
            let titles = ids.map { (other.object(with: $0) as? Employee)?.department?.title ?? "" }
            #expect(Dictionary(titles.map { ($0, 1) }, uniquingKeysWith: +) == ["d0": 2, "d1": 3, "d2": 3, "d3": 4])
        }
    }

    @Test func validationFailsTheChildsSave() throws {
        let line = try ContextLine(.memory)
        try line.child.check { () throws in
            let badge = insert("Badge", line.child)
            let error = #expect(throws: CocoaError.self) { try line.child.save() }
            #expect(error?.code.rawValue == 1570)
            #expect(badge.isInserted && line.child.hasChanges)
        }
        line.root.performAndWait { #expect(!line.root.hasChanges) }
    }
}
