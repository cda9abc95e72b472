import CoreData
import Foundation
import Synchronization
import Testing

/// What is left of NSManagedObjectContext: settings, queues, subclasses.
@Suite struct ContextRowsTests {
    private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
        var saves = 0
        var handled: [NSManagedObjectID] = []

        override func save() throws {
            saves += 1
            try super.save()
        }

        override func shouldHandleInaccessibleFault(
            _ fault: NSManagedObject, for objectID: NSManagedObjectID,
            triggeredByProperty property: NSPropertyDescription?
        ) -> Bool {
            handled.append(objectID)
            return true
        }
    }

    @Test func subclassesOverride() throws {
        let store = try TestStore(.memory)
        let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.shouldDeleteInaccessibleFaults = false
        let other = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            try context.save()
            #expect(context.saves == 1)
            context.refresh(employee, mergeChanges: false)
            try other.performAndWait {
                other.delete(other.object(with: employee.objectID))
                try other.save()
            }
            #expect(employee.name == "" && context.handled == [employee.objectID])
        }
    }

    @Test func settingsAreCoded() throws {
        let context = NSManagedObjectContext(.mainQueue)
        context.name = "editor"
        context.transactionAuthor = "app"
        context.stalenessInterval = 3
        context.shouldDeleteInaccessibleFaults = false
        context.userInfo["key"] = "value"
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        context.encode(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let copy = try #require(NSManagedObjectContext(coder: unarchiver))
        #expect(copy.concurrencyType == .mainQueueConcurrencyType && copy.name == "editor")
        #expect(copy.transactionAuthor == "app" && copy.stalenessInterval == 3)
        #expect(!copy.shouldDeleteInaccessibleFaults && copy.propagatesDeletesAtEndOfEvent)
        #expect(copy.persistentStoreCoordinator == nil && context.userInfo["key"] as? String == "value")
    }

    @Test func performThrowsReturnsAndNests() async throws {
        struct Refused: Error {}
        let store = try TestStore(.memory)
        let context = store.context()
        let number = context.performAndWait { context.performAndWait { 42 } }
        #expect(number == 42)
        #expect(throws: Refused.self) { try context.performAndWait { throw Refused() } }
        await #expect(throws: Refused.self) { try await context.perform { throw Refused() } }
        let order = Mutex<[Int]>([])
        context.performAndWait {
            context.perform { order.withLock { $0.append(2) } }
            order.withLock { $0.append(1) }
        }
        let text = await context.perform(schedule: .enqueued) { "\(order.withLock { $0 })" }
        #expect(text == "[1, 2]")
        #expect(NSManagedObjectContext.ScheduledTaskType.immediate != .enqueued)
    }

    @Test func objectsGoToTheStoreThatTheyAreAssignedTo() throws {
        let store = try TestStore(.memory)
        let second = try store.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let root = store.context()
        let child = ContextLine.child(of: root)
        try child.performAndWait {
            let (first, other) = (Employee(context: child), Employee(context: child))
            let badge = insert("Badge", child)
            badge.setValue(1, forKey: "number")
            other.badge = badge
            child.assign(other, to: second)
            child.assign(badge, to: second)
            try child.save()
            try root.performAndWait { try root.save() }
            #expect(first.objectID.persistentStore === store.store)
            #expect(other.objectID.persistentStore === second && badge.objectID.persistentStore === second)
            child.refreshAllObjects()
            #expect(other.badge === badge && first.badge == nil)
        }
    }

    @Test func aChangeToldByAnObserverMarksTheObject() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let employee = Employee(context: context)
            try context.save()
            #expect(!employee.hasChanges)
            context.observeValue(forKeyPath: "name", of: employee, change: nil, context: nil)
            #expect(employee.isUpdated && employee.changedValues().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func anOrderThatWasSetSurvivesRefreshing(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let project = insert("Project", context)
            let tasks = (0..<4).map { _ in insert("Task", context) }
            project.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            try context.save()
            let wanted = [tasks[2], tasks[0], insert("Task", context), tasks[3], tasks[1]]
            project.setValue(NSOrderedSet(array: wanted), forKey: "tasks")
            context.refresh(project, mergeChanges: true)
            #expect((project.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject] == wanted)
            context.refreshAllObjects()
            try context.save()
            let fresh = store.context()
            let copy = try #require(try fetchAll(NSManagedObject.self, "Project", fresh).first)
            let order = (copy.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject]
            #expect(order?.map(\.objectID) == wanted.map(\.objectID))
        }
    }
}
