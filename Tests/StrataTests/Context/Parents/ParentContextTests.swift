import CoreData
import Foundation
import Testing

@Suite struct ParentContextTests {
    // MARK: Reading

    @Test(arguments: StoreKind.allCases) func childSeesWhatTheParentHasNotSaved(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        let (ids, inserted): ([String: NSManagedObjectID], NSManagedObjectID) = try root.performAndWait {
            for name in ["a", "b", "c"] { Employee(context: root).name = name }
            try root.save()
            let all = try fetchAll(Employee.self, "Employee", root, sort: "name")
            all[0].name = "a, changed"
            all[0].age = 77
            root.delete(all[1])
            let new = Employee(context: root)
            new.name = "new"
            return (Dictionary(uniqueKeysWithValues: zip(["a", "b", "c"], all.map(\.objectID))), new.objectID)
        }
        try child.performAndWait {
            #expect(try child.employeeNames() == ["a, changed", "c", "new"])
            let (idOfA, idOfB) = (try #require(ids["a"]), try #require(ids["b"]))
            let a = try #require(try child.existingObject(with: idOfA) as? Employee)
            #expect(a.age == 77 && !a.hasChanges && a.managedObjectContext === child)
            let new = try #require(try child.existingObject(with: inserted) as? Employee)
            #expect(new.name == "new" && new.objectID == inserted && new.objectID.isTemporaryID && !new.isInserted)
            #expect(child.object(with: inserted) === new && child.registeredObject(for: inserted) === new)
            let error = #expect(throws: CocoaError.self) { try child.existingObject(with: idOfB) }
            #expect(error?.code.rawValue == 133000)
        }
    }

    @Test(arguments: StoreKind.allCases) func nothingIsStoredUntilTheRootSaves(_ kind: StoreKind) throws {
        let line = try ContextLine(kind, depth: 3)
        let grandchild = line.contexts[2]
        let other = line.store.context()
        try grandchild.performAndWait {
            let employee = Employee(context: grandchild)
            employee.name = "deep"
            #expect(try line.child.performAndWait { try line.child.employeeNames() } == [])
            try grandchild.save()
            #expect(!grandchild.hasChanges && !employee.isInserted && employee.name == "deep")
        }
        try line.child.performAndWait {
            #expect(line.child.hasChanges && line.child.insertedObjects.count == 1)
            #expect(try line.child.employeeNames() == ["deep"])
            #expect(try line.root.performAndWait { try line.root.employeeNames() } == [])
            try line.child.save()
        }
        try line.root.check { () throws in
            #expect(line.root.hasChanges)
            #expect(try line.root.employeeNames() == ["deep"])
        }
        try other.check { () throws in #expect(try other.employeeNames() == []) }
        try line.root.performAndWait { try line.root.save() }
        try other.check { () throws in #expect(try other.employeeNames() == ["deep"]) }
    }

    @Test(arguments: StoreKind.allCases) func relationshipsAreReadThroughParents(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        let (saved, unsaved, projectID): (NSManagedObjectID, NSManagedObjectID, NSManagedObjectID) =
            try root.performAndWait {
                let department = Department(context: root)
                department.title = "saved"
                for index in 0..<3 {
                    let employee = Employee(context: root)
                    employee.name = "s\(index)"
                    employee.department = department
                }
                let project = insert("Project", root)
                project.setValue(
                    NSOrderedSet(
                        array: (0..<4).map { index in
                            let task = insert("Task", root)
                            task.setValue("t\(index)", forKey: "text")
                            return task
                        }), forKey: "tasks")
                try root.save()
                let new = Department(context: root)
                new.title = "unsaved"
                for employee in try fetchAll(Employee.self, "Employee", root, sort: "name").prefix(2) {
                    employee.department = new
                }
                let tasks = try #require(project.value(forKey: "tasks") as? NSOrderedSet)
                project.setValue(NSOrderedSet(array: tasks.array.reversed()), forKey: "tasks")
                return (department.objectID, new.objectID, project.objectID)
            }
        try child.performAndWait {
            let old = try #require(child.object(with: saved) as? Department)
            let new = try #require(child.object(with: unsaved) as? Department)
            #expect(new.count(of: Department.employeesSlot) == 2)
            #expect(old.employees.map(\.name) == ["s2"] && new.title == "unsaved")
            #expect(Set(new.employees.map(\.name)) == ["s0", "s1"])
            let first = try #require(try fetchAll(Employee.self, "Employee", child, sort: "name").first)
            #expect(first.department === new)
            #expect(try child.employeeNames(NSPredicate(format: "department == %@", new)) == ["s0", "s1"])
            #expect(try child.employeeNames(NSPredicate(format: "department.title == 'saved'")) == ["s2"])
            let tasks = try #require(child.object(with: projectID).value(forKey: "tasks") as? NSOrderedSet)
            #expect(
                tasks.array.map { ($0 as? NSManagedObject)?.value(forKey: "text") as? String }
                    == ["t3", "t2", "t1", "t0"])
        }
    }

    @Test(arguments: StoreKind.allCases) func everyTypeComesThrough(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let root = store.context()
        let child = ContextLine.child(of: root)
        let values: [String: Any] = [
            "bool": NSNumber(value: true), "int16": Int16(-3), "int32": Int32(70_000), "int64": Int64(1) << 40,
            "float": Float(1.5),
            "double": 2.25, "decimal": NSDecimalNumber(string: "12345678901234567890.5"), "string": "text",
            "data": Data(repeating: 7, count: 300_000), "date": Date(timeIntervalSinceReferenceDate: 12),
            "uuid": UUID(), "uri": try #require(URL(string: "https://example.org/a")), "list": ["a", "b"],
        ]
        func check(_ object: NSManagedObject) {
            for (key, value) in values {
                #expect(object.value(forKey: key) as? AnyHashable == value as? AnyHashable, "\(key)")
            }
        }
        let id = try child.performAndWait {
            let thing = insert("Thing", child)
            thing.setValuesForKeys(values)
            try child.save()
            check(thing)
            child.refresh(thing, mergeChanges: false)
            #expect(thing.isFault)
            check(thing)
            return thing.objectID
        }
        try root.performAndWait {
            check(root.object(with: id))
            try root.save()
        }
        try child.performAndWait {
            let thing = child.object(with: id)
            #expect(!thing.objectID.isTemporaryID)
            child.refresh(thing, mergeChanges: false)
            check(thing)
            thing.setValue(Data(repeating: 8, count: 200_000), forKey: "data")
            thing.setValue(nil, forKey: "string")
            try child.save()
        }
        try root.performAndWait { try root.save() }
        let fresh = store.context()
        try fresh.performAndWait {
            let thing = try #require(try fetchAll(NSManagedObject.self, "Thing", fresh).first)
            #expect((thing.value(forKey: "data") as? Data) == Data(repeating: 8, count: 200_000))
            #expect(thing.value(forKey: "string") == nil && thing.value(forKey: "double") as? Double == 2.25)
        }
    }

    @Test(arguments: StoreKind.allCases) func resultsOfAllKindsOverUnsavedLevels(_ kind: StoreKind) throws {
        let line = try ContextLine(kind)
        let (root, child) = (line.root, line.child)
        try root.performAndWait {
            for index in 0..<6 { Employee(context: root).name = "e\(index)" }
            try root.save()
            Employee(context: root).name = "e6"
        }
        try child.performAndWait {
            let mine = Employee(context: child)
            mine.name = "e35"
            for employee in try fetchAll(Employee.self, "Employee", child) where employee.name == "e1" {
                child.delete(employee)
            }
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            request.predicate = NSPredicate(format: "name > 'e0'")
            #expect(try child.fetch(request).map(\.name) == ["e6", "e5", "e4", "e35", "e3", "e2"])
            #expect(try child.count(for: request) == 6)
            request.fetchOffset = 1
            request.fetchLimit = 3
            #expect(try child.fetch(request).map(\.name) == ["e5", "e4", "e35"])
            #expect(try child.count(for: request) == 3)
            request.includesPendingChanges = false
            #expect(try child.fetch(request).map(\.name) == ["e5", "e4", "e3"])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
            ids.resultType = .managedObjectIDResultType
            ids.predicate = NSPredicate(format: "name IN {'e6', 'e35'}")
            #expect(try child.fetch(ids).allSatisfy(\.isTemporaryID) && child.fetch(ids).count == 2)
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Employee")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["name"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            // Dictionaries are made of what is stored, however many contexts lie between.
            #expect(
                try child.fetch(dictionaries).compactMap { $0["name"] as? String }
                    == ["e0", "e1", "e2", "e3", "e4", "e5"])
            let count = NSFetchRequest<NSNumber>(entityName: "Employee")
            count.resultType = .countResultType
            #expect(try child.fetch(count) == [7])
        }
    }
}
