import Foundation
import StrataLog

/// Asks an ``NSIncrementalStore`` for rows and relationships as they are needed.
final class IncrementalStoreLink: CustomStore, @unchecked Sendable {
    // Unchecked: used in the superclass's lock.

    private weak var store: NSIncrementalStore?
    /// The versions of the nodes that the log's rows were made of. A row that was saved has none until the store is
    /// asked again.
    private var versions: [ObjectRef: UInt64] = [:]
    /// The members of to-many relationships that the nodes had, by the relationship's name.
    private var toMany: [ObjectRef: [String: Any]] = [:]
    /// The object whose row has just been brought up to date, for the fault that is about to fire.
    private var upToDate: ObjectRef?

    init(_ store: NSIncrementalStore) {
        self.store = store
    }

    override var keepsAllRows: Bool { false }

    private var removed: any Error {
        DescribedError(
            .persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: "The store is not open any more."])
    }

    // MARK: Rows

    override func prepare(_ object: NSManagedObject, in context: NSManagedObjectContext) -> Bool {
        do {
            try withLock {
                if upToDate != object.ref { try prepare(object.objectID, in: context) }
                upToDate = nil
            }
            return true
        } catch {
            let code = error as NSError
            if code.domain == NSCocoaErrorDomain, code.code == NSManagedObjectReferentialIntegrityError {
                context.recordInaccessible(object)
            } else {
                context.recordUnreadable(object, because: error)
            }
            return false
        }
    }

    override func prepare(_ objectID: NSManagedObjectID, in context: NSManagedObjectContext) throws {
        guard let store else { throw removed }
        try withLock {
            let node = try store.newValuesForObject(with: objectID, with: context)
            let values = try NodeValues(node, objectID, store, handle, context)
            try take(values, objectID.ref, version: node.version)
            toMany[objectID.ref] = Self.toMany(in: node, objectID.shape)
            upToDate = objectID.ref
        }
    }

    private static func toMany(in node: NSIncrementalStoreNode, _ shape: EntityShape) -> [String: Any]? {
        var found: [String: Any] = [:]
        for relationship in shape.relationships where relationship.isToMany {
            guard let value = AnyElements.plain(node.value(for: relationship.description)), !(value is NSNull) else {
                continue
            }
            found[relationship.name] = value
        }
        return found.isEmpty ? nil : found
    }

    /// Writes a node's values to the log, unless its row has them already and the version is the same.
    private func take(_ values: NodeValues, _ ref: ObjectRef, version: UInt64) throws {
        let row = try handle.log.snapshot.row(ref)
        if let row, versions[ref] ?? version == version, try values.isSame(as: row, handle) {
            versions[ref] = version
            return
        }
        let transaction = handle.log.makeTransaction()
        let writer = transaction.writer(for: ref.entity)
        if let row {
            var changed = SlotSet()
            for slot in 0..<values.shape.persistentSlotCount { changed.insert(slot) }
            try writer.beginUpdate(key: ref.key, replacing: row.version, changed: changed)
        } else {
            writer.beginInsert(key: ref.key)
        }
        try values.write(to: writer)
        _ = writer.endRow()
        _ = try handle.log.commit(transaction)
        versions[ref] = version
    }

    override func members(
        _ relationship: RelationshipShape, of owner: NSManagedObject, in context: NSManagedObjectContext
    ) throws -> [RelationshipReader.Member]? {
        guard let store else { throw removed }
        // It may have a permanent ID already, but the store has yet to be told of it.
        if owner.flags.contains(.inserted) { return [] }
        // Its node may have the members, too: the store is asked for what that lacks.
        if owner.isUnread { owner.realize() }
        let value = try withLock {
            if let value = toMany[owner.ref]?[relationship.name] { return value }
            return try store.newValue(
                forRelationship: relationship.description, forObjectWith: owner.objectID, with: context)
        }
        guard let elements = AnyElements(value) else { return [] }
        return try elements.elements.enumerated().map { index, element in
            guard let id = (element as? NSManagedObject)?.objectID ?? element as? NSManagedObjectID,
                id.identity === handle.identity
            else {
                throw DescribedError(
                    .persistentStoreOperation,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "newValue(forRelationship:) gave something else than IDs of the store for "
                            + "\(owner.shape.name).\(relationship.name)."
                    ])
            }
            return RelationshipReader.Member(ref: id.ref, position: Int64(index + 1))
        }
    }

    // MARK: Requests

    /// Hands a request to the store.
    func execute(_ request: NSPersistentStoreRequest, in context: NSManagedObjectContext?) throws -> Any {
        guard let store else { throw removed }
        return try withLock { try store.execute(request, with: context) }
    }

    override func references(for objects: [NSManagedObject]) throws -> [ObjectRef] {
        guard let store else { throw removed }
        let ids = try withLock { try store.obtainPermanentIDs(for: objects) }
        let own = ids.filter { $0.identity === handle.identity }
        guard ids.count == objects.count, own.count == ids.count else {
            let others = ids.count - own.count
            let which = others == 0 ? "" : ", \(others) of them temporary or of another store"
            throw DescribedError(
                .persistentStoreSave,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "obtainPermanentIDs(for:) gave \(ids.count) IDs for \(objects.count) objects\(which)."
                ])
        }
        return ids.map(\.ref)
    }

    override func saveAndCommit(_ transaction: WriteTransaction, _ ending: StoreEnding) throws -> CommitReceipt {
        try checkConflicts(ending)
        makePermanent(ending)
        let request = NSSaveChangesRequest(
            inserted: Set(ending.changes.inserted), updated: Set(ending.changes.updated),
            // What others have deleted the store has no more.
            deleted: Set(ending.changes.deleted.filter { !$0.flags.contains(.gone) }),
            locked: Set(lockedObjects(ending)))
        do {
            if !request.isEmpty { _ = try execute(request, in: ending.context) }
        } catch {
            // Not as CocoaError: any NSError can be cast to one here, and would lose its domain.
            let info = (error as NSError).userInfo
            let conflicts = info[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
            guard !conflicts.isEmpty else { throw error }
            // The merge policy compares with the newest rows.
            for conflict in conflicts { try prepare(conflict.sourceObject.objectID, in: ending.context) }
            if (ending.context.mergePolicy as? NSMergePolicy ?? .error).mergeType == .errorMergePolicyType {
                throw error
            }
            throw StoreError(.conflict, "the store reports conflicts", conflicts: conflicts.map { $0.sourceObject.ref })
        }
        for objects in [ending.changes.updated, ending.changes.deleted] {
            for object in objects {
                versions[object.ref] = nil
                toMany[object.ref] = nil
            }
        }
        return try handle.log.commit(transaction)
    }

    /// A request without any objects: so a store is asked to save its metadata.
    override func saveMetadata() throws {
        _ = try execute(NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), in: nil)
    }

    // MARK: Registration

    override func didRegister(_ objectIDs: [NSManagedObjectID]) {
        guard let store else { return }
        withLock { store.managedObjectContextDidRegisterObjects(with: objectIDs) }
    }

    override func didUnregister(_ objectIDs: [NSManagedObjectID]) {
        guard let store else { return }
        withLock { store.managedObjectContextDidUnregisterObjects(with: objectIDs) }
    }
}
