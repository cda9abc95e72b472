import CoreData
import Foundation
import Testing

@Suite(.serialized) struct IncrementalStoreTests {
    /// Two departments' worth of people that the service has from the beginning.
    private func service() -> Service {
        let service = Service()
        service.rows["D"] = Service.Row(
            entity: "Department", values: ["title": "Research", "budget": 100], toMany: ["employees": ["E1", "E2"]])
        service.rows["E1"] = Service.Row(
            entity: "Employee", values: ["name": "Ada", "age": 36], toOne: ["department": "D"])
        service.rows["E2"] = Service.Row(
            entity: "Employee", values: ["name": "Bob", "age": 50], toOne: ["department": "D"])
        return service
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func fetchesAndFaultsGoThroughTheStore() throws {
        let service = service()
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", context, sort: "name")
            #expect(people.map(\.name) == ["Ada", "Bob"])
            #expect(people.map(\.age) == [36, 50])
            #expect(people[0] === context.object(with: people[0].objectID))
            let department = try #require(people[0].department)
            #expect(department.isFault)
            #expect(department.title == "Research" && department.budget == 100)
            #expect(department.employees == Set(people))
            #expect(service.calls.contains("fetch Employee") && service.calls.contains("values D"))
            #expect(service.calls.contains("relationship employees of D"))
            #expect(
                people[0].objectID.uriRepresentation().absoluteString == "x-coredata://\(service.uuid)/Employee/pE1")
            #expect(people[0].objectID.persistentStore is ServiceStore)
        }
    }

    @Test func membersThatTheNodeHasAreNotAskedFor() throws {
        let service = service()
        service.nodesHaveMembers = true
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let context = context(coordinator)
        try context.performAndWait {
            let department = try #require(fetchAll(Department.self, "Department", context).first)
            // Of a fault, too.
            #expect(department.employees.map(\.name).sorted() == ["Ada", "Bob"])
            #expect(!service.calls.contains("relationship employees of D"))
            service.rows["D"]?.toMany["employees"] = ["E2"]
            service.rows["D"]?.version += 1
            context.refresh(department, mergeChanges: false)
            #expect(department.employees.map(\.name) == ["Bob"])
            department.employees.removeAll()
            try context.save()
        }
        let second = self.context(coordinator)
        try second.performAndWait { () throws in
            #expect(try fetchAll(Department.self, "Department", second).first?.employees.isEmpty == true)
        }
    }

    @Test func aToOneThatTheNodeLacksIsAskedForWithIt() throws {
        let service = service()
        service.rows["E1"]?.toOne = [:]
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait { () throws in
            let ada = try #require(fetchAll(Employee.self, "Employee", context, sort: "name").first)
            #expect(ada.name == "Ada" && service.calls.contains("relationship department of E1"))
            #expect(ada.department == nil)
        }
    }

    @Test func temporaryIDsAreNoPermanentOnes() throws {
        let service = service()
        service.keepsTemporaryIDs = true
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        context.performAndWait {
            Employee(context: context).name = "Cyd"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .persistentStoreSave)
            #expect(error?.localizedDescription.contains("1 of them temporary") == true)
            #expect(context.hasChanges)
        }
    }

    @Test func aStoresOwnErrorsComeAsTheyAre() throws {
        let service = service()
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait {
            service.saveErrors = [NSError(domain: "service", code: 42, userInfo: ["extra": 7])]
            Employee(context: context).name = "Cyd"
            let error = #expect(throws: (any Error).self) { try context.save() }
            let plain = try #require(error) as NSError
            #expect(plain.domain == "service" && plain.code == 42 && plain.userInfo["extra"] as? Int == 7)
        }
    }

    @Test func predicatesLimitsAndCounts() throws {
        let service = service()
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait { () throws in
            let old = NSPredicate(format: "age > %@", 40)
            #expect(try fetchAll(Employee.self, "Employee", context, old).map(\.name) == ["Bob"])
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            #expect(try context.count(for: request) == 2)
            request.predicate = old
            #expect(try context.count(for: request) == 1)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
            ids.resultType = .managedObjectIDResultType
            #expect(
                Set(try context.fetch(ids).map { "\($0.uriRepresentation().lastPathComponent)" }) == ["pE1", "pE2"])
            // Unsaved changes are laid over what the store says.
            let new = Employee(context: context)
            new.name = "Cyd"
            new.age = 60
            #expect(try fetchAll(Employee.self, "Employee", context, old, sort: "name").map(\.name) == ["Bob", "Cyd"])
            #expect(try context.count(for: request) == 2)
            request.fetchLimit = 1
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
            #expect(try context.fetch(request).map(\.name) == ["Cyd"])
        }
    }

    @Test func savesGoThroughTheStore() throws {
        let service = service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let context = context(coordinator)
        try context.performAndWait {
            let bob = try #require(try fetchAll(Employee.self, "Employee", context, sort: "name").last)
            let department = try #require(bob.department)
            let new = Employee(context: context)
            new.name = "Cyd"
            new.department = department
            bob.age = 51
            try context.save()
            #expect(!new.objectID.isTemporaryID && !new.isInserted && !context.hasChanges)
            #expect(new.objectID.uriRepresentation().lastPathComponent == "pEmployee-1")
            #expect(service.calls.last { $0.hasPrefix("save") } == "save 1 2 0")
            #expect(service.rows["Employee-1"]?.values["name"] as? String == "Cyd")
            #expect(service.rows["Employee-1"]?.toOne["department"] == "D")
            #expect(Set(service.rows["D"]?.toMany["employees"] ?? []) == ["E1", "E2", "Employee-1"])
            #expect(service.rows["E2"]?.values["age"] as? Int == 51)
            context.delete(bob)
            try context.save()
            #expect(service.rows["E2"] == nil)
        }
        let other = self.context(coordinator)
        try other.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", other, sort: "name")
            #expect(people.map(\.name) == ["Ada", "Cyd"])
            #expect(people[1].department?.title == "Research")
        }
    }

    /// The store was asked for members of what it was just being told to insert, about which it knows nothing.
    @Test func aStoreIsNotAskedForMembersOfAnInsertion() throws {
        let service = service()
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait {
            let department = Department(context: context)
            Employee(context: context).department = department
            try context.save()
            let row = try #require(service.rows.first { $0.value.entity == "Department" && $0.key != "D" })
            #expect(row.value.toMany["employees"]?.count == 1)
            let early = Department(context: context)
            try context.obtainPermanentIDs(for: [early])
            #expect(early.employees.isEmpty && early.objectIDs(forRelationshipNamed: "employees").isEmpty)
            #expect(early.isInserted)
            #expect(!service.calls.contains { $0.hasPrefix("relationship") })
            context.refresh(department, mergeChanges: false)
            #expect(department.employees.count == 1)
            #expect(service.calls.contains("relationship employees of \(row.key)"))
        }
    }

    @Test func aFailedSaveChangesNothing() throws {
        let service = service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let context = context(coordinator)
        try context.performAndWait {
            let ada = try #require(try fetchAll(Employee.self, "Employee", context, sort: "name").first)
            ada.age = 37
            service.saveErrors = [CocoaError(.persistentStoreTimeout)]
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .persistentStoreTimeout)
            #expect(ada.isUpdated && ada.age == 37)
            try context.save()
            #expect(service.rows["E1"]?.values["age"] as? Int == 37)
        }
    }

    @Test func conflictsBetweenContextsAreResolvedByPolicy() throws {
        let service = service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let (one, two) = (context(coordinator), context(coordinator))
        let first = try one.performAndWait { try fetchAll(Employee.self, "Employee", one, sort: "name")[0] }
        let second = try two.performAndWait { try fetchAll(Employee.self, "Employee", two, sort: "name")[0] }
        two.performAndWait { #expect(second.age == 36) }
        try one.performAndWait {
            first.age = 40
            try one.save()
        }
        try two.performAndWait {
            second.name = "Countess"
            second.age = 41
            let error = #expect(throws: CocoaError.self) { try two.save() }
            #expect(error?.code == .managedObjectMerge)
            two.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try two.save()
            #expect(second.age == 40 && second.name == "Countess")
            #expect(service.rows["E1"]?.values["age"] as? Int == 40)
        }
    }

    @Test func conflictsThatTheStoreReportsAreResolvedByPolicy() throws {
        let service = service()
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait {
            let ada = try #require(try fetchAll(Employee.self, "Employee", context, sort: "name").first)
            ada.age = 40
            // Somebody else has changed the name at the service, which only the service can know.
            service.rows["E1"]?.values["name"] = "Countess"
            service.rows["E1"]?.version = 2
            let conflict = NSMergeConflict(
                source: ada, newVersion: 2, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
            let error = CocoaError(
                .managedObjectMerge, userInfo: [NSPersistentStoreSaveConflictsErrorKey: [conflict]])
            service.saveErrors = [error]
            var code: CocoaError.Code?
            do { try context.save() } catch let error as CocoaError { code = error.code }
            #expect(code == .managedObjectMerge && ada.isUpdated)
            service.saveErrors = [error]
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(ada.name == "Countess" && ada.age == 40)
            #expect(service.rows["E1"]?.values["name"] as? String == "Countess")
            #expect(service.rows["E1"]?.values["age"] as? Int == 40)
        }
    }

    @Test func aNewVersionIsAConflict() throws {
        let service = service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let (one, two) = (context(coordinator), context(coordinator))
        let ada = try one.performAndWait {
            let ada = try fetchAll(Employee.self, "Employee", one, sort: "name")[0]
            ada.age = 40
            return ada
        }
        service.rows["E1"]?.version = 9
        try two.performAndWait { () throws in
            #expect(try fetchAll(Employee.self, "Employee", two, sort: "name")[0].age == 36)
        }
        one.performAndWait {
            let error = #expect(throws: CocoaError.self) { try one.save() }
            #expect(error?.code == .managedObjectMerge && ada.isUpdated)
        }
    }

    @Test func anObjectIsAskedForOnce() throws {
        let service = service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let context = context(coordinator)
        try context.performAndWait {
            let store = try #require(coordinator.persistentStores.first as? ServiceStore)
            let entity = try #require(coordinator.managedObjectModel.entitiesByName["Employee"])
            let id = store.newObjectID(for: entity, referenceObject: "E1")
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            #expect(ada.name == "Ada" && ada.age == 36)
            let asked = { service.calls.filter { $0.hasPrefix("values") } }
            #expect(asked() == ["values E1"])
            context.refresh(ada, mergeChanges: false)
            #expect(ada.age == 36)
            #expect(asked() == ["values E1", "values E1"])
        }
    }

    @Test func refreshingAsksAgain() throws {
        let service = service()
        let context = context(try ServiceStore.make(GraphModel.company(), service))
        try context.performAndWait {
            let ada = try #require(try fetchAll(Employee.self, "Employee", context, sort: "name").first)
            #expect(ada.age == 36)
            service.rows["E1"]?.values["age"] = 99
            service.rows["E1"]?.version = 2
            #expect(ada.age == 36)
            context.refresh(ada, mergeChanges: false)
            #expect(ada.isFault && ada.age == 99)
            service.rows["E2"] = nil
            // Results stay until the block ends.
            context.reset()
            let bob = try #require(
                context.persistentStoreCoordinator?.managedObjectID(
                    forURIRepresentation: URL(string: "x-coredata://\(service.uuid)/Employee/pE2")!))
            let error = #expect(throws: CocoaError.self) { try context.existingObject(with: bob) }
            #expect(error?.code == .managedObjectReferentialIntegrity)
        }
    }

    @Test func childContextsWorkOverTheStore() throws {
        let service = service()
        let parent = context(try ServiceStore.make(GraphModel.company(), service))
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", child, sort: "name")
            #expect(people.map(\.name) == ["Ada", "Bob"])
            let department = try #require(people[0].department)
            #expect(department.employees == Set(people))
            people[0].age = 70
            let new = Employee(context: child)
            new.name = "Cyd"
            new.department = department
            try child.save()
            #expect(service.rows["E1"]?.values["age"] as? Int == 36)
        }
        try parent.performAndWait {
            try parent.save()
            #expect(service.rows["E1"]?.values["age"] as? Int == 70)
            #expect(service.rows["D"]?.toMany["employees"]?.count == 3)
        }
    }

    /// A child's fetch asked the store, and saw nothing of what its parents had not saved.
    @Test(arguments: [true, false]) func aChildFetchesWhatItsParentsHaveNotSaved(_ isGrandchild: Bool) throws {
        let service = service()
        let root = context(try ServiceStore.make(GraphModel.company(), service))
        let middle = NSManagedObjectContext(.privateQueue)
        middle.parent = root
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = isGrandchild ? middle : root
        try root.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", root, sort: "name")
            people[0].name = "Eve"
            root.delete(people[1])
            Employee(context: root).name = "Cyd"
            Department(context: root).title = "Sales"
        }
        try child.performAndWait { () throws in
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            #expect(try child.fetch(request).map(\.name) == ["Cyd", "Eve"])
            #expect(try child.count(for: request) == 2)
            request.includesPendingChanges = false
            let dan = Employee(context: child)
            dan.name = "Dan"
            #expect(try child.fetch(request).map(\.name) == ["Cyd", "Eve"])
            request.includesPendingChanges = true
            request.predicate = NSPredicate(format: "name != 'Eve'")
            request.fetchLimit = 1
            request.fetchOffset = 1
            #expect(try child.fetch(request) == [dan])
        }
    }

    @Test func theStoreHearsOfRegistration() throws {
        let service = service()
        let coordinator = try ServiceStore.make(GraphModel.company(), service)
        let context = context(coordinator)
        try context.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", context)
            #expect(service.registered == ["E1", "E2"] && people.count == 2)
        }
        // Results stay until the block ends.
        #expect(service.registered.isEmpty)
    }

    @Test func referenceObjectsAndIDsAreOne() throws {
        let coordinator = try ServiceStore.make(GraphModel.company(), service())
        let store = try #require(coordinator.persistentStores.first as? ServiceStore)
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Employee"])
        let id = store.newObjectID(for: entity, referenceObject: "x/y z")
        #expect(id == store.newObjectID(for: entity, referenceObject: "x/y z" as NSString))
        #expect(id != store.newObjectID(for: entity, referenceObject: 7))
        #expect(store.referenceObject(for: id) as? String == "x/y z")
        #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        let number = store.newObjectID(for: entity, referenceObject: NSNumber(value: 7))
        #expect(number.uriRepresentation().lastPathComponent == "p7")
        #expect(coordinator.managedObjectID(for: number.uriRepresentation().absoluteString) == number)
    }

    @Test func classesAreRegisteredByType() throws {
        NSPersistentStoreCoordinator.registerStoreClass(
            ServiceStore.self, type: NSPersistentStore.StoreType(rawValue: "Passing"))
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Passing"]?.storeClass == ServiceStore.self)
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Passing")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Passing"] == nil)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: "Passing", configurationName: nil, at: nil)
        }
        #expect(error?.code == .persistentStoreInvalidType)
    }
}
