public import Foundation
import StrataLog
import StrataSupport

/// A store whose rows come from anywhere: a service, a file format, a database. Subclass it, register the class with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)` and add a store of that type.
///
/// A subclass overrides ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and ``obtainPermanentIDs(for:)``. Its methods are called one at a
/// time, on the thread of whichever context needs something.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    // Unchecked: it has no state of its own.

    /// Reads the metadata, when the store is being added. A subclass overrides it and sets
    /// ``NSPersistentStore/metadata`` with at least `NSStoreUUIDKey` and `NSStoreTypeKey`; this one takes the UUID from
    /// ``identifierForNewStore(at:)``.
    open override func loadMetadata() throws {
        guard metadata.isEmpty else { return }
        let identifier = Swift.type(of: self).identifierForNewStore(at: url ?? URL(fileURLWithPath: "/dev/null"))
        metadata = [NSStoreUUIDKey: "\(identifier)", NSStoreTypeKey: type]
    }

    /// Executes a fetch or a save.
    ///
    /// - Parameters:
    ///   - request: an ``NSFetchRequest``, an ``NSSaveChangesRequest`` or another request that the context was asked to
    ///     execute.
    ///   - context: the context that asks.
    /// - Returns: for a fetch, what its result type says: objects (from `context.object(with:)`), IDs, dictionaries, or
    ///   one number. For a save, an empty array.
    /// - Throws: what the save or fetch throws then. For conflicts, error 133020 with ``NSMergeConflict``s under
    ///   `NSPersistentStoreSaveConflictsErrorKey`, which the context's merge policy is asked about.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw DescribedError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [NSLocalizedDescriptionKey: "\(Swift.type(of: self)) does not override execute(_:with:)."])
    }

    /// The values of an object whose fault fires: attributes, and to-one relationships as IDs or `NSNull`. A to-one
    /// relationship that is left out is asked for by ``newValue(forRelationship:forObjectWith:with:)``.
    ///
    /// - Throws: error 133000 when there is no such object (any more).
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw DescribedError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [
                NSLocalizedDescriptionKey: "\(Swift.type(of: self)) does not override newValuesForObject(with:with:)."
            ])
    }

    /// The value of a relationship: a collection of IDs for a to-many one, in order if it is ordered; an ID or `NSNull`
    /// for a to-one.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        relationship.isToMany ? [NSManagedObjectID]() : NSNull() as Any
    }

    /// What a new store at a URL is called.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Permanent IDs for objects that are about to be inserted, in their order; made with
    /// ``newObjectID(for:referenceObject:)``.
    ///
    /// - Throws: what the save throws then.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw DescribedError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [
                NSLocalizedDescriptionKey: "\(Swift.type(of: self)) does not override obtainPermanentIDs(for:)."
            ])
    }

    /// Called when a context has got objects that it did not have before.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context has let objects go. May be called on any thread.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// The ID of an object that the store knows by a reference object: a number, a text, a UUID or another hashable
    /// value. The same reference object gives the same ID.
    ///
    /// - Precondition: the store has been added to a coordinator, or is being added and has loaded its metadata.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        customLink.objectID(entity, data)
    }

    /// What ``newObjectID(for:referenceObject:)`` was given for an ID.
    ///
    /// - Precondition: the ID is a permanent one of this store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { customLink.reference(objectID) }
}
