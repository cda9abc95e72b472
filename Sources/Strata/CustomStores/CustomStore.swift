import Foundation
import StrataIO
import StrataLog
import StrataSupport
import SystemPackage

/// The link between the object graph and a store whose class is the user's own.
///
/// The objects of such a store have no rows of their own, but accessors read rows. So each custom store is accompanied
/// by a log in memory: what the store hands out is encoded there once, and everything above works as on any store. Two
/// kinds inherit from this class: ``IncrementalStoreLink`` asks the store object by object, ``AtomicStoreLink`` has
/// taken over everything when the store was loaded.
///
/// Calls into a store are serialised by a recursive lock, as Core Data's coordinator does.
class CustomStore: @unchecked Sendable {
    // Unchecked: what changes is only touched with the lock held, after `handle` has been set once.

    private let lock = NSRecursiveLock()
    /// Set once, before anybody else sees the store.
    final unowned(unsafe) private(set) var handle: StoreHandle!

    final func withLock<R>(_ body: () throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Whether relationships, predicates and counts can be answered from the log. False: the store is asked.
    var keepsAllRows: Bool { true }

    /// Makes the log's row of an object what the store says.
    ///
    /// - Returns: false when there is no such object or the store failed; the object has been marked then.
    func prepare(_ object: NSManagedObject, in context: NSManagedObjectContext) -> Bool { true }

    /// As ``prepare(_:in:)`` for an object that is not in memory.
    func prepare(_ objectID: NSManagedObjectID, in context: NSManagedObjectContext) throws {}

    /// The members of a to-many relationship; nil when the log knows them.
    func members(
        _ relationship: RelationshipShape, of owner: NSManagedObject, in context: NSManagedObjectContext
    ) throws -> [RelationshipReader.Member]? { nil }

    /// Permanent references for new objects.
    func references(for objects: [NSManagedObject]) throws -> [ObjectRef] { [] }

    /// Saves through the store, then commits the same to the log. Called with the lock held.
    func saveAndCommit(_ transaction: WriteTransaction, _ ending: StoreEnding) throws -> CommitReceipt {
        try handle.log.commit(transaction)
    }

    func saveMetadata() throws {}

    func didRegister(_ objectIDs: [NSManagedObjectID]) {}

    func didUnregister(_ objectIDs: [NSManagedObjectID]) {}

    // MARK: For all kinds

    /// Objects of the store have come into a context.
    final func didRegister(_ objects: [NSManagedObject]) {
        let new = objects.filter { !$0.flags.contains(.fromCustomStore) }
        for object in new { object.flags.insert(.fromCustomStore) }
        // Asking for the IDs keeps them, so that they are there when the objects go.
        if !new.isEmpty { didRegister(new.map(\.objectID)) }
    }

    /// An object leaves its context. Called on any thread, also while the object is being destroyed.
    static func didUnregister(_ object: NSManagedObject) {
        object.flags.remove(.fromCustomStore)
        guard let id = object.cachedID else { return }
        id.identity?.store?.handle?.custom?.didUnregister([id])
    }

    /// Joins the store with its log.
    final func makeHandle(
        _ shapes: ModelShapes, _ store: NSPersistentStore, _ identity: StoreIdentity
    ) throws
        -> StoreHandle
    {
        let configuration = store.configurationName
        let served = try StoreOpening.entities(shapes, configuration)
        let hashes = store.metadata?[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let held = shapes.lineages(of: hashes.keys).union(served)
        let table = identity.ensuredReferences
        let stored = try StoredModel(shapes, holding: held, previous: table.model)
        table.model = stored
        var options = LogOptions()
        options.durability = .os
        let log = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: options, schema: try stored.schema(shapes))
        let new = StoreHandle(
            custom: self, log: log, map: StoreMap(shapes, stored, serving: served), shapes: shapes, identity: identity,
            path: store.url?.path ?? "")
        new.isReadOnly = store.isReadOnly
        handle = new
        return new
    }

    /// The ID for a reference object.
    ///
    /// - Precondition: the entity is of the model and in the store's configuration.
    final func objectID(_ entity: NSEntityDescription, _ reference: Any) -> NSManagedObjectID {
        guard let shape = handle.shapes.byName[entity.name ?? ""], handle.map.holds(shape) else {
            programmerError(
                "NSPersistentStore.objectID(for:withReferenceObject:)",
                "the store does not hold objects of the entity \(entity.name ?? "")",
                "Use an entity of the store's configuration")
        }
        let root = handle.map.root(shape)
        let key = handle.identity.ensuredReferences.key(root: root, reference)
        return NSManagedObjectID(
            ref: ObjectRef(entity: handle.map.numbers[shape.index], key: key), identity: handle.identity, shape: shape)
    }

    /// - Precondition: the ID is a permanent one of this store.
    final func reference(_ objectID: NSManagedObjectID) -> Any {
        guard objectID.identity === handle.identity, let shape = handle.map.shape(objectID.ref.entity),
            let reference = handle.identity.ensuredReferences.reference(
                root: handle.map.root(shape), key: objectID.ref.key)
        else {
            programmerError(
                "NSPersistentStore.referenceObject(for:)",
                "the ID, of \(objectID.shape.name), is not a permanent one of this store",
                "Ask with IDs that this store has made")
        }
        return reference
    }

    final func objectID(_ ref: ObjectRef) -> NSManagedObjectID? {
        handle.map.shape(ref.entity).map { NSManagedObjectID(ref: ref, identity: handle.identity, shape: $0) }
    }

    /// What a save replaces must still be what the context has seen.
    ///
    /// - Throws: the engine's conflict error, which the merge policy is asked about.
    final func checkConflicts(_ ending: StoreEnding) throws {
        let snapshot = handle.log.snapshot
        var conflicts: [ObjectRef] = []
        let check = { (object: NSManagedObject) throws in
            guard object.storeIndex != 0, !object.version.location.isAbsent, !object.flags.contains(.gone) else {
                return
            }
            guard try snapshot.locate(object.ref) != object.version.location else { return }
            // Compaction moves rows without changing them.
            if try snapshot.row(object.ref)?.version.sequence != object.version.sequence {
                conflicts.append(object.ref)
            }
        }
        for object in ending.changes.updated {
            if object.flags.contains(.dirtySlots) {
                try check(object)
            } else if keepsAllRows, object.flags.contains(.dirtyToMany), try snapshot.locate(object.ref).isAbsent {
                // Others refer to the object from now on.
                conflicts.append(object.ref)
            }
        }
        for object in ending.changes.deleted {
            try check(object)
            // What was found to be gone when it was read may be what others refer to from now on.
            if keepsAllRows, object.flags.isSuperset(of: [.gone, .dirtyToMany]) { conflicts.append(object.ref) }
        }
        try lockedObjects(ending).forEach(check)
        if !conflicts.isEmpty {
            throw StoreError(.conflict, "rows have changed since they were read", conflicts: conflicts)
        }
    }

    /// Objects that the save does not change but that nobody else may have changed.
    final func lockedObjects(_ ending: StoreEnding) -> [NSManagedObject] {
        ending.context.pipeline.required.filter { $0.storeIndex == ending.storeIndex && !$0.hasChanges }
    }

    /// The new objects get their permanent IDs, before the store sees them.
    final func makePermanent(_ ending: StoreEnding) {
        let new = ContiguousArray(ending.changes.inserted.filter { $0.storeIndex == 0 })
        ending.context.registry.becamePermanent(new, ending.storeIndex)
    }
}

extension NSPersistentStore {
    /// What leads from a store of the program's own to the coordinator's tables.
    final var customLink: CustomStore {
        guard let link = handle?.custom else {
            programmerError(
                "\(Swift.type(of: self))", "the store has not been added to a coordinator, or has been removed from it",
                "Add the store first")
        }
        return link
    }
}
