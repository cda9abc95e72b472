import CoreData
import Foundation
import Synchronization
import Testing

@Suite struct ContextTests {
    @Test(arguments: StoreKind.allCases) func oneObjectForARow(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            try context.save()
            #expect(try fetchAll(Employee.self, "Employee", context)[0] === employee)
            #expect(context.object(with: employee.objectID) === employee)
            #expect(context.registeredObject(for: employee.objectID) === employee)
            #expect(try context.existingObject(with: employee.objectID) === employee)
        }
    }

    @Test func objectsAreRegisteredWeakly() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            for _ in 0..<100 { _ = Employee(context: context) }
            #expect(context.registeredObjects.count == 100)
            try context.save()
            #expect(context.registeredObjects.isEmpty)
            let some = try fetchAll(Employee.self, "Employee", context)
            #expect(context.registeredObjects == Set(some))
        }
        context.performAndWait { #expect(context.registeredObjects.isEmpty) }
    }

    @Test func objectsMayBeReleasedOnAnyThread() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            for _ in 0..<200 { _ = Employee(context: context) }
            try context.save()
        }
        for _ in 0..<20 {
            let objects = try context.performAndWait { try fetchAll(Employee.self, "Employee", context) }
            let shared = Mutex(UncheckedObjects(objects))
            let group = DispatchGroup()
            for _ in 0..<4 {
                DispatchQueue.global().async(group: group) {
                    while let object = shared.withLock({ $0.objects.popLast() }) { _ = consume object }
                }
            }
            // While the others let go, the context looks the same rows up again.
            try context.performAndWait {
                for _ in 0..<3 {
                    let again = try fetchAll(Employee.self, "Employee", context)
                    #expect(again.count == 200 && Set(again.map(\.objectID)).count == 200)
                    for object in again { #expect(object.managedObjectContext === context) }
                }
            }
            group.wait()
        }
    }

    private struct UncheckedObjects: @unchecked Sendable {
        var objects: [NSManagedObject]

        init(_ objects: [NSManagedObject]) {
            self.objects = objects
        }
    }

    @Test func objectsOutliveTheirContext() throws {
        let store = try TestStore(.memory)
        var context: NSManagedObjectContext? = store.shortLivedContext()
        let employee = Employee(context: try #require(context))
        employee.name = "left over"
        let department = Department(context: try #require(context))
        employee.department = department
        context = nil
        #expect(employee.managedObjectContext == nil)
    }

    @Test(arguments: StoreKind.allCases) func conflictsAreDetected(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let first = store.context()
        let second = store.context()
        try first.performAndWait {
            let mine = Employee(context: first)
            mine.name = "start"
            try first.save()
            let theirs = try #require(second.object(with: mine.objectID) as? Employee)
            theirs.name = "theirs"
            mine.age = 50
            try second.save()
            let error = #expect(throws: CocoaError.self) { try first.save() }
            #expect(error?.code.rawValue == 133020)
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            let conflict = try #require(conflicts?.first)
            #expect(conflict.sourceObject === mine && conflict.newVersionNumber > conflict.oldVersionNumber)
            #expect(conflict.cachedSnapshot?["name"] as? String == "theirs")
            #expect(conflict.objectSnapshot?["name"] as? String == "start")
            #expect(mine.age == 50 && mine.isUpdated)
        }
    }

    @Test(arguments: [
        (NSMergePolicyType.overwriteMergePolicyType, "start", 50), (.rollbackMergePolicyType, "theirs", 30),
        (.mergeByPropertyObjectTrumpMergePolicyType, "theirs", 50),
        (.mergeByPropertyStoreTrumpMergePolicyType, "theirs", 30),
    ]) func mergePolicies(_ type: NSMergePolicyType, _ name: String, _ age: Int16) throws {
        let store = try TestStore(.memory)
        let first = store.context()
        let second = store.context()
        first.mergePolicy = NSMergePolicy(merge: type)
        try first.performAndWait {
            let mine = Employee(context: first)
            mine.name = "start"
            try first.save()
            let theirs = try #require(second.object(with: mine.objectID) as? Employee)
            theirs.name = "theirs"
            theirs.age = 30
            mine.age = 50
            try second.save()
            try first.save()
            let stored = try #require(try fetchAll(Employee.self, "Employee", store.context()).first)
            #expect(stored.name == name && stored.age == age)
            #expect(mine.name == name && mine.age == age && !mine.hasChanges)
        }
    }

    @Test func notificationsTellWhatHappened() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let seen = Seen()
        let names: [Notification.Name] = [
            .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange,
            .NSManagedObjectContextDidSaveObjectIDs,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { seen.add($0) }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        try context.performAndWait {
            let a = Employee(context: context)
            let b = Employee(context: context)
            context.processPendingChanges()
            #expect(seen.take(.NSManagedObjectContextObjectsDidChange) == [[NSInsertedObjectsKey: [a, b]]])
            try context.save()
            #expect(
                seen.take(.NSManagedObjectContextDidSave) == [
                    [NSInsertedObjectsKey: [a, b], NSUpdatedObjectsKey: [], NSDeletedObjectsKey: []]
                ])
            #expect(seen.count(.NSManagedObjectContextWillSave) == 1)
            a.age = 1
            context.delete(b)
            context.processPendingChanges()
            let wanted: [String: Set<NSManagedObject>] = [NSUpdatedObjectsKey: [a], NSDeletedObjectsKey: [b]]
            #expect(seen.take(.NSManagedObjectContextObjectsDidChange) == [wanted])
            let id = b.objectID
            try context.save()
            #expect(
                seen.take(.NSManagedObjectContextDidSave) == [wanted.merging([NSInsertedObjectsKey: []]) { a, _ in a }])
            let last = try #require(seen.last(.NSManagedObjectContextDidSaveObjectIDs))
            #expect(last[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [id])
            #expect(seen.take(.NSManagedObjectContextObjectsDidChange).isEmpty)
        }
    }

    /// Notifications as they came.
    final class Seen: @unchecked Sendable {
        // Unchecked: the tests post and read on one queue.
        private var all: [Notification] = []

        func add(_ notification: Notification) { all.append(notification) }

        func count(_ name: Notification.Name) -> Int { all.count { $0.name == name } }

        func last(_ name: Notification.Name) -> [AnyHashable: Any]? { all.last { $0.name == name }?.userInfo }

        func take(_ name: Notification.Name) -> [[String: Set<NSManagedObject>]] {
            defer { all.removeAll { $0.name == name } }
            return all.filter { $0.name == name }.map { notification in
                var sets: [String: Set<NSManagedObject>] = [:]
                for (key, value) in notification.userInfo ?? [:] {
                    if let key = key as? String, let set = value as? Set<NSManagedObject> { sets[key] = set }
                }
                return sets
            }
        }
    }

    @Test func mergingOfOtherContextsSaves() throws {
        let store = try TestStore(.memory)
        let first = store.context()
        let second = store.context()
        second.automaticallyMergesChangesFromParent = true
        try first.performAndWait {
            let department = Department(context: first)
            let employee = Employee(context: first)
            employee.department = department
            try first.save()
            let same = second.performAndWait { second.object(with: department.objectID) as? Department }
            second.performAndWait { #expect(same?.employees.count == 1) }
            let another = Employee(context: first)
            another.department = department
            department.title = "new"
            try first.save()
            second.performAndWait {
                #expect(same?.title == "new")
                #expect(same?.employees.count == 2)
            }
            first.delete(employee)
            try first.save()
            second.performAndWait { #expect(same?.employees.count == 1) }
        }
    }

    @Test func performRunsOnTheQueue() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        struct Refusal: Error {}
        let value = await context.perform { context.performAndWait { 42 } }
        #expect(value == 42)
        await #expect(throws: Refusal.self) { try await context.perform(schedule: .enqueued) { throw Refusal() } }
        #expect(throws: Refusal.self) { try context.performAndWait { throw Refusal() } }
    }

    @Test func keyValueCodingAgreesWithAccessors() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let manager = Manager(context: context)
            let department = Department(context: context)
            manager.setValue("Eve", forKey: "name")
            manager.setValue(33, forKey: "age")
            manager.setValue(2.5, forKey: "bonus")
            manager["department"] = department
            #expect(manager.name == "Eve" && manager.age == 33 && manager.bonus == 2.5)
            #expect(manager.department === department && department.employees == [manager])
            manager.setValue("Sales", forKeyPath: "department.title")
            #expect(manager.value(forKeyPath: "department.title") as? String == "Sales")
            #expect(department.value(forKeyPath: "employees.@count") as? Int == 1)
            #expect(department.value(forKeyPath: "employees.@max.age") as? Int == 33)
            manager.age = 34
            #expect(manager.value(forKey: "age") as? Int16 == 34)
            #expect(manager.primitiveValue(forKey: "age") as? Int == 34)
            // The same accessor serves objects of several entities.
            let employee = Employee(context: context)
            for _ in 0..<3 {
                employee.name = "x"
                manager.name = "y"
                #expect(employee.name == "x" && manager.name == "y")
            }
        }
    }
}
