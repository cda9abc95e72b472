import CoreData
import Foundation
import Synchronization
import Testing

@Suite struct CoordinatorTests {
    private func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("strata-coordinator-\(UUID().uuidString)")
    }

    /// Two entities, one in each of two configurations, with a relationship between them.
    private func model() -> NSManagedObjectModel {
        let left = GraphModel.entity("Left")
        let right = GraphModel.entity("Right")
        let to = GraphModel.relationship("right", to: right)
        let from = GraphModel.relationship("left", to: left)
        GraphModel.link(to, from)
        left.properties = [GraphModel.attribute("name", .stringAttributeType), to]
        right.properties = [GraphModel.attribute("name", .stringAttributeType), from]
        let model = NSManagedObjectModel()
        model.entities = [left, right]
        model.setEntities([left], forConfigurationName: "L")
        model.setEntities([right], forConfigurationName: "R")
        return model
    }

    /// Rows of two new stores lie at the same places. A fault took the row of the other store when the last one that
    /// was read came from there.
    @Test(arguments: StoreKind.allCases) func faultsTakeTheRowsOfTheirStore(_ kind: StoreKind) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let urls = [temporaryURL(), temporaryURL()]
        defer { for url in urls { removeStore(at: url) } }
        let type = kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType
        for (name, url) in zip(["L", "R"], urls) {
            try coordinator.addPersistentStore(ofType: type, configurationName: name, at: url)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let objects = ["Left", "Right"].map { name in
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                object.setValue(name, forKey: "name")
                return object
            }
            try context.save()
            context.refreshAllObjects()
            #expect(objects.map { $0.value(forKey: "name") as? String } == ["Left", "Right"])
            context.refreshAllObjects()
            #expect(objects.reversed().map { $0.value(forKey: "name") as? String } == ["Right", "Left"])
        }
    }

    @Test(arguments: StoreKind.allCases) func configurationsSortObjectsIntoStores(_ kind: StoreKind) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let urls = [temporaryURL(), temporaryURL()]
        defer { for url in urls { removeStore(at: url) } }
        let type = kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType
        let left = try coordinator.addPersistentStore(ofType: type, configurationName: "L", at: urls[0])
        let right = try coordinator.addPersistentStore(ofType: type, configurationName: "R", at: urls[1])
        #expect(left.configurationName == "L" && coordinator.persistentStores == [left, right])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let one = NSEntityDescription.insertNewObject(forEntityName: "Left", into: context)
            let two = NSEntityDescription.insertNewObject(forEntityName: "Right", into: context)
            try context.save()
            #expect(one.objectID.persistentStore === left && two.objectID.persistentStore === right)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Left")
            request.affectedStores = [right]
            #expect(try context.fetch(request).isEmpty)
            request.affectedStores = [left]
            #expect(try context.fetch(request) == [one])
            one.setValue(two, forKey: "right")
            var code: CocoaError.Code?
            do { try context.save() } catch let error as CocoaError { code = error.code }
            #expect(code == .managedObjectExternalRelationship)
            context.rollback()
            #expect(one.value(forKey: "right") == nil)
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test func objectsGoToTheStoreTheyAreAssignedTo() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let objects = (0..<4).map { _ in Employee(context: context) }
            for (index, object) in objects.enumerated() { context.assign(object, to: stores[index % 2]) }
            try context.save()
            for (index, object) in objects.enumerated() {
                #expect(object.objectID.persistentStore === stores[index % 2])
            }
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 4)
        }
    }

    /// New objects of two stores were related, and a reference named what has the same key in the other store. So did
    /// links between objects that were saved already.
    @Test(arguments: StoreKind.allCases, [true, false])
    func relationshipsDoNotLeadToAnotherStore(_ kind: StoreKind, _ areSaved: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let urls = [temporaryURL(), temporaryURL()]
        defer { for url in urls { removeStore(at: url) } }
        let type = kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType
        let stores = try urls.map { try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: $0) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let relationships = [("department", "Department"), ("badge", "Badge"), ("projects", "Project")]
        try context.performAndWait {
            for (name, entity) in relationships {
                let person = insert("Employee", context)
                let other = insert(entity, context)
                if entity == "Badge" { other.setValue(1, forKey: "number") }
                // The store that is written first has either end.
                context.assign(person, to: name == "badge" ? stores[1] : stores[0])
                context.assign(other, to: name == "badge" ? stores[0] : stores[1])
                if areSaved { try context.save() }
                person.setValue(name == "projects" ? NSSet(object: other) : other, forKey: name)
                #expect(saveError(context)?.code == .managedObjectExternalRelationship)
                person.setValue(name == "projects" ? NSSet() : nil, forKey: name)
                try context.save()
                #expect(person.objectID.persistentStore !== other.objectID.persistentStore)
            }
        }
        let fresh = NSManagedObjectContext(.privateQueue)
        fresh.persistentStoreCoordinator = coordinator
        try fresh.performAndWait {
            let people = try fetchAll(Employee.self, "Employee", fresh)
            #expect(people.count == 3)
            for person in people {
                #expect(person.value(forKey: "department") == nil && person.value(forKey: "badge") == nil)
                #expect((person.value(forKey: "projects") as? NSSet)?.count == 0)
            }
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test func errorsOfOpeningAreCoreDatas() throws {
        let model = GraphModel.company()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        func code(_ url: URL?, configuration: String? = nil, _ options: [AnyHashable: Any]? = nil) -> Int? {
            do {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: configuration, at: url, options: options)
                return nil
            } catch {
                #expect((error as NSError).domain == NSCocoaErrorDomain)
                return (error as NSError).code
            }
        }
        let url = temporaryURL()
        defer { removeStore(at: url) }
        #expect(code(url, [NSReadOnlyPersistentStoreOption: true]) == CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(code(url.appendingPathComponent("a/b")) == CocoaError.Code.fileWriteUnknown.rawValue)
        try Data("SQLite format 3".utf8).write(to: url)
        #expect(code(url) == CocoaError.Code.fileReadCorruptFile.rawValue)
        try FileManager.default.removeItem(at: url)
        #expect(code(url, configuration: "Nonsense") == NSPersistentStoreOpenError)
        #expect(code(url) == nil)
        #expect(code(url) == 134_081)
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: temporaryURL())
        }
        #expect(error?.code == .fileReadNoSuchFile)
        try coordinator.remove(coordinator.persistentStores[0])
    }

    @Test func anIncompatibleModelIsToldWithTheMetadata() throws {
        let store = try TestStore(.log)
        try store.coordinator.remove(store.store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.everything())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
        }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        let metadata = try #require(error?.userInfo["metadata"] as? [String: Any])
        #expect(store.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(error?.userInfo["reason"] != nil)
    }

    @Test func readOnlyStoresRefuseToSave() throws {
        let store = try TestStore(.log)
        try store.coordinator.remove(store.store)
        let opened = try store.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        #expect(opened.isReadOnly)
        let context = store.context()
        context.performAndWait {
            let employee = Employee(context: context)
            #expect(throws: CocoaError.self) { try context.save() }
            context.delete(employee)
        }
        let other = try TestStore(.memory)
        let second = other.context()
        try second.performAndWait {
            let employee = Employee(context: second)
            try second.save()
            other.store.isReadOnly = true
            employee.age = 3
            let error = #expect(throws: CocoaError.self) { try second.save() }
            #expect(error?.code == .fileWriteNoPermission)
            other.store.isReadOnly = false
            try second.save()
        }
    }

    @Test func coordinatorsOfAProcessShareAStore() throws {
        let store = try TestStore(.log)
        let other = NSPersistentStoreCoordinator(managedObjectModel: store.model)
        let second = try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
        #expect(second.identifier == store.store.identifier)
        let one = store.context()
        let two = NSManagedObjectContext(.privateQueue)
        two.persistentStoreCoordinator = other
        let (mine, id) = try one.performAndWait {
            let employee = Employee(context: one)
            employee.name = "Ada"
            try one.save()
            return (employee, employee.objectID)
        }
        try two.performAndWait {
            let employee = try #require(try two.existingObject(with: id) as? Employee)
            #expect(employee.name == "Ada")
            employee.age = 5
            try two.save()
        }
        one.performAndWait {
            mine.age = 6
            let error = #expect(throws: CocoaError.self) { try one.save() }
            #expect(error?.code == .managedObjectMerge)
        }
        try store.coordinator.remove(store.store)
        // The other coordinator's store stays open.
        try two.performAndWait {
            Employee(context: two).name = "Bob"
            try two.save()
        }
        try other.remove(second)
    }

    /// Removing a store announced a change of stores beforehand, for which programs save and reset their contexts: Core
    /// Data does that for ubiquitous stores only.
    @Test func notificationsTellWhichStoresCameAndWent() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let seen = Mutex<[String]>([])
        let observers = [
            Notification.Name.NSPersistentStoreCoordinatorStoresDidChange,
            .NSPersistentStoreCoordinatorStoresWillChange,
        ].map { name in
            NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { notification in
                let info = notification.userInfo ?? [:]
                let added = (info[NSAddedPersistentStoresKey] as? [NSPersistentStore])?.count ?? 0
                let removed = (info[NSRemovedPersistentStoresKey] as? [NSPersistentStore])?.count ?? 0
                let changed = (info[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore])?.count ?? 0
                let isWill = name == .NSPersistentStoreCoordinatorStoresWillChange
                seen.withLock { $0.append("\(isWill ? "will" : "did") +\(added) -\(removed) ~\(changed)") }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let new = try coordinator.migratePersistentStore(
            store, to: URL(fileURLWithPath: "/dev/null"), withType: NSInMemoryStoreType)
        try coordinator.remove(new)
        #expect(seen.withLock { $0 } == ["did +1 -0 ~0", "did +1 -1 ~2", "did +0 -1 ~0"])
    }

    @Test func metadataOfAClosedStore() throws {
        let store = try TestStore(.log)
        try store.coordinator.remove(store.store)
        try NSPersistentStoreCoordinator.setMetadata(["key": 5], type: .sqlite, at: store.url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
        #expect(metadata["key"] as? Int == 5 && metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(try NSPersistentStore.metadataForPersistentStore(with: store.url)["key"] as? Int == 5)
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: "Nonsense", at: store.url)
        }
        #expect(error?.code == .persistentStoreInvalidType)
    }

    @Test func blocksRunOnTheCoordinatorsQueue() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        coordinator.name = "main"
        #expect(coordinator.name == "main")
        let value = try await coordinator.perform { try coordinator.performAndWait { try Self.five() } }
        #expect(value == 5)
        await #expect(throws: CocoaError.self) {
            try await coordinator.perform { throw CocoaError(.coderInvalidValue) }
        }
    }

    private static func five() throws -> Int { 5 }
}
