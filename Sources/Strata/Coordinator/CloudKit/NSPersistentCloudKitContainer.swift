public import Foundation
import StrataSchema

/// The container of programs that mirror their stores to CloudKit. Its stores stay local, as on a machine without an
/// iCloud account.
///
/// There is no CloudKit on Linux, and nothing is mirrored. As on a device whose user has not signed in, stores load and
/// keep their history, and the setup of mirrored stores fails: ``eventChangedNotification`` reports it, with error
/// 134400. Members that take or return CloudKit's own types are not declared.
///
/// Thread rule: as ``NSPersistentContainer``.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {
    /// Posted by the container when the setup of a store begins and when it has failed. The user info has the ``Event``
    /// under ``eventNotificationUserInfoKey``.
    public class var eventChangedNotification: NSNotification.Name {
        NSNotification.Name("NSPersistentCloudKitContainerEventChangedNotification")
    }
    /// The key of the event in the notification's user info.
    public class var eventNotificationUserInfoKey: String { "event" }

    /// As ``NSPersistentContainer/loadPersistentStores(completionHandler:)``. Stores whose description has
    /// ``NSPersistentStoreDescription/cloudKitContainerOptions`` record their history, as mirroring needs it; after the
    /// block has been called for one, the container posts that its setup has failed.
    override open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions where description.cloudKitContainerOptions != nil {
            if description.options[NSPersistentHistoryTrackingKey] == nil {
                description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
            }
        }
        super.loadPersistentStores { [self] description, error in
            block(description, error)
            guard error == nil, let options = description.cloudKitContainerOptions, let url = description.url,
                let store = persistentStoreCoordinator.persistentStore(for: url)
            else { return }
            postFailedSetup(of: store, options)
        }
    }

    private func postFailedSetup(of store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions) {
        let begun = Event(.setup, of: store.identifier ?? "", error: nil)
        let failure = Self.noAccount(
            "The store at \(store.url?.path ?? "an unknown place") is not mirrored to the container"
                + " \(options.containerIdentifier): there is no CloudKit on Linux. It is a local store.")
        for event in [begun, begun.ended(with: failure)] {
            NotificationCenter.default.post(
                name: Self.eventChangedNotification, object: self,
                userInfo: [Self.eventNotificationUserInfoKey: event])
        }
    }

    private static func noAccount(_ text: String) -> any Error {
        DescribedError(CocoaError.Code(rawValue: 134400), userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// Would make the model's record types in the development environment.
    ///
    /// - Throws: always, `CocoaError` 134400: there is no CloudKit to make them in.
    open func initializeCloudKitSchema(
        options: NSPersistentCloudKitContainerSchemaInitializationOptions = []
    ) throws {
        throw Self.noAccount("The schema cannot be initialized: there is no CloudKit on Linux.")
    }

    /// Whether the object's record may be changed: always, as nobody else owns it.
    open func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { true }

    /// Whether the object's record may be deleted: always, as nobody else owns it.
    open func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { true }

    /// Whether objects may be inserted into the store and changed there.
    open func canModifyManagedObjects(in store: NSPersistentStore) -> Bool { !store.isReadOnly }
}

extension NSPersistentCloudKitContainer {
    /// What a container does with a store at a time.
    public enum EventType: Int, Sendable {
        /// It prepares the store for mirroring.
        case setup
        /// It fetches what other devices have changed.
        case `import`
        /// It sends what this device has changed.
        case export
    }

    /// What has become of one step of mirroring. Immutable, and safe to use from any thread.
    public final class Event: NSObject, NSCopying, @unchecked Sendable {
        // Unchecked: the error is any; it is never changed.

        /// Names the step. Both notifications of one step have the same.
        public let identifier: UUID
        /// The `identifier` of the store.
        public let storeIdentifier: String
        /// What was done.
        public let type: EventType
        /// When it began.
        public let startDate: Date
        /// When it ended; nil until then.
        public let endDate: Date?
        /// Whether it has ended well.
        public var succeeded: Bool { endDate != nil && error == nil }
        /// Why it has not.
        public let error: (any Error)?

        init(
            _ type: EventType, of store: String, identifier: UUID = UUID(), from start: Date = Date(),
            to end: Date? = nil, error: (any Error)?
        ) {
            self.identifier = identifier
            storeIdentifier = store
            self.type = type
            startDate = start
            endDate = end
            self.error = error
        }

        func ended(with error: any Error) -> Event {
            Event(type, of: storeIdentifier, identifier: identifier, from: startDate, to: Date(), error: error)
        }

        /// The event itself, which never changes.
        public func copy(with zone: NSZone? = nil) -> Any { self }
    }
}
