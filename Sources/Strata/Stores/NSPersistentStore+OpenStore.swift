public import Foundation
import StrataLog
import StrataSupport

extension NSPersistentStore: OpenStore {
    package final func tellDamage(_ error: StoreError, _ object: ObjectRef?) {
        guard let coordinator = persistentStoreCoordinator, let handle else { return }
        var info: [AnyHashable: Any] = [
            StrataDamagedStoreKey: self, StrataDamageErrorKey: StoreFailure.description(error, of: handle) as NSError,
        ]
        if let segment = error.segment {
            info[StrataDamagedFileKey] = LogStore.segmentFileName(segment)
        } else if let path = error.path {
            info[StrataDamagedFileKey] = (path as NSString).lastPathComponent
        }
        info[StrataDamageOffsetKey] = error.offset
        let ids: [NSManagedObjectID] = [object.flatMap { handle.objectID($0) }].compactMap { $0 }
        info[StrataDamagedObjectIDsKey] = ids
        NotificationCenter.default.post(name: .StrataStoreDamage, object: coordinator, userInfo: info)
    }

    package final func tellGrowth(to sequence: UInt64) { tellGrowth(to: sequence, besides: nil) }

    /// Tells the coordinator that the log has grown: who follows the history, and who wants to be notified.
    ///
    /// - Parameter told: a coordinator whose followers have been told.
    final func tellGrowth(to sequence: UInt64, besides told: NSPersistentStoreCoordinator?) {
        guard let coordinator = persistentStoreCoordinator, let handle else { return }
        if coordinator !== told { coordinator.historyWaiters.signal() }
        guard postsRemoteChanges else { return }
        let uuid = handle.identity.uuidString
        coordinator.postRemoteChange([
            NSStoreUUIDKey: uuid, NSPersistentStoreURLKey: coordinator.url(for: self),
            NSPersistentHistoryTokenKey: NSPersistentHistoryToken([uuid: sequence]),
        ])
    }

    package final func tellFollowingFailed() { persistentStoreCoordinator?.historyWaiters.signal() }
}

extension NSPersistentStoreCoordinator {
    /// What of a store could not be read since it was opened: by this coordinator, or by others of the process that
    /// share it.
    ///
    /// - Throws: `CocoaError` 134070 when the store is none of the coordinator's.
    /// - Complexity: O(n) in the damaged locations. May be called on any thread.
    public final func damage(of store: NSPersistentStore) throws -> StoreDamage {
        StoreDamage(try handle(ofOwn: store))
    }
}

extension Notification.Name {
    /// A part of a store could not be read. Posted once for each place, by the thread that met it, possibly from within
    /// the reading of a property. The object is the coordinator; each coordinator of the process that has the store
    /// open posts it.
    ///
    /// The user info has ``StrataDamagedStoreKey``, ``StrataDamageErrorKey``, and where they are known
    /// ``StrataDamagedFileKey``, ``StrataDamageOffsetKey`` and ``StrataDamagedObjectIDsKey``.
    public static let StrataStoreDamage = Notification.Name("StrataStoreDamageNotification")
}

/// The ``NSPersistentStore`` that is damaged.
public let StrataDamagedStoreKey: String = "store"

/// What could not be read and why, an `NSError`.
public let StrataDamageErrorKey: String = "error"

/// The name of the damaged file in the store's directory, a `String`.
public let StrataDamagedFileKey: String = "file"

/// Where the damaged part begins in the file, in bytes, an `Int`.
public let StrataDamageOffsetKey: String = "offset"

/// The objects that the program was reading: `[NSManagedObjectID]`. Others may lie in the same place.
public let StrataDamagedObjectIDsKey: String = "objectIDs"
