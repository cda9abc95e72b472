import Foundation
import StrataLog

// What a context does when something cannot be read where nothing can be thrown: in a property of an object. It reads
// as empty, the store says so (see ``StoreHandle/recordDamage(_:object:value:)``), and as the program may have copied
// what it read, or concluded something from it, the context is not saved until that is given up.
extension NSManagedObjectContext {
    // MARK: Taking note

    /// Remembers that an object could not be read, and why. It reads as empty.
    final func recordUnreadable(_ object: NSManagedObject, because error: any Error) {
        object.flags.insert([.unreadable, .realized])
        recordUnread(object.objectID, error)
    }

    /// As ``recordUnreadable(_:because:)`` for an error of the engine, which the store takes note of, too.
    ///
    /// - Parameter value: the large value that was to be read.
    final func recordUnreadable(_ object: NSManagedObject, _ error: StoreError, value: ExternalValue? = nil) {
        guard let handle = registry.handle(object.storeIndex) else { return }
        object.flags.insert(.unreadable)
        handle.recordDamage(error, object: object.ref, value: value)
        recordUnread(object.objectID, StoreFailure.description(error, of: handle))
    }

    /// An object's store has been removed from the coordinator.
    final func recordRemoved(_ object: NSManagedObject, _ handle: StoreHandle) {
        handle.reportReadAfterRemoval()
        recordUnreadable(object, because: StoreFailure.removed(handle.path))
    }

    /// Something of an object could not be read.
    final func recordUnread(_ objectID: NSManagedObjectID, _ error: any Error) {
        readTrouble.errors[objectID] = error
        recordReadFailure(error)
    }

    /// Something of no object could not be read: what runs at the moment throws the error.
    final func recordReadFailure(_ error: any Error) {
        readTrouble.record(error)
    }

    // MARK: Telling

    /// Fires an object's fault.
    ///
    /// - Throws: why it cannot be read. An object that was a fault stays one: as the program hears of it, the context
    ///   may be saved.
    final func realizeOrThrow(_ object: NSManagedObject) throws {
        let isFirst = object.isUnread && (readTrouble.errors.isEmpty || readTrouble.errors[object.objectID] == nil)
        if object.isUnread { object.realize() }
        guard object.flags.contains(.unreadable), let error = readTrouble.errors[object.objectID] else { return }
        if isFirst, !object.flags.contains(.listed) {
            object.flags.subtract([.realized, .unreadable])
            readTrouble.errors[object.objectID] = nil
        }
        throw error
    }

    /// Runs something that can throw and that reads objects.
    ///
    /// - Throws: why one of them could not be read.
    package final func throwingReadFailures<R>(_ body: () throws -> R) throws -> R {
        let before = readTrouble.count
        let result = try body()
        if readTrouble.count != before, let error = readTrouble.last { throw error }
        return result
    }

    /// Refuses a save: what reads as empty may have been copied into it.
    ///
    /// - Throws: `CocoaError` 134030 with what could not be read first as its underlying error.
    final func refuseUnread() throws {
        guard let (first, error) = readTrouble.errors.first else { return }
        let which = readTrouble.errors.count == 1 ? "\(first)" : "\(first) and \(readTrouble.errors.count - 1) others"
        throw DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The context cannot be saved: it has read objects as empty that could not be read (\(which)): "
                    + "\((error as NSError).localizedDescription) After rollback() or reset() it can.",
                NSUnderlyingErrorKey: error as NSError, StrataDamagedObjectIDsKey: Array(readTrouble.errors.keys),
            ])
    }

    /// Gives up what could not be read, with everything that the program may have made of it: the objects are faults
    /// again.
    final func forgetUnread() {
        guard !readTrouble.errors.isEmpty else { return }
        readTrouble.errors = [:]
        for object in registry.all where object.flags.contains(.unreadable) {
            object.turnIntoFault(keepingChanges: false)
        }
    }

    /// The error of an object whose store has been removed; nil for one that can be read, or that only its parent has.
    final func removalError(of object: NSManagedObject) -> (any Error)? {
        guard let handle = registry.handle(object.storeIndex), handle.isDetached else { return nil }
        return StoreFailure.removed(handle.path)
    }

    // MARK: Fetching

    /// Refuses a request that would go by the values of objects that could not be read.
    ///
    /// - Parameter needsObjects: whether any object may be asked, not only changed ones.
    final func refuseUnread(_ plan: FetchPlan, needsObjects: Bool) throws {
        if readTrouble.errors.isEmpty { return }
        if needsObjects, let error = readTrouble.errors.first?.value { throw error }
        guard plan.includesPendingChanges else { return }
        for object in pipeline.changed where object.flags.contains(.unreadable) && object.shape.isKind(of: plan.shape) {
            if let error = readTrouble.errors[object.objectID] { throw error }
        }
    }

    /// Refuses results whose rows lie in places that could not be read.
    ///
    /// - Throws: the store's error for the first row that still cannot be read.
    final func checkDamage(_ matches: [FetchMatch]) throws {
        for (index, handle) in registry.handles.enumerated() where !handle.log.damage.isEmpty {
            guard let snapshot = snapshot(of: handle) else { continue }
            let refs = matches.lazy.filter { $0.object == nil && Int($0.storeIndex) == index + 1 }.map(\.ref)
            try handle.checkDamage(of: refs, in: snapshot)
        }
    }
}
