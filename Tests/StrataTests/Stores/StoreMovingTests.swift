import CoreData
import Foundation
import Synchronization
import Testing

@Suite struct StoreMovingTests {
    private func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("strata-moving-\(UUID().uuidString)")
    }

    /// People with a department, projects and ordered tasks, and a text that lies out of line.
    private func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let department = Department(context: context)
            department.title = String(repeating: "long ", count: 30_000)
            let project = insert("Project", context)
            for number in 1...50 {
                let employee = Employee(context: context)
                employee.name = "E\(number)"
                employee.department = department
                employee.setValue(Set([project]), forKey: "projects")
            }
            let tasks = (1...5).map { number in
                let task = insert("Task", context)
                task.setValue("\(number)", forKey: "text")
                return task
            }
            project.setValue(NSOrderedSet(array: tasks.reversed()), forKey: "tasks")
            try context.save()
        }
    }

    private func check(_ context: NSManagedObjectContext, count: Int = 50) throws {
        try context.performAndWait {
            let department = try #require(try fetchAll(Department.self, "Department", context).first)
            #expect(department.title?.count == 150_000 && department.employees.count == count)
            let project = try #require(try fetchAll(NSManagedObject.self, "Project", context).first)
            #expect((project.value(forKey: "staff") as? Set<NSManagedObject>)?.count == count)
            let tasks = try #require(project.value(forKey: "tasks") as? NSOrderedSet)
            let texts = tasks.compactMap { ($0 as? NSManagedObject)?.value(forKey: "text") as? String }
            #expect(texts == ["5", "4", "3", "2", "1"])
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType])
    func migrationKeepsEverything(_ kind: StoreKind, type: String) throws {
        let store = try TestStore(kind)
        let url = temporaryURL()
        defer { removeStore(at: url) }
        let context = store.context()
        try fill(context)
        store.coordinator.setMetadata(["key": "value"], for: store.store)
        let old = store.store
        let new = try store.coordinator.migratePersistentStore(old, to: url, withType: type)
        #expect(store.coordinator.persistentStores.count == 1 && store.store === new && new !== old)
        #expect(old.persistentStoreCoordinator == nil && new.type == type)
        #expect(new.identifier != old.metadata[NSStoreUUIDKey] as? String)
        #expect(new.metadata["key"] as? String == "value")
        try check(store.context())
        // The context that was there before goes on working, with its objects.
        try context.performAndWait {
            let department = try #require(try fetchAll(Department.self, "Department", context).first)
            #expect(department.objectID.persistentStore === new)
            let employee = Employee(context: context)
            employee.name = "later"
            employee.department = department
            let project = try #require(try fetchAll(NSManagedObject.self, "Project", context).first)
            employee.setValue(Set([project]), forKey: "projects")
            try context.save()
        }
        try check(store.context(), count: 51)
        guard type != NSInMemoryStoreType else { return }
        try store.coordinator.remove(new)
        try store.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        try check(store.context(), count: 51)
    }

    @Test func migrationFromAFileToALog() throws {
        let (from, to) = (temporaryURL(), temporaryURL())
        defer { for url in [from, to] { removeStore(at: url) } }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let store = try coordinator.addPersistentStore(type: .xml, at: from)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try fill(context)
        let new = try coordinator.migratePersistentStore(store, to: to, type: .sqlite)
        #expect(new.type == NSSQLiteStoreType)
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = coordinator
        try check(other)
        try coordinator.remove(new)
    }

    /// Objects are made on the way, by contexts that no program knows.
    @Test func movingAndOpeningPostNothingForContextsThatNobodyMade() throws {
        let (from, to) = (temporaryURL(), temporaryURL())
        defer { for url in [from, to] { removeStore(at: url) } }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let store = try coordinator.addPersistentStore(type: .xml, at: from)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let seen = Mutex<[String]>([])
        let names: [Notification.Name] = [.NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                guard let poster = notification.object as? NSManagedObjectContext, poster !== context,
                    poster.persistentStoreCoordinator === coordinator
                else { return }
                seen.withLock { $0.append(name.rawValue) }
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        try fill(context)
        try coordinator.remove(store)
        let opened = try coordinator.addPersistentStore(type: .xml, at: from)
        let new = try coordinator.migratePersistentStore(opened, to: to, type: .sqlite)
        try coordinator.remove(new)
        #expect(seen.withLock { $0 } == [])
    }

    @Test func migrationToTheSamePlace() throws {
        let store = try TestStore(.log)
        try fill(store.context())
        try store.coordinator.migratePersistentStore(store.store, to: store.url, withType: NSSQLiteStoreType)
        try check(store.context())
        try store.reopen()
        try check(store.context())
    }

    @Test func contextsFollowAMigration() throws {
        let store = try TestStore(.log)
        let url = temporaryURL()
        defer { removeStore(at: url) }
        let context = store.context()
        let employee = try context.performAndWait {
            let employee = Employee(context: context)
            employee.name = "Ada"
            try context.save()
            return employee
        }
        let before = context.performAndWait { employee.objectID }
        let new = try store.coordinator.migratePersistentStore(store.store, to: url, withType: NSSQLiteStoreType)
        try context.performAndWait {
            #expect(employee.objectID != before && employee.objectID.persistentStore === new)
            #expect(context.object(with: employee.objectID) === employee)
            employee.age = 77
            try context.save()
            context.refresh(employee, mergeChanges: false)
            #expect(employee.age == 77 && employee.name == "Ada")
        }
    }

    @Test func replacingTakesACopy() throws {
        let source = try TestStore(.log)
        let target = try TestStore(.log)
        try fill(source.context())
        let uuid = source.store.identifier
        // The source stays open and goes on being written.
        try target.coordinator.replacePersistentStore(
            at: target.url, withPersistentStoreFrom: source.url, ofType: NSSQLiteStoreType)
        #expect(target.coordinator.persistentStores.isEmpty)
        let context = source.context()
        try context.performAndWait {
            Employee(context: context).name = "only in the source"
            try context.save()
        }
        try target.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: target.url)
        #expect(target.store.identifier == uuid)
        try check(target.context())
        let siblings = try FileManager.default.contentsOfDirectory(atPath: target.url.deletingLastPathComponent().path)
        #expect(!siblings.contains { $0.hasPrefix("\(target.url.lastPathComponent).") })
    }

    @Test func replacingByNothingChangesNothing() throws {
        let target = try TestStore(.log)
        try fill(target.context())
        let error = #expect(throws: CocoaError.self) {
            try target.coordinator.replacePersistentStore(
                at: target.url, withPersistentStoreFrom: temporaryURL(), type: .sqlite)
        }
        #expect(error?.code == .fileReadNoSuchFile)
        #expect(target.coordinator.persistentStores.count == 1)
        try check(target.context())
    }

    @Test func aCoordinatorWithoutAModelReplacesAndDestroys() throws {
        let source = try TestStore(.log)
        try fill(source.context())
        let url = temporaryURL()
        defer { removeStore(at: url) }
        let coordinator = NSPersistentStoreCoordinator()
        #expect(coordinator.managedObjectModel.entities.isEmpty)
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: source.url, type: .sqlite)
        let copy = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let store = try copy.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        #expect(store.identifier == source.store.identifier)
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path) == [])
    }

    @Test func destroyingRemovesTheStoreFromItsCoordinator() throws {
        let store = try TestStore(.log)
        try store.coordinator.destroyPersistentStore(at: store.url, type: .sqlite)
        #expect(store.coordinator.persistentStores.isEmpty)
        // As Core Data leaves an empty file, so that clients can remove what is there.
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.url.path) == [])
        try store.coordinator.destroyPersistentStore(at: store.url, type: .sqlite)
        try FileManager.default.removeItem(at: store.url)
        try store.coordinator.destroyPersistentStore(at: store.url, type: .sqlite)
        // Where there was none, too.
        try FileManager.default.removeItem(at: store.url)
        try Data("text".utf8).write(to: store.url)
        let error = #expect(throws: CocoaError.self) {
            try store.coordinator.destroyPersistentStore(at: store.url, type: .sqlite)
        }
        #expect(error?.code == .fileReadCorruptFile)
        #expect(FileManager.default.fileExists(atPath: store.url.path))
    }

    @Test func theURLOfAStoreCanChange() throws {
        let (one, two) = (try TestStore(.log), try TestStore(.log))
        try fill(two.context())
        let store = one.store
        #expect(!one.coordinator.setURL(temporaryURL(), for: store))
        #expect(store.url == one.url)
        let uuid = two.store.identifier
        #expect(one.coordinator.setURL(two.url, for: store))
        #expect(one.coordinator.url(for: store) == two.url && store.identifier == uuid)
        try check(one.context())
    }
}
