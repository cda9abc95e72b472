import StrataLog

/// Finds the objects in memory whose to-many relationships others have changed by writing the rows of the members.
///
/// The notification of a save names both ends of what it has changed. Of a batch request, or of what the history tells,
/// only those come that have a row with the reference.
struct MergedEnds {
    private let context: NSManagedObjectContext
    /// Those that have been read anew.
    private var known: Set<ObjectIdentifier>

    /// - Parameter refreshed: the objects that have been read anew already.
    init(_ refreshed: [NSManagedObject], in context: NSManagedObjectContext) {
        self.context = context
        known = Set(refreshed.map { ObjectIdentifier($0) })
    }

    /// Refreshes what keeps the objects among members that it has read, or has come to.
    ///
    /// - Parameters:
    ///   - updated: objects that have been read anew.
    ///   - inserted: objects that the context has not had before.
    /// - Complexity: O(objects); if some of the updated ones are faults, O(registered objects and the members that they
    ///   have in memory) more, since it is not known what these referred to.
    mutating func refresh(updated: [NSManagedObject], inserted: ContiguousArray<NSManagedObject>) {
        var faults: [(object: NSManagedObject, row: Row)] = []
        for object in updated where object.registry === context.registry {
            if let base = context.pipeline.refreshBases[ObjectIdentifier(object)] {
                for other in base.otherEnds(of: object) { refresh(other) }
            } else if let row = row(object) {
                refreshOwners(of: object, row)
                faults.append((object, row))
            }
        }
        for object in inserted where object.registry === context.registry {
            if let row = row(object) { refreshOwners(of: object, row) }
        }
        if !faults.isEmpty { refreshFormerOwners(of: faults) }
    }

    private mutating func refresh(_ object: NSManagedObject) {
        if known.insert(ObjectIdentifier(object)).inserted { context.refresh(object, mergeChanges: true) }
    }

    /// The newest row of an object that has not been read: a fault, or one that was just inserted elsewhere. Custom
    /// stores tell of all that changes.
    private func row(_ object: NSManagedObject) -> Row? {
        guard let handle = context.registry.handle(object.storeIndex), handle.custom == nil,
            let snapshot = context.snapshot(of: handle), let row = try? snapshot.row(object.ref),
            (try? row.block.verify()) != nil
        else { return nil }
        return row
    }

    private static func reference(_ relationship: RelationshipShape, _ row: Row) -> ObjectRef {
        relationship.slot < row.block.slotCount
            ? row.block.verifiedColumn(relationship.slot).reference(row.index) : .null
    }

    /// Those that the object's row refers to now, and that do not have it among their members yet.
    private mutating func refreshOwners(of object: NSManagedObject, _ row: Row) {
        for relationship in object.shape.relationships where !relationship.isToMany {
            guard let inverse = relationship.inverse, inverse.isToMany else { continue }
            let ref = Self.reference(relationship, row)
            guard !ref.isNull, let owner = context.registry.object(ref, object.storeIndex),
                let state = owner.existingState(inverse), state.isLoaded
            else { continue }
            if !state.members.contains(object) || hasMoved(object, inverse, state, row) { refresh(owner) }
        }
    }

    /// Whether an ordered relationship that has the object keeps it at another position now.
    private func hasMoved(
        _ object: NSManagedObject, _ relationship: RelationshipShape, _ state: ToManyState, _ row: Row
    ) -> Bool {
        // A child numbers the members as its parent gives them.
        guard context.link == nil, let slot = relationship.positionSlot, slot < row.block.slotCount,
            let known = state.positions[ObjectIdentifier(object)]
        else { return false }
        return row.block.verifiedColumn(slot).int64(row.index) != known
    }

    /// Those that have an object among their members to which its row does not refer any more.
    private mutating func refreshFormerOwners(of faults: [(object: NSManagedObject, row: Row)]) {
        let rows = Dictionary(faults.map { (ObjectIdentifier($0.object), $0.row) }) { first, _ in first }
        for owner in context.registry.all where !owner.toMany.isEmpty && !known.contains(ObjectIdentifier(owner)) {
            let isStale = owner.shape.relationships.contains { relationship in
                guard relationship.isToMany, let inverse = relationship.inverse, !inverse.isToMany,
                    let state = owner.existingState(relationship), state.isLoaded, !state.members.isEmpty
                else { return false }
                func isFormer(_ member: NSManagedObject, _ row: Row) -> Bool {
                    !state.added.contains(member) && member.storeIndex == owner.storeIndex
                        && Self.reference(inverse, row) != owner.ref
                }
                // Of the faults and the members, whichever are fewer.
                if faults.count <= state.members.count {
                    return faults.contains { state.members.contains($0.object) && isFormer($0.object, $0.row) }
                }
                return state.members.contains { member in
                    rows[ObjectIdentifier(member)].map { isFormer(member, $0) } ?? false
                }
            }
            if isStale { refresh(owner) }
        }
    }
}
