import CoreData
import Foundation
import Testing

/// A container that would mirror its store is one of a machine without an account.
@Suite struct CloudKitContainerTests {
    private typealias Event = NSPersistentCloudKitContainer.Event

    private func events(
        of container: NSPersistentCloudKitContainer, while body: () -> Void
    ) -> [Event] {
        nonisolated(unsafe) var events: [Event] = []
        let token = NotificationCenter.default.addObserver(
            forName: NSPersistentCloudKitContainer.eventChangedNotification, object: container, queue: nil
        ) { note in
            if let event = note.userInfo?[NSPersistentCloudKitContainer.eventNotificationUserInfoKey] as? Event {
                events.append(event)
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        body()
        return events
    }

    @Test func aStoreThatWouldBeMirroredIsALocalOneAndItsSetupFails() throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("strata-cloud-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let container = NSPersistentCloudKitContainer(name: "Company", managedObjectModel: GraphModel.company())
        let description = NSPersistentStoreDescription(url: directory.appendingPathComponent("cloud.sqlite"))
        let options = NSPersistentCloudKitContainerOptions(containerIdentifier: "iCloud.org.example.company")
        description.cloudKitContainerOptions = options
        #expect((description.copy() as? NSPersistentStoreDescription)?.cloudKitContainerOptions === options)
        container.persistentStoreDescriptions = [description]
        let events = events(of: container) {
            container.loadPersistentStores { _, error in #expect(error == nil) }
        }
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(events.map(\.type) == [.setup, .setup] && events.map(\.succeeded) == [false, false])
        #expect(events.map { $0.endDate == nil } == [true, false] && events[0].error == nil)
        #expect((events.last?.error as NSError?)?.code == 134400)
        #expect(events.last?.error?.localizedDescription.contains("iCloud.org.example.company") == true)
        #expect(events[0].identifier == events[1].identifier && events[0].storeIdentifier == store.identifier)
        // Mirroring needs the history, so programs that read it find it.
        #expect(store.options?[NSPersistentHistoryTrackingKey] as? Bool == true)

        let context = container.newBackgroundContext()
        try context.performAndWait {
            let ada = Employee(context: context)
            ada.name = "Ada"
            try context.save()
            #expect(container.canUpdateRecord(forManagedObjectWith: ada.objectID))
            #expect(container.canDeleteRecord(forManagedObjectWith: ada.objectID))
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            let transactions = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.count == 1)
        }
        #expect(container.canModifyManagedObjects(in: store))
        let failure = #expect(throws: CocoaError.self) { try container.initializeCloudKitSchema(options: [.dryRun]) }
        #expect(failure?.code.rawValue == 134400)
        try container.persistentStoreCoordinator.remove(store)
    }

    @Test func storesThatNothingWouldMirrorHaveNoEvents() {
        let container = NSPersistentCloudKitContainer(name: "Company", managedObjectModel: GraphModel.company())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        let events = events(of: container) {
            container.loadPersistentStores { _, error in #expect(error == nil) }
        }
        #expect(events.isEmpty && container.persistentStoreCoordinator.persistentStores.count == 1)
    }
}
