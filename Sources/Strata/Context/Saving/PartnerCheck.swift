import StrataLog

/// Looks whether both ends of one-to-one relationships are going to agree once a save is in the store.
///
/// Both ends are stored, so that a change of one is a change of the other. A context that knows an older state of one
/// end may change only the other: then the version of no row tells that something is amiss. What the store holds
/// agrees, and rows that a save replaces are what the context has read, or the commit fails; so it is enough to look
/// for the other ends of what changes, and to read those that the save leaves alone.
struct PartnerCheck {
    private let ending: StoreEnding
    private let registry: ObjectRegistry
    let snapshot: Snapshot
    private(set) var conflicts: [ObjectRef] = []
    /// Objects whose other ends have to follow, though nobody else has changed them: this context has read the newest
    /// rows, and has given up its own changes of the other ends, as a refresh does.
    private(set) var misaligned: [(object: NSManagedObject, conflict: ObjectRef)] = []

    init(_ ending: StoreEnding) {
        self.ending = ending
        registry = ending.context.registry
        snapshot = ending.handle.log.snapshot
    }

    /// - Throws: the store's error if a row cannot be read.
    mutating func run() throws {
        for object in ending.changes.deleted where !object.flags.contains(.gone) {
            for relationship in object.shape.partners where relationship.deleteRule != .noActionDeleteRule {
                guard let inverse = relationship.inverse else { continue }
                let old = committed(relationship, of: object)
                guard try isLeftBehind(old, inverse, by: object) else { continue }
                if relationship.deleteRule == .nullifyDeleteRule, try isFresh(old) {
                    misaligned.append((object, object.ref))
                } else {
                    conflicts.append(object.ref)
                }
            }
        }
        for object in ending.changes.inserted { try check(object) }
        for object in ending.changes.updated where object.flags.contains(.dirtySlots) { try check(object) }
    }

    private mutating func check(_ object: NSManagedObject) throws {
        for relationship in object.shape.partners {
            guard let inverse = relationship.inverse, let overlay = object.overlay,
                overlay.isDirty(relationship.slot)
            else { continue }
            let new = object.toOneTarget(relationship)
            let old = object.storeIndex == 0 ? .null : committed(relationship, of: object)
            if let new, new.flags.contains(.gone) {
                conflicts.append(new.ref)
            } else if let new, !new.isMarkedDeleted, try !leadsBack(from: new, inverse, to: object) {
                if try isFree(new, inverse, relationship) {
                    misaligned.append((object, new.ref))
                } else if let stored = [new, object].first(where: { $0.storeIndex != 0 }) {
                    // What has no row yet nobody else can have changed.
                    conflicts.append(stored.ref)
                }
            }
            guard old != new?.ref ?? .null, try isLeftBehind(old, inverse, by: object) else { continue }
            if try isFresh(old) { misaligned.append((object, old)) } else { conflicts.append(old) }
        }
    }

    private func committed(_ relationship: RelationshipShape, of object: NSManagedObject) -> ObjectRef {
        guard let row = object.committedRow(), relationship.slot < row.block.slotCount else { return .null }
        return row.block.verifiedColumn(relationship.slot).reference(row.row)
    }

    /// Whether an object goes on referring to one that has left it.
    private func isLeftBehind(
        _ partner: ObjectRef, _ inverse: RelationshipShape, by object: NSManagedObject
    ) throws -> Bool {
        if partner.isNull { return false }
        if let known = registry.object(partner, ending.storeIndex) {
            if known.isMarkedDeleted || known.flags.contains(.gone) { return false }
            // What it refers to instead is checked with it.
            if let other = known.changedTarget(inverse) { return other === object && object.isMarkedDeleted }
        }
        return try refers(partner, inverse, to: object) && isCurrent(object)
    }

    private func leadsBack(
        from partner: NSManagedObject, _ inverse: RelationshipShape, to object: NSManagedObject
    ) throws -> Bool {
        if let other = partner.changedTarget(inverse) { return other === object }
        if partner.storeIndex == 0 { return partner.toOneTarget(inverse) === object }
        return try object.storeIndex != 0 && refers(partner.ref, inverse, to: object) || !isCurrent(object)
    }

    private func refers(_ partner: ObjectRef, _ inverse: RelationshipShape, to object: NSManagedObject) throws -> Bool {
        guard let row = try snapshot.row(partner), inverse.slot < row.block.slotCount else { return false }
        return try row.block.column(inverse.slot).reference(row.index) == object.ref
    }

    /// Whether an object that the save leaves alone can become somebody's partner without taking it from another, with
    /// all that the store has known here.
    private func isFree(
        _ partner: NSManagedObject, _ inverse: RelationshipShape, _ relationship: RelationshipShape
    ) throws -> Bool {
        guard partner.storeIndex != 0, partner.changedTarget(inverse) == nil, try isFresh(partner.ref),
            let row = try snapshot.row(partner.ref)
        else { return false }
        guard inverse.slot < row.block.slotCount else { return true }
        let ref = try row.block.column(inverse.slot).reference(row.index)
        if ref.isNull { return true }
        guard let holder = registry.object(ref, ending.storeIndex) else { return false }
        if holder.isMarkedDeleted { return true }
        return holder.changedTarget(relationship).map { $0 !== partner } ?? false
    }

    /// Whether the context has not read an older row of an object than the store has.
    private func isFresh(_ ref: ObjectRef) throws -> Bool {
        guard let object = registry.object(ref, ending.storeIndex), !object.isUnread else {
            // A context that is pinned to an older state would read an older row.
            return ending.context.generation == nil
        }
        return try isCurrent(object)
    }

    /// Whether the store has no newer row of an object. If it has, that is another conflict.
    private func isCurrent(_ object: NSManagedObject) throws -> Bool {
        if object.storeIndex == 0 { return true }
        return try snapshot.row(object.ref)?.version.sequence == object.version.sequence
    }
}
