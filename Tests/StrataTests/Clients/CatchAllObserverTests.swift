import CoreData
import Foundation
import Testing

/// An observer of everything, as loggers are: Linux's Foundation gave it typed messages, which stopped the program.
@Suite struct CatchAllObserverTests {
    /// In a process of its own, where nobody has listened for typed messages.
    @Test func hearsNotifications() async {
        await #expect(processExitsWith: .success) {
            nonisolated(unsafe) var names: Set<Notification.Name> = []
            let observer = NotificationCenter.default.addObserver(forName: nil, object: nil, queue: nil) { note in
                names.insert(note.name)
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            let store = try TestStore(.memory)
            let context = store.context()
            try context.performAndWait { () throws in
                Employee(context: context).name = "a"
                try context.save()
            }
            #expect(
                names.isSuperset(of: [
                    .NSPersistentStoreCoordinatorStoresDidChange, .NSManagedObjectContextObjectsDidChange,
                    .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
                    .NSManagedObjectContextDidSaveObjectIDs,
                ]))
        }
    }
}
