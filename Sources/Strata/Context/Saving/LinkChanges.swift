import Foundation
import StrataLog

/// What a save does to ordered relationships and to those kept by links.
final class LinkChanges {
    /// One membership: its ends, and what is stored of it.
    private struct Link {
        var stored: Row?
        var positions: [Int64] = [0, 0]
        var isRemoved = false
        var isChanged = false
    }

    private struct Ends: Hashable {
        var first: ObjectRef
        var second: ObjectRef
    }

    private let ending: StoreEnding
    private let snapshot: Snapshot
    private var links: [Int: [Ends: Link]] = [:]
    private var shapes: [Int: LinkShape] = [:]
    private var conflictKeys: Set<ConflictKey> = []
    /// Deleted objects with links that others have added, where the delete rule has a say about the other ends.
    private(set) var lateMembers: [ObjectRef] = []

    init(_ ending: StoreEnding) {
        self.ending = ending
        snapshot = ending.handle.log.snapshot
    }

    /// Looks at all changed objects. Gives members of ordered relationships their positions, which may add objects to
    /// those that are updated.
    func collect() throws {
        try ending.changes.deleted.forEachUnretained { if $0.shape.hasLinks { try collectDeleted($0) } }
        try ending.changes.inserted.forEachUnretained {
            if $0.flags.contains(.dirtyToMany) { try collectChanged($0) }
        }
        try ending.changes.updated.forEachUnretained {
            if $0.flags.contains(.dirtyToMany) { try collectChanged($0) }
        }
    }

    private func collectDeleted(_ object: NSManagedObject) throws {
        // A link that somebody else adds at the same time would stay behind.
        conflictKeys.insert(ConflictKey(kind: ConflictKeyKind.linkEnd, object.ref.rawValue, isExclusive: true))
        for relationship in object.shape.relationships {
            guard case .link(let link, let side) = relationship.storage else { continue }
            for side in relationship.isSymmetric ? [0, 1] : [side] {
                let postings = ending.handle.map.linkPostings(link, side)
                var rows = RowReader(snapshot)
                for ref in try snapshot.referrers(postings: postings, to: object.ref) {
                    guard let row = try rows.row(ref) else { continue }
                    let ends = try ends(row)
                    try update(link, ends) { entry in
                        entry.stored = row
                        entry.isRemoved = true
                    }
                    let member = side == 0 ? ends.second : ends.first
                    if isLate(member, relationship, of: object) { lateMembers.append(object.ref) }
                }
            }
        }
    }

    /// Whether a delete rule that has a say about the members has not been applied to one of them.
    private func isLate(_ member: ObjectRef, _ relationship: RelationshipShape, of object: NSManagedObject) -> Bool {
        switch relationship.deleteRule {
        case .cascadeDeleteRule, .denyDeleteRule: break
        default: return false
        }
        guard let known = ending.context.registry.object(member, ending.storeIndex) else { return true }
        if known.isMarkedDeleted || known.flags.contains(.gone) { return false }
        return object.existingState(relationship)?.removed.contains(known) != true
    }

    private func collectChanged(_ object: NSManagedObject) throws {
        for (relationship, state) in zip(object.shape.relationships, object.toMany) {
            guard let state, state.isChanged else { continue }
            switch relationship.storage {
            case .slot: continue
            case .inverse: if relationship.isOrdered { order(state, relationship, of: object) }
            case .link(let link, let side): try collect(link, side, relationship, state, object)
            }
        }
    }

    private func collect(
        _ link: LinkShape, _ side: Int, _ relationship: RelationshipShape, _ state: ToManyState,
        _ owner: NSManagedObject
    ) throws {
        let ownerRef = owner.futureRef
        let reader = RelationshipReader(handle: ending.handle, snapshot: snapshot)
        let removed = state.removed.objects.map { $0.futureRef }
        let readsAll = try owner.storeIndex != 0 && self.readsAll(relationship, state, ownerRef, reader)
        if readsAll {
            let removed = Set(removed)
            for member in try reader.members(relationship, of: ownerRef, withLinks: true) {
                guard let row = member.link else { continue }
                try update(link, ends(row)) { entry in
                    entry.stored = row
                    if removed.contains(member.ref) { entry.isRemoved = true }
                }
            }
        } else if owner.storeIndex != 0 {
            for memberRef in removed {
                let pair = ends(ownerRef, memberRef, side, relationship)
                guard let row = try reader.link(link, pair.first, pair.second) else { continue }
                try update(link, pair) { entry in
                    entry.stored = row
                    entry.isRemoved = true
                }
            }
        }
        for member in state.added.objects where !member.isMarkedDeleted {
            let pair = ends(ownerRef, member.futureRef, side, relationship)
            var stored: Row?
            if owner.storeIndex != 0 { addKey(ofEnd: ownerRef) }
            if member.storeIndex != 0 { addKey(ofEnd: member.futureRef) }
            if owner.storeIndex != 0, member.storeIndex != 0 {
                addKey(of: link, pair)
                if !readsAll, links[link.index]?[pair] == nil {
                    stored = try reader.link(link, pair.first, pair.second)
                }
            }
            try update(link, pair) { entry in
                if let stored { entry.stored = stored }
                entry.isRemoved = false
                if entry.stored == nil { entry.isChanged = true }
            }
        }
        guard relationship.isOrdered else { return }
        let order = owner.toManyOrder(relationship)
        for (index, position) in OrderPositions.assign(order.map { state.positions[ObjectIdentifier($0)] }).enumerated()
        {
            let memberRef = order[index].futureRef
            state.positions[ObjectIdentifier(order[index])] = position
            let pair = ends(ownerRef, memberRef, side, relationship)
            // What others have removed since the order was read stays away.
            if links[link.index]?[pair] == nil { continue }
            try update(link, pair) { entry in
                if entry.positions[side] != position { entry.isChanged = true }
                entry.positions[side] = position
            }
        }
    }

    /// Whether all stored links of an owner are read, as an order needs them, or because that is less work than to look
    /// for those that change.
    private func readsAll(
        _ relationship: RelationshipShape, _ state: ToManyState, _ owner: ObjectRef, _ reader: RelationshipReader
    ) throws -> Bool {
        if relationship.isOrdered { return true }
        guard let count = try reader.count(relationship, of: owner) else { return true }
        return count <= 4 * (state.added.count + state.removed.count)
    }

    /// Others may add the same link at the same time.
    private func addKey(of link: LinkShape, _ ends: Ends) {
        conflictKeys.insert(
            ConflictKey(
                kind: ConflictKeyKind.link &+ UInt64(link.index) << 8, ends.first.rawValue, ends.second.rawValue,
                isExclusive: true))
    }

    /// Others may delete an object, with the links that they know of, while this save adds one.
    private func addKey(ofEnd end: ObjectRef) {
        conflictKeys.insert(ConflictKey(kind: ConflictKeyKind.linkEnd, end.rawValue, isExclusive: false))
    }

    /// The ends of a link that one of the objects knows as `side`.
    private func ends(
        _ owner: ObjectRef, _ member: ObjectRef, _ side: Int, _ relationship: RelationshipShape
    ) -> Ends {
        // Of a relationship that is its own inverse either end may have been seen first.
        if relationship.isSymmetric { return Ends(first: min(owner, member), second: max(owner, member)) }
        return side == 0 ? Ends(first: owner, second: member) : Ends(first: member, second: owner)
    }

    /// Numbers the members in the hidden slots of their rows.
    private func order(_ state: ToManyState, _ relationship: RelationshipShape, of owner: NSManagedObject) {
        guard let slot = relationship.positionSlot else { return }
        let order = owner.toManyOrder(relationship)
        for (index, position) in OrderPositions.assign(order.map { state.positions[ObjectIdentifier($0)] }).enumerated()
        {
            let member = order[index]
            if state.positions[ObjectIdentifier(member)] == position { continue }
            state.positions[ObjectIdentifier(member)] = position
            if member.isUnread { member.realize() }
            let overlay = member.ensuredOverlay
            (overlay.base + member.shape.slots[slot].offset).assumingMemoryBound(to: Int64.self).initialize(
                to: position)
            overlay.markChanged(slot, isNull: false)
            member.flags.insert(.dirtySlots)
            // A listed object may have nothing to be saved any more.
            if member.flags.isDisjoint(with: .pending) {
                ending.changes.updated.append(member)
                if !member.flags.contains(.listed) {
                    ending.context.pipeline.changed.append(member)
                    ending.context.pipeline.overrides.formUnion(member.overrides)
                }
                member.flags.insert([.updated, .listed])
            }
        }
    }

    private func ends(_ row: Row) throws -> Ends {
        Ends(first: try row.block.column(0).reference(row.index), second: try row.block.column(1).reference(row.index))
    }

    private func update(_ link: LinkShape, _ ends: Ends, _ body: (inout Link) -> Void) throws {
        shapes[link.index] = link
        var entry = links[link.index]?[ends] ?? Link()
        let wasStored = entry.stored != nil
        body(&entry)
        if !wasStored, let row = entry.stored {
            for side in 0...1 where entry.positions[side] == 0 {
                entry.positions[side] = try row.block.column(2 + side).int64(row.index)
            }
        }
        links[link.index, default: [:]][ends] = entry
    }

    func write(to transaction: WriteTransaction) throws {
        for key in conflictKeys { transaction.hold(key, asOf: snapshot.sequence) }
        for (index, entries) in links.sorted(by: { $0.key < $1.key }) {
            guard let shape = shapes[index] else { continue }
            let number = ending.handle.map.linkNumber(shape)
            let writer = transaction.writer(for: number)
            let ordered = entries.sorted { ($0.key.first, $0.key.second) < ($1.key.first, $1.key.second) }
            let created = ordered.count { $0.value.stored == nil && !$0.value.isRemoved }
            var key = created > 0 ? try ending.handle.allocateKeys(root: number, count: created) : 0
            for (ends, link) in ordered {
                if let row = link.stored {
                    if link.isRemoved {
                        try transaction.delete(row.ref, replacing: row.version)
                        continue
                    }
                    guard link.isChanged else { continue }
                    var slots = SlotSet()
                    slots.insert(2)
                    slots.insert(3)
                    try writer.beginUpdate(key: row.ref.key, replacing: row.version, changed: slots)
                } else {
                    if link.isRemoved { continue }
                    writer.beginInsert(key: key)
                    key += 1
                }
                writer.set(0, ends.first)
                writer.set(1, ends.second)
                writer.set(2, link.positions[0])
                writer.set(3, link.positions[1])
                writer.endRow()
            }
        }
    }
}
