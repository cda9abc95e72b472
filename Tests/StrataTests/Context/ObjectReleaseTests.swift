import CoreData
import Foundation
import Testing

/// Objects and contexts that nobody needs any more are freed.
@Suite struct ObjectReleaseTests {
    /// Employees and badges refer to each other, departments and employees too.
    private func circle(_ context: NSManagedObjectContext) -> [Weak] {
        let employee = Employee(context: context)
        let badge = insert("Badge", context).set(["number": 1])
        let department = Department(context: context)
        let project = insert("Project", context)
        employee.badge = badge
        employee.department = department
        employee.mutableSetValue(forKey: "projects").add(project)
        return [Weak(employee), Weak(badge), Weak(department), Weak(project)]
    }

    final class Weak {
        weak var object: NSManagedObject?
        init(_ object: NSManagedObject) { self.object = object }
    }

    @Test func rolledBackInsertions() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let objects = circle(context)
            context.rollback()
            #expect(objects.allSatisfy { $0.object == nil })
        }
    }

    @Test func insertionsThatAResetForgets() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        context.performAndWait {
            let objects = circle(context)
            context.reset()
            #expect(objects.allSatisfy { $0.object == nil })
        }
    }

    @Test(arguments: [true, false]) func deletedObjects(_ isMerged: Bool) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let objects = circle(context)
            try context.save()
            for object in objects { _ = object.object?.value(forKey: "objectID") }
            if isMerged {
                let other = store.context()
                let saved = SaveRecorder(.NSManagedObjectContextDidSave, other)
                for object in objects {
                    let id = try #require(object.object?.objectID)
                    other.performAndWait { other.delete(other.object(with: id)) }
                }
                // What they refer to is in memory, in a circle.
                _ = (objects[0].object as? Employee)?.badge
                _ = (objects[2].object as? Department)?.employees
                try other.performAndWait { try other.save() }
                context.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, object: other, userInfo: saved.infos.last))
                #expect(!context.deletedObjects.isEmpty)
                try context.save()
            } else {
                for object in objects { if let object = object.object { context.delete(object) } }
                try context.save()
            }
            #expect(objects.allSatisfy { $0.object == nil })
        }
    }

    @Test func insertionsThatNothingIsLeftOf() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try context.performAndWait {
            let objects = circle(context)
            context.processPendingChanges()
            for object in objects { if let object = object.object { context.delete(object) } }
            try context.save()
            #expect(objects.allSatisfy { $0.object == nil })
        }
    }

    @Test func contextsThatAreListenedTo() throws {
        let store = try TestStore(.memory)
        weak var weakContext: NSManagedObjectContext?
        var stream: AsyncStream<ContextChange>?
        do {
            let context = store.shortLivedContext()
            weakContext = context
            context.isObservationEnabled = true
            context.undoManager = UndoManager()
            stream = context.changes()
            try context.performAndWait {
                let employee = Employee(context: context)
                let subscription = employee.objectWillChange.sink { _ in }
                employee.name = "x"
                try context.save()
                employee.name = "y"
                subscription.cancel()
            }
        }
        #expect(weakContext == nil)
        withExtendedLifetime(stream) {}
    }

    @Test func childrenAndTheirParents() throws {
        let store = try TestStore(.memory)
        weak var weakParent: NSManagedObjectContext?
        weak var weakChild: NSManagedObjectContext?
        do {
            let parent = store.shortLivedContext()
            let child = ContextLine.child(of: parent)
            child.automaticallyMergesChangesFromParent = true
            child.undoManager = UndoManager()
            parent.automaticallyMergesChangesFromParent = true
            (weakParent, weakChild) = (parent, child)
            try child.performAndWait {
                let objects = circle(child)
                try child.save()
                withExtendedLifetime(objects) {}
            }
            try parent.performAndWait { try parent.save() }
            child.performAndWait {}
            parent.performAndWait {}
        }
        #expect(weakChild == nil && weakParent == nil)
    }
}
