import CoreData
import Foundation
import Testing

@Suite struct FaultingTests {
    /// A saved company: one department of three, the first with a badge.
    private func company(_ store: TestStore) throws -> (department: NSManagedObjectID, employees: [NSManagedObjectID]) {
        let context = store.context()
        return try context.performAndWait {
            let department = Department(context: context)
            let people = (0..<3).map { index in
                let person = Employee(context: context)
                person.name = "p\(index)"
                person.department = department
                return person
            }
            people[0].badge = make("Badge", context, ["number": 1])
            try context.save()
            return (department.objectID, people.map(\.objectID))
        }
    }

    @Test(arguments: StoreKind.allCases) func safeAccessesFireNoFault(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        context.performAndWait {
            let person = context.object(with: ids.employees[0])
            let department = context.object(with: ids.department)
            _ = (person.objectID, person.entity, person.managedObjectContext, person.hash, person.isInserted)
            _ = (person.isUpdated, person.isDeleted, person.hasChanges, person.hasPersistentChangedValues)
            #expect(person.isEqual(person) && !person.isEqual(department) && person.faultingState == 1)
            #expect(person.description.contains("data: <fault>)"))
            #expect(person.hasFault(forRelationshipNamed: "department"))
            #expect(person.hasFault(forRelationshipNamed: "projects"))
            #expect(person.objectIDs(forRelationshipNamed: "department") == [ids.department])
            #expect(person.objectIDs(forRelationshipNamed: "projects").isEmpty)
            #expect(Set(department.objectIDs(forRelationshipNamed: "employees")) == Set(ids.employees))
            #expect(person.changedValues().isEmpty)
            #expect(person.isFault && department.isFault && department.hasFault(forRelationshipNamed: "employees"))
            #expect(context.registeredObjects == [person, department])
        }
    }

    @Test(arguments: StoreKind.allCases) func relationshipFaultsAreSeparate(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        try context.performAndWait {
            let department = try #require(context.object(with: ids.department) as? Department)
            #expect(department.budget == 7 && !department.isFault)
            #expect(department.hasFault(forRelationshipNamed: "employees"))
            let people = department.employees
            #expect(!department.hasFault(forRelationshipNamed: "employees"))
            #expect(people.count == 3 && people.allSatisfy(\.isFault))
            let person = try #require(people.first)
            #expect(person.department === department)
            context.refresh(department, mergeChanges: false)
            #expect(department.isFault && department.hasFault(forRelationshipNamed: "employees"))
            #expect(person.hasFault(forRelationshipNamed: "department"))
            #expect(department.employees == people)
            let new = Employee(context: context)
            new.department = department
            person.department = nil
            let wanted = people.subtracting([person]).union([new])
            #expect(Set(department.objectIDs(forRelationshipNamed: "employees")) == Set(wanted.map(\.objectID)))
            #expect(!new.hasFault(forRelationshipNamed: "projects"))
        }
    }

    /// Foundation's description of such dates stops the program.
    @Test(arguments: [Double.nan, .infinity, -1e300]) func objectsWithDatesThatAreNoneAreDescribed(
        _ seconds: Double
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.everything())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(Date(timeIntervalSinceReferenceDate: seconds), forKey: "date")
            #expect(thing.description.contains("date = "))
        }
    }

    @Test(arguments: StoreKind.allCases) func descriptionIsCoreDatas(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        try context.performAndWait {
            let person = try #require(context.object(with: ids.employees[0]) as? Employee)
            #expect(person.name == "p0")
            let text = person.description
            let uri = person.objectID.uriRepresentation().absoluteString
            #expect(text.hasPrefix("<Employee: 0x") && text.contains("(entity: Employee; id: 0x"))
            #expect(text.contains("<\(uri)>; data: {") && text.contains("name = p0;") && text.contains("age = 18;"))
            #expect(text.contains("<relationship fault: 'projects'>") && text.contains("nickname = nil;"))
            #expect(text.contains(ids.department.uriRepresentation().absoluteString))
            #expect(person.hasFault(forRelationshipNamed: "projects"))
            #expect("\(person.objectID)".hasSuffix(" <\(uri)>"))
        }
    }

    @Test(arguments: StoreKind.allCases) func refreshKeepsPendingRelationships(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let department = try #require(context.object(with: ids.department) as? Department)
            let people = try ids.employees.map { try #require(context.object(with: $0) as? Employee) }
            #expect(department.employees.count == 3)
            people[0].department = nil
            let new = Employee(context: context)
            new.department = department
            try other.performAndWait {
                let elsewhere = try #require(other.object(with: ids.department) as? Department)
                elsewhere.title = "renamed"
                Employee(context: other).department = elsewhere
                try other.save()
            }
            context.refresh(department, mergeChanges: true)
            #expect(department.title == "renamed" && department.employees.count == 4)
            #expect(department.employees.contains(new) && !department.employees.contains(people[0]))
            context.refresh(people[0], mergeChanges: true)
            #expect(people[0].department == nil && people[0].isUpdated)
            context.refresh(people[0], mergeChanges: false)
            #expect(people[0].isFault && !people[0].hasChanges && people[0].department === department)
            // Inserted objects have nothing to be refreshed from, and give up what they have.
            context.refresh(new, mergeChanges: true)
            #expect(new.isInserted && new.department === department && !new.isFault)
            context.refresh(new, mergeChanges: false)
            #expect(new.isInserted && new.isFault && new.department == nil && !department.employees.contains(new))
        }
    }

    @Test(arguments: StoreKind.allCases) func refreshBreaksCircles(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        weak var weakPerson: Employee?
        weak var weakDepartment: Department?
        func hold() {
            let person = context.object(with: ids.employees[0]) as? Employee
            #expect(person?.department?.employees.count == 3)
            weakPerson = person
            weakDepartment = person?.department
        }
        context.performAndWait {
            hold()
            #expect(weakPerson != nil && weakDepartment != nil)
            context.refreshAllObjects()
            #expect(weakPerson == nil && weakDepartment == nil)
            #expect(context.registeredObjects.isEmpty)
            context.retainsRegisteredObjects = true
            weakPerson = context.object(with: ids.employees[0]) as? Employee
            #expect(weakPerson != nil)
            context.retainsRegisteredObjects = false
            #expect(weakPerson == nil)
        }
    }

    /// What is asked about inaccessible faults.
    final class AskedContext: NSManagedObjectContext, @unchecked Sendable {
        var asked: [String] = []

        override func shouldHandleInaccessibleFault(
            _ fault: NSManagedObject, for objectID: NSManagedObjectID,
            triggeredByProperty property: NSPropertyDescription?
        ) -> Bool {
            asked.append(property?.name ?? "?")
            return super.shouldHandleInaccessibleFault(fault, for: objectID, triggeredByProperty: property)
        }
    }

    @Test(arguments: StoreKind.allCases) func aRowThatIsGoneReadsAsNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = AskedContext(.privateQueue)
        context.persistentStoreCoordinator = store.coordinator
        let other = store.context()
        try context.performAndWait {
            let person = try #require(context.object(with: ids.employees[0]) as? Employee)
            let second = try #require(context.object(with: ids.employees[1]) as? Employee)
            try other.performAndWait {
                for id in ids.employees[0...1] { other.delete(other.object(with: id)) }
                try other.save()
            }
            #expect(person.isFault && !person.isDeleted)
            #expect(
                person.age == 0 && person.name == "" && person.department == nil && person.value(forKey: "age") == nil)
            #expect(person.isDeleted && !person.isFault && context.deletedObjects == [person])
            #expect(context.asked == ["age"])
            #expect(throws: CocoaError.self) { try context.existingObject(with: ids.employees[1]) }
            #expect(second.department == nil)
            #expect(context.asked == ["age", "department"] || context.asked.count == 2)
            try context.save()
            #expect(!context.hasChanges && person.managedObjectContext == nil && person.age == 0)
        }
    }

    @Test func inaccessibleFaultsStopIfWanted() async {
        await #expect(processExitsWith: .failure) {
            let store = try TestStore(.memory)
            let context = store.context()
            context.shouldDeleteInaccessibleFaults = false
            let person = Employee(context: context)
            try context.save()
            let other = store.context()
            other.delete(other.object(with: person.objectID))
            try other.save()
            context.refresh(person, mergeChanges: false)
            _ = person.name
        }
    }

    @Test(arguments: StoreKind.allCases) func mergedDeletionsReadAsNothing(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        let other = store.context()
        try context.performAndWait {
            let person = try #require(context.object(with: ids.employees[0]) as? Employee)
            let seen = SaveNotifications(other)
            other.delete(other.object(with: ids.employees[0]))
            try other.save()
            for notification in seen.all { context.mergeChanges(fromContextDidSave: notification) }
            #expect(person.isDeleted && person.name == "" && person.department == nil)
            #expect(context.registeredObject(for: ids.employees[0]) === person)
            try context.save()
            #expect(person.managedObjectContext == nil && person.name == "" && person.department == nil)
            #expect(context.registeredObject(for: ids.employees[0]) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func faultsOfARemovedStoreReadAsEmpty(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        try context.performAndWait {
            let person = try #require(context.object(with: ids.employees[0]) as? Employee)
            let realized = try #require(context.object(with: ids.employees[1]) as? Employee)
            #expect(realized.name == "p1")
            let department = context.object(with: ids.department)
            try store.coordinator.remove(store.store)
            #expect(ids.department.persistentStore == nil)
            // They are not taken for deleted: the store may have them.
            #expect(realized.name == "p1" && person.name == "" && !person.isDeleted)
            #expect(department.value(forKey: "employees") as? Set<Employee> == [])
            #expect(throws: CocoaError.self) { try context.existingObject(with: ids.employees[2]) }
            realized.age = 3
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    @Test(arguments: StoreKind.allCases) func objectsOutliveTheirContext(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        var context: NSManagedObjectContext? = store.shortLivedContext()
        let person = try #require(context?.object(with: ids.employees[0]) as? Employee)
        #expect(person.name == "p0" && person.department != nil)
        person.age = 50
        let new = context.map { Employee(context: $0) }
        new?.name = "new"
        new?.department = person.department
        context = nil
        #expect(person.managedObjectContext == nil && person.name == "p0" && person.age == 50)
        #expect(new?.name == "new" && new?.department == nil)
        #expect(person.department?.objectID == ids.department)
        #expect(person.objectID == ids.employees[0])
    }

    @Test func resetLetsObjectsGo() throws {
        let store = try TestStore(.memory)
        let ids = try company(store)
        let context = store.context()
        context.performAndWait {
            let person = context.object(with: ids.employees[0])
            #expect(person.value(forKey: "name") as? String == "p0")
            context.retainsRegisteredObjects = true
            context.reset()
            #expect(person.managedObjectContext == nil && context.registeredObjects.isEmpty && !person.isFault)
            let again = context.object(with: ids.employees[0])
            #expect(again !== person && again.value(forKey: "name") as? String == "p0")
            #expect(context.stalenessInterval == -1)
        }
    }

    @Test(arguments: StoreKind.allCases) func objectsAreReleasedOnAnyThread(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        struct Box: @unchecked Sendable {
            // Unchecked: the thread that gets it only lets it go.
            let objects: [NSManagedObject]
        }
        let queue = DispatchQueue(label: "releases", attributes: .concurrent)
        let group = DispatchGroup()
        for _ in 0..<2_000 {
            let box = context.performAndWait { Box(objects: ids.employees.map { context.object(with: $0) }) }
            queue.async(group: group) { _ = box.objects.count }
        }
        group.wait()
        context.performAndWait {
            let objects = ids.employees.map { context.object(with: $0) }
            #expect(Set(objects).count == 3 && objects.allSatisfy { $0.value(forKey: "name") != nil })
            #expect(context.registeredObjects == Set(objects))
        }
    }

    @Test(arguments: StoreKind.allCases) func rowsAreUnique(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let ids = try company(store)
        let context = store.context()
        try context.performAndWait {
            let person = context.object(with: ids.employees[0])
            let fetched = try fetchAll(Employee.self, "Employee", context)
            #expect(fetched.contains { $0 === person })
            #expect(try context.existingObject(with: ids.employees[0]) === person)
            #expect(context.registeredObject(for: ids.employees[0]) === person)
            let department = try #require(context.object(with: ids.department) as? Department)
            #expect(department.employees.contains { $0 === person })
            #expect(person.value(forKey: "department") as? Department === department)
        }
    }
}
