import Foundation

/// What has happened to the objects of a context, by their IDs. An object inserted and not yet saved has a temporary
/// one.
public struct ContextChange: Sendable, Hashable {
    /// On what occasion.
    public enum Kind: Sendable, Hashable {
        /// Objects have changed in memory: at the end of a `perform`, in `processPendingChanges()`, in a merge.
        case changed
        /// The context has been saved.
        case saved
        /// The context has been reset; nothing of what it had is valid any more.
        case invalidated
    }

    /// On what occasion.
    public var kind: Kind
    /// Objects that came.
    public var inserted: Set<NSManagedObjectID> = []
    /// Objects whose properties were set.
    public var updated: Set<NSManagedObjectID> = []
    /// Objects that went.
    public var deleted: Set<NSManagedObjectID> = []
    /// Brought up to date with the store.
    public var refreshed: Set<NSManagedObjectID> = []
}

/// What has happened to one object.
public struct ManagedObjectChange: Sendable, Hashable {
    /// What it was.
    public enum Kind: Sendable, Hashable {
        /// The object came.
        case inserted
        /// Properties of the object were set.
        case updated
        /// The object was deleted, here or, in a merge, elsewhere.
        case deleted
        /// The object was brought up to date with the store, or has become a fault.
        case refreshed
        /// The context has been reset. The last element.
        case invalidated
    }

    /// What it was.
    public var kind: Kind
    /// The properties that were set, for ``Kind/inserted`` and ``Kind/updated``. For ``Kind/refreshed`` those with
    /// other values than before; all properties if the object was or is a fault, of which that cannot be known.
    public var keys: Set<String> = []
}
