import Foundation
import StrataLog

/// One save of a child context: its changes become changes of the parent's objects.
///
/// The values travel as rows in memory, which the child's objects then hold as their committed state, so that what
/// was changed costs no more memory than what was read.
struct ParentSave {
    private let context: NSManagedObjectContext
    private let link: ParentLink
    private let all: ObjectChanges

    init(_ context: NSManagedObjectContext, _ link: ParentLink) {
        self.context = context
        self.link = link
        all = context.classifiedChanges()
    }

    /// Gives the changes to the parent, and then tells the objects and everybody who listens.
    ///
    /// - Throws: what a value transformer throws. Nothing has changed then.
    func run() throws {
        let packed = try pack()
        try context.refuseUnread()
        let changes = makeChanges(packed)
        try withoutActuallyThrowing { parent in
            parent.take(changes)
            parent.tellChildren(all, except: context)
        }
        finish(packed)
    }

    private func withoutActuallyThrowing(_ body: (NSManagedObjectContext) -> Void) throws {
        try context.withParent(link, body)
    }

    // MARK: Packing

    private typealias Packed = [ObjectIdentifier: Row]

    /// The current values of all objects whose values the parent has to know.
    private func pack() throws -> Packed {
        struct Group: Hashable {
            var shape: UInt32
            var entity: UInt16
        }
        var writers: [Group: MemoryRows] = [:]
        var members: [Group: [NSManagedObject]] = [:]
        for object in all.inserted + all.updated.filter({ $0.flags.contains(.dirtySlots) }) {
            if object.isFault { object.realize() }
            let group = Group(shape: object.shapeID, entity: object.ref.entity)
            if writers[group] == nil { writers[group] = MemoryRows(object.shape, entity: object.ref.entity) }
            try writers[group]?.append(object)
            members[group, default: []].append(object)
        }
        var packed: Packed = [:]
        for (group, writer) in writers {
            for (object, row) in zip(members[group] ?? [], writer.finish()) { packed[ObjectIdentifier(object)] = row }
        }
        return packed
    }

    private func makeChanges(_ packed: Packed) -> [ChildChange] {
        var changes: [ChildChange] = []
        changes.reserveCapacity(all.inserted.count + all.updated.count + all.deleted.count)
        var slots: [UInt32: [Int]] = [:]
        for object in all.inserted {
            let shape = object.shape
            if slots[shape.id] == nil {
                slots[shape.id] = (0..<shape.persistentSlotCount).filter { !shape.slots[$0].isHidden }
            }
            var change = ChildChange(kind: .inserted, object: context.sharedRef(of: object))
            change.row = packed[ObjectIdentifier(object)]
            change.slots = slots[shape.id] ?? []
            change.transients = object.transientValues { $0.isPresent($1) }
            change.toMany = toMany(object)
            change.store = context.assignments[ObjectIdentifier(object)]
            changes.append(change)
        }
        for object in all.updated {
            var change = ChildChange(kind: .updated, object: context.sharedRef(of: object))
            change.row = packed[ObjectIdentifier(object)]
            change.slots = object.changedPersistentSlots()
            change.transients = object.transientValues { $0.isDirty($1) }
            change.version = object.version
            change.toMany = toMany(object)
            changes.append(change)
        }
        for object in context.required where object.isWatched {
            var change = ChildChange(kind: .updated, object: context.sharedRef(of: object))
            change.version = object.version
            change.isRequired = true
            changes.append(change)
        }
        // What others have deleted the parent hears of from them.
        for object in all.deleted where !object.flags.contains(.gone) {
            changes.append(ChildChange(kind: .deleted, object: context.sharedRef(of: object)))
        }
        return changes
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
                change.added = state.added.objects.filter { !$0.isDeleted }.map(context.sharedRef)
                change.removed = state.removed.objects.map(context.sharedRef)
            }
            if relationship.isOrdered { change.order = object.toManyOrder(relationship).map(context.sharedRef) }
            changes.append(change)
        }
        return changes
    }

    // MARK: Afterwards

    private func finish(_ packed: Packed) {
        for object in all.deleted { _ = object.objectID }
        context.registry.becameUnsaved(all.inserted)
        let (leftovers, overrides) = (context.changed, context.overrides)
        context.changed = []
        context.assignments = [:]
        context.required = []
        context.forgetReports()
        let isTold = overrides.contains(.didSave)
        leftovers.forEachUnretained { object in
            if context.settle(object, isTold: isTold), let row = packed[ObjectIdentifier(object)] { take(row, object) }
        }
        context.dropEvent()
        context.callDidSave(leftovers, deleted: all.deleted, overrides)
        var all = all
        all.postSaved(from: context)
        all.postSavedIDs(from: context)
        context.tellChildren(all)
    }

    /// What the object was changed to is what the parent has now.
    private func take(_ row: Row, _ object: NSManagedObject) {
        let version = object.version
        object.overlay?.dropAttributes(object.shape)
        object.attach(row.block, row: row.index, location: version.location)
        object.version = version
        object.flags.remove(.defaultsBelow)
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
