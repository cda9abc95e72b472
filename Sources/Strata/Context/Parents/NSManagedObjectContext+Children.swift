import Foundation
import StrataLog

// How a context answers its children. Everything here runs on the context's own queue.
extension NSManagedObjectContext {
    /// An object's values as a child reads them, and the version of the stored row that they are based on.
    struct ChildRow {
        var row: Row
        var version: RowVersion
    }

    /// The object's current values, with changes that have not been saved. Nil when there is no such object, or it has
    /// been deleted here.
    ///
    /// What the context has in memory counts; what it has not is read from where it would read it, without a fault
    /// being made.
    ///
    /// - Throws: the store's error when the row cannot be read, a transformer's when a value cannot be handed on.
    final func rowForChild(_ shared: SharedRef) throws -> ChildRow? {
        guard let object = registeredObject(shared) ?? faultOfIncrementalStore(shared) else {
            if let link { return try withParent(link) { try $0.rowForChild(shared) } }
            guard let handle = shared.handle else { return nil }
            if handle.isDetached { throw StoreFailure.removed(handle.path) }
            guard let snapshot = snapshot(of: handle) else { return nil }
            do {
                guard let row = try snapshot.row(shared.ref) else { return nil }
                try row.block.verify()
                return ChildRow(row: row, version: row.version)
            } catch {
                handle.recordDamage(error, object: shared.ref)
                throw StoreFailure.description(error, of: handle)
            }
        }
        guard try realizeIfThere(object), !object.isMarkedDeleted, !object.flags.contains(.gone) else { return nil }
        if object.storeIndex == 0 { object.flags.insert(.knownToChildren) }
        if let block = object.block, object.flags.contains(.rowIsCommitted), !object.flags.contains(.dirtySlots) {
            return ChildRow(row: Row(block: block, index: Int(object.row)), version: object.version)
        }
        let rows = MemoryRows(object.shape, entity: object.ref.entity)
        try rows.append(object)
        return ChildRow(row: rows.finish()[0], version: object.storeIndex == 0 ? .none : object.version)
    }

    /// The members of a to-many relationship as they are in this context, in order.
    ///
    /// - Throws: the store's error when they cannot be read.
    final func membersForChild(_ index: Int, of owner: SharedRef) throws -> [SharedRef] {
        let relationship = owner.shape.relationships[index]
        if let object = registeredObject(owner) ?? faultOfIncrementalStore(owner) {
            let state = object.existingState(relationship)
            if object.storeIndex == 0 || owner.handle?.custom?.keepsAllRows == false || state?.isLoaded == true
                || state?.isChanged == true
            {
                return try throwingReadFailures { object.toManyOrder(relationship).map(refForChild) }
            }
        }
        if let link { return try withParent(link) { try $0.membersForChild(index, of: owner) } }
        guard let handle = owner.handle else { return [] }
        if handle.isDetached { throw StoreFailure.removed(handle.path) }
        guard let snapshot = snapshot(of: handle) else { return [] }
        do {
            let reader = RelationshipReader(handle: handle, snapshot: snapshot)
            return try reader.members(relationship, of: owner.ref).compactMap { member in
                handle.map.shape(member.ref.entity).map { SharedRef(member.ref, handle, $0) }
            }
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    /// An incremental store is asked through an object of this context.
    private final func faultOfIncrementalStore(_ shared: SharedRef) -> NSManagedObject? {
        guard link == nil, let custom = shared.handle?.custom, !custom.keepsAllRows else { return nil }
        return object(shared)
    }

    /// How many members a to-many relationship has in this context; nil when that is not known without reading them.
    final func memberCountForChild(_ index: Int, of owner: SharedRef) throws -> Int? {
        let relationship = owner.shape.relationships[index]
        if let object = registeredObject(owner) ?? faultOfIncrementalStore(owner) {
            return object.toManyCount(relationship)
        }
        if let link { return try withParent(link) { try $0.memberCountForChild(index, of: owner) } }
        guard let handle = owner.handle else { return 0 }
        if handle.isDetached { throw StoreFailure.removed(handle.path) }
        guard let snapshot = snapshot(of: handle) else { return 0 }
        do {
            return try RelationshipReader(handle: handle, snapshot: snapshot).count(relationship, of: owner.ref)
        } catch {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    /// What has not been saved here and further up, of some entities: to a child it is stored, but an incremental store
    /// knows nothing of it.
    final func changesForChild(_ isWanted: (EntityShape) -> Bool) throws -> [(ref: SharedRef, isDeleted: Bool)] {
        let own = pipeline.changed.filter { $0.hasChanges && isWanted($0.shape) }
        let changes = own.map { (ref: refForChild($0), isDeleted: $0.isMarkedDeleted) }
        guard let link else { return changes }
        let known = Set(own)
        let inherited = try withParent(link) { try $0.changesForChild(isWanted) }
        return changes
            + inherited.filter { change in registeredObject(change.ref).map { !known.contains($0) } ?? true }
    }

    /// The object's name, for a child that is about to know it.
    final func refForChild(_ object: NSManagedObject) -> SharedRef {
        if object.storeIndex == 0 { object.flags.insert(.knownToChildren) }
        return sharedRef(of: object)
    }
}

// How a child asks.
extension NSManagedObjectContext {
    /// Reads a fault's values from the parent. False when the parent has no such object.
    final func readFromParent(_ object: NSManagedObject, _ link: ParentLink) throws -> Bool {
        let shared = sharedRef(of: object)
        guard let found = try withParent(link, { try $0.rowForChild(shared) }) else { return false }
        object.attach(found.row.block, row: found.row.index, location: found.version.location)
        object.version = found.version
        return true
    }

    /// The stored side of a to-many relationship, as the parent has it.
    final func membersFromParent(
        _ relationship: RelationshipShape, of owner: NSManagedObject, _ link: ParentLink
    ) throws -> [NSManagedObject] {
        let shared = sharedRef(of: owner)
        return try withParent(link) { try $0.membersForChild(relationship.index, of: shared) }.compactMap(object)
    }

    /// As ``existingObject(with:)``, of an object that is not in memory here.
    final func existingObjectFromParent(_ objectID: NSManagedObjectID, _ link: ParentLink) throws -> NSManagedObject {
        let handle = objectID.identity.flatMap { coordinator?.handle(leadingFrom: $0) }
        guard handle != nil || objectID.isTemporaryID else { throw Self.missing(objectID) }
        let shared = SharedRef(objectID.ref, handle, objectID.shape)
        guard try withParent(link, { try $0.rowForChild(shared) != nil }), let object = object(shared) else {
            throw Self.missing(objectID)
        }
        guard try realizeIfThere(object) else { throw Self.missing(objectID) }
        return object
    }
}
