import Foundation
import StrataLog

/// The changes of a child context, which become changes of its parent's objects.
///
/// The values travel as rows in memory, which the child's objects then hold as their committed state, so that what
/// was changed costs no more memory than what was read.
final class ParentEnding: SaveEnding {
    private let context: NSManagedObjectContext
    private let link: ParentLink
    let changes: ObjectChanges
    /// The objects whose values the parent has to know, and those values.
    private var written: ContiguousArray<NSManagedObject> = []
    private var packed: [ObjectIdentifier: Row] = [:]

    init(_ context: NSManagedObjectContext, _ link: ParentLink, _ changes: ObjectChanges) {
        self.context = context
        self.link = link
        self.changes = changes
    }

    /// Gives the changes to the parent.
    ///
    /// - Throws: what a value transformer throws. Nothing has changed then.
    func write() throws {
        try pack()
        try context.refuseUnread()
        let told = makeChanges()
        try context.withParent(link) { parent in
            parent.take(told)
            parent.tellChildren(changes, except: context)
        }
    }

    func finish() { context.registry.becameUnsaved(changes.inserted) }

    /// None of the objects counts as changed any more: what they were changed to is what the parent has now.
    func takeRows() {
        for object in written {
            guard !object.flags.contains(.gone), let row = packed[ObjectIdentifier(object)] else { continue }
            let version = object.version
            object.overlay?.dropAttributes(object.shape)
            object.attach(row.block, row: row.index, location: version.location)
            object.version = version
            object.flags.remove(.defaultsBelow)
        }
        (written, packed) = ([], [:])
    }

    // MARK: Packing

    private func pack() throws {
        struct Group: Hashable {
            var shape: UInt32
            var entity: UInt16
        }
        var writers: [Group: MemoryRows] = [:]
        var members: [Group: [NSManagedObject]] = [:]
        written = changes.inserted + changes.updated.filter { $0.flags.contains(.dirtySlots) }
        for object in written {
            if object.isUnread { object.realize() }
            let group = Group(shape: object.shapeID, entity: object.ref.entity)
            if writers[group] == nil { writers[group] = MemoryRows(object.shape, entity: object.ref.entity) }
            try writers[group]?.append(object)
            members[group, default: []].append(object)
        }
        for (group, writer) in writers {
            for (object, row) in zip(members[group] ?? [], writer.finish()) { packed[ObjectIdentifier(object)] = row }
        }
    }

    private func makeChanges() -> [ChildChange] {
        var told: [ChildChange] = []
        told.reserveCapacity(changes.inserted.count + changes.updated.count + changes.deleted.count)
        var slots: [UInt32: [Int]] = [:]
        for object in changes.inserted {
            let shape = object.shape
            if slots[shape.id] == nil {
                slots[shape.id] = (0..<shape.persistentSlotCount).filter { !shape.slots[$0].isHidden }
            }
            var change = ChildChange(kind: .inserted, object: context.sharedRef(of: object))
            change.row = packed[ObjectIdentifier(object)]
            change.slots = slots[shape.id] ?? []
            change.transients = object.transientValues { $0.isPresent($1) }
            change.toMany = toMany(object)
            change.store = context.pipeline.assignments[ObjectIdentifier(object)]
            told.append(change)
        }
        for object in changes.updated {
            var change = ChildChange(kind: .updated, object: context.sharedRef(of: object))
            change.row = packed[ObjectIdentifier(object)]
            change.slots = object.changedPersistentSlots()
            change.transients = object.transientValues { $0.isDirty($1) }
            change.version = object.version
            change.toMany = toMany(object)
            told.append(change)
        }
        for object in context.pipeline.required where object.isWatched {
            var change = ChildChange(kind: .updated, object: context.sharedRef(of: object))
            change.version = object.version
            change.isRequired = true
            told.append(change)
        }
        // What others have deleted the parent hears of from them.
        for object in changes.deleted where !object.flags.contains(.gone) {
            var change = ChildChange(kind: .deleted, object: context.sharedRef(of: object))
            change.toMany = toMany(object)
            change.references = changedReferences(object)
            told.append(change)
        }
        return told
    }

    private func changedReferences(_ object: NSManagedObject) -> [ChildChange.Reference] {
        guard object.flags.contains(.dirtySlots) else { return [] }
        let changed = Set(object.changedPersistentSlots())
        return object.shape.relationships.filter { !$0.isToMany && changed.contains($0.slot) }.map { relationship in
            let target = object.toOneTarget(relationship).flatMap {
                isKnownToParent($0) && !hasOtherPartner($0, relationship, than: object) ? $0 : nil
            }
            return ChildChange.Reference(relationship: relationship.index, target: target.map(context.sharedRef))
        }
    }

    /// Whether what a deleted object referred to belongs to another one since then, from which the parent must not take
    /// it.
    private func hasOtherPartner(
        _ target: NSManagedObject, _ relationship: RelationshipShape, than object: NSManagedObject
    ) -> Bool {
        guard let inverse = relationship.inverse, !inverse.isToMany, !target.isMarkedDeleted else { return false }
        return target.toOneTarget(inverse).map { $0 !== object } ?? false
    }

    /// False for what was deleted before it was ever saved.
    private func isKnownToParent(_ object: NSManagedObject) -> Bool {
        object.registry === context.registry && !object.flags.isSuperset(of: [.inserted, .deleted])
    }

    private func toMany(_ object: NSManagedObject) -> [ChildChange.ToMany] {
        guard object.flags.contains(.dirtyToMany) else { return [] }
        var changes: [ChildChange.ToMany] = []
        for (relationship, state) in zip(object.shape.relationships, object.toMany) {
            guard let state, state.isChanged else { continue }
            var change = ChildChange.ToMany(relationship: relationship.index, added: [], removed: [])
            switch relationship.storage {
            case .slot: continue
            case .inverse:
                // The members' own references say who is one.
                if !relationship.isOrdered { continue }
            case .link:
                change.added = state.added.objects.filter { !$0.isMarkedDeleted }.map(context.sharedRef)
                change.removed = state.removed.objects.map(context.sharedRef)
            }
            if relationship.isOrdered { change.order = object.toManyOrder(relationship).map(context.sharedRef) }
            changes.append(change)
        }
        return changes
    }
}

extension NSManagedObject {
    /// The slots that were set to something else than what was last read or saved.
    fileprivate final func changedPersistentSlots() -> [Int] {
        guard let overlay, flags.contains(.dirtySlots) else { return [] }
        return (0..<shape.persistentSlotCount).filter {
            !shape.slots[$0].isHidden && overlay.isDirty($0) && !hasCommittedValue($0, in: overlay)
        }
    }
}

extension NSManagedObject {
    /// The transient values of the slots that are wanted.
    fileprivate final func transientValues(_ isWanted: (Overlay, Int) -> Bool) -> [(slot: Int, value: Any?)] {
        guard let overlay else { return [] }
        return (shape.persistentSlotCount..<shape.slots.count).filter { isWanted(overlay, $0) }
            .map { (slot: $0, value: overlay.isNull($0) ? nil : overlay.boxed(shape.codes[$0])) }
    }
}

extension Overlay {
    /// Gives up values that the row just attached has, too. References stay, because they keep their targets alive;
    /// so do transformable values, which would be made anew with each reading; and transient ones, which no row has.
    fileprivate func dropAttributes(_ shape: EntityShape) {
        for slot in 0..<shape.persistentSlotCount where isPresent(slot) {
            let kind = shape.codes[slot].kind
            if kind != .toOne, kind != .transformable { clearValue(slot, shape) }
        }
    }
}
