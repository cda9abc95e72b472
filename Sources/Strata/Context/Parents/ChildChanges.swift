import Foundation
import StrataLog

/// What one object's save in a child context changes in the parent.
struct ChildChange {
    enum Kind {
        case inserted, updated, deleted
    }

    var kind: Kind
    var object: SharedRef
    /// All values, of an object that was inserted or has changed attributes or to-one relationships.
    var row: Row?
    /// The slots that differ from what the child had read.
    var slots: [Int] = []
    /// The transient values that were set, which no row has.
    var transients: [(slot: Int, value: Any?)] = []
    /// The stored row that the changes are based on.
    var version = RowVersion.none
    var toMany: [ToMany] = []
    /// Of a deleted object: what the child had set relationships to one to before.
    var references: [Reference] = []
    /// The store that an inserted object was assigned to.
    var store: NSPersistentStore?
    /// Whether the child was asked to detect conflicts for an object that it has not changed.
    var isRequired = false

    struct Reference {
        var relationship: Int
        var target: SharedRef?
    }

    /// Only what the to-one sides of relationships do not tell.
    struct ToMany {
        var relationship: Int
        var added: [SharedRef]
        var removed: [SharedRef]
        /// All members, of an ordered relationship.
        var order: [SharedRef]?
    }
}

// How a parent takes what a child saves. Runs on the parent's queue.
extension NSManagedObjectContext {
    /// Does to the objects here what the child has done to its own, as if the program had done it: both ends of
    /// relationships are kept, inserted objects awake, and delete rules are followed once more, for there may be
    /// objects that the child did not know.
    ///
    /// The child's values win over changes of the same properties here. What has been deleted here stays so.
    final func take(_ changes: [ChildChange]) {
        processPendingChanges()
        undisturbed {
            for change in changes where change.kind == .inserted { takeInserted(change) }
            for change in changes where change.row != nil || !change.transients.isEmpty { takeValues(change) }
            for change in changes where !change.toMany.isEmpty { takeMembers(change) }
            for change in changes where !change.references.isEmpty { takeReferences(change) }
            for change in changes where change.isRequired { takeRequired(change) }
            for change in changes where change.kind == .deleted {
                if let object = object(change.object) { deleteObject(object) }
            }
        }
        processPendingChanges()
    }

    private func takeInserted(_ change: ChildChange) {
        if let object = registeredObject(change.object) {
            // Its deletion, which has been taken before, was undone.
            if object.isMarkedDeleted { revive(object) }
            return
        }
        let shape = change.object.shape
        let object = shape.objectClass.made(shape.entity, insertInto: nil)
        object.ref = change.object.ref
        if let handle = change.object.handle { object.storeIndex = registry.storeIndex(of: handle) }
        insertNew(object)
        object.flags.insert(.knownToChildren)
        if let store = change.store { assign(object, to: store) }
    }

    /// Takes a deletion back. The other ends of the object's relationships have let go of it, so it lets go of them,
    /// too, until the child's values are taken.
    private func revive(_ object: NSManagedObject) {
        object.realize()
        insert(object)
        for relationship in object.shape.relationships {
            if relationship.isToMany {
                let state = object.loadedState(relationship)
                object.recordChange(.dirtyToMany)
                for member in Array(state.members) { state.remove(member, isOrdered: relationship.isOrdered) }
            } else {
                object.writeReference(relationship, nil)
            }
        }
    }

    private func takeValues(_ change: ChildChange) {
        let known = registeredObject(change.object)
        guard let object = known ?? object(change.object) else { return }
        let wasRead = known.map { !$0.isUnread } ?? false
        if !wasRead { object.realize() }
        if object.isMarkedDeleted || object.flags.contains(.gone) { return }
        if change.kind == .updated, !wasRead { rebase(object, on: change) }
        if let row = change.row { for slot in change.slots { object.takeValue(slot, from: row) } }
        for (slot, value) in change.transients { object.setBoxedValue(value, slot: slot) }
    }

    private func takeRequired(_ change: ChildChange) {
        let known = registeredObject(change.object)
        guard let object = known ?? object(change.object) else { return }
        detectConflicts(for: object)
        if known == nil { rebase(object, on: change) }
    }

    /// The child's changes are based on an older row than the one that was just read for them, and nobody has told
    /// this context of the newer one: the save to the store has to find the conflict.
    private func rebase(_ object: NSManagedObject, on change: ChildChange) {
        guard change.version.sequence != 0, change.version.sequence != object.version.sequence,
            let handle = registry.handle(object.storeIndex),
            knownSequences[ObjectIdentifier(handle)]?.contains(object.version.sequence) != true
        else { return }
        object.version = change.version
        object.flags.remove(.rowIsCommitted)
    }

    /// A deleted object takes with it what the child's object last referred to, not what that one had left before.
    private func takeReferences(_ change: ChildChange) {
        guard let owner = presentObject(change.object) else { return }
        for reference in change.references {
            let target = reference.target.flatMap(object).flatMap { $0.isPresent ? $0 : nil }
            owner.setToOne(owner.shape.relationships[reference.relationship], to: target)
        }
    }

    private func presentObject(_ shared: SharedRef) -> NSManagedObject? {
        guard let object = object(shared) else { return nil }
        if object.isUnread { object.realize() }
        return object.isPresent ? object : nil
    }

    private func takeMembers(_ change: ChildChange) {
        guard let owner = presentObject(change.object) else { return }
        for toMany in change.toMany {
            let relationship = owner.shape.relationships[toMany.relationship]
            let (removed, added) = (
                toMany.removed.compactMap(object), toMany.added.compactMap(object).filter(\.isPresent)
            )
            if let order = toMany.order {
                owner.takeOrder(order.compactMap(object), relationship, added: added, removed: removed)
                continue
            }
            for member in removed { owner.removeFromMany(relationship, member) }
            for member in added { owner.addToMany(relationship, member) }
        }
    }
}

extension NSManagedObject {
    /// Whether it has neither been deleted here nor elsewhere.
    fileprivate final var isPresent: Bool { !isMarkedDeleted && !flags.contains(.gone) }

    /// Sets a slot to a row's value, with all that belongs to a change.
    fileprivate final func takeValue(_ slot: Int, from row: Row) {
        let column = row.block.verifiedColumn(slot)
        let code = shape.codes[slot]
        if code.relationshipIndex >= 0 {
            let relationship = shape.relationships[Int(code.relationshipIndex)]
            let target = column.isNull(row.index) ? ObjectRef.null : column.reference(row.index)
            let object = target.isNull ? nil : registry?.context?.target(target, of: self)
            // A target that was deleted here meanwhile is none.
            setToOne(relationship, to: object.flatMap { $0.isPresent ? $0 : nil })
            return
        }
        if !flags.isSuperset(of: .writable) { prepareToChange(slot) }
        let overlay = ensuredOverlay
        if overlay.holdsValue(slot) { overlay.release(code) }
        let isNull = !overlay.initialize(code, shape.slots[slot], from: column, row.index)
        overlay.markChanged(slot, isNull: isNull)
        if !flags.contains(.unobserved) { completeObservedChange(slot) }
    }

    /// Puts the members of an ordered relationship into the order given, with those that the child has added and
    /// without those that it has removed; those that the order does not name come last.
    fileprivate final func takeOrder(
        _ wanted: [NSManagedObject], _ relationship: RelationshipShape, added: [NSManagedObject],
        removed: [NSManagedObject]
    ) {
        let state = loadedState(relationship)
        var left = state.members.subtracting(removed).union(added)
        var order: [NSManagedObject] = []
        for object in wanted where left.remove(object) != nil { order.append(object) }
        arrange(relationship, order + state.order.filter { left.contains($0) })
    }
}

extension Overlay {
    /// Puts a row's attribute value into a place that holds none. False, and nothing is put there, if it is null.
    fileprivate func initialize(_ code: SlotCode, _ info: SlotInfo, from column: ColumnView, _ row: Int) -> Bool {
        if column.isNull(row) { return false }
        let place = base + Int(code.offset)
        func put<T: AttributeValue>(_ type: T.Type) -> Bool {
            place.assumingMemoryBound(to: T.self).initialize(to: T._read(column, row))
            return true
        }
        switch code.kind {
        case .bool: return put(Bool.self)
        case .int16: return put(Int16.self)
        case .int32: return put(Int32.self)
        case .int64: return put(Int64.self)
        case .float: return put(Float.self)
        case .double: return put(Double.self)
        case .date: return put(Date.self)
        case .uuid: return put(UUID.self)
        case .string: return put(String.self)
        case .data: return put(Data.self)
        case .decimal: return put(Decimal.self)
        case .uri: return put(URL.self)
        case .transformable:
            guard let attribute = info.attribute,
                let value = attribute.readableValue(fromTransformedData: Data(column.bytes(row)))
            else { return false }
            place.assumingMemoryBound(to: TransformableBox.self).initialize(to: TransformableBox(value))
            return true
        case .toOne: return false
        }
    }
}
