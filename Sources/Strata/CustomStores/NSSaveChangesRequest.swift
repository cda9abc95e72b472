public import Foundation

/// What a context asks a store to save.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// The objects to be inserted. They have their permanent IDs.
    open var insertedObjects: Set<NSManagedObject>? { inserted }
    private let inserted: Set<NSManagedObject>?
    /// The objects to be changed.
    open var updatedObjects: Set<NSManagedObject>? { updated }
    private let updated: Set<NSManagedObject>?
    /// The objects to be deleted.
    open var deletedObjects: Set<NSManagedObject>? { deleted }
    private let deleted: Set<NSManagedObject>?
    /// Objects that are not changed but must not have been changed by others either.
    open var lockedObjects: Set<NSManagedObject>? { locked }
    private let locked: Set<NSManagedObject>?

    /// Whether there is nothing to be saved or locked.
    final var isEmpty: Bool {
        [inserted, updated, deleted, locked].allSatisfy { $0?.isEmpty ?? true }
    }

    /// Creates a request. Saves make their own; a program needs this to test a store.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        inserted = insertedObjects
        updated = updatedObjects
        deleted = deletedObjects
        locked = lockedObjects
        super.init()
    }

    /// The kind of request.
    override open var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// A copy with the same objects.
    override open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(
            inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
        copy.affectedStores = affectedStores
        return copy
    }
}
